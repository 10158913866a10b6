/** What is true of customers: no two have the same e-mail address. */
import { Failure } from '../../base/errors.ts'
import type { RequestContext } from '../../events/write.ts'
import { plainRules } from '../../records/rules.ts'
import { UniqueViolation } from '../../storage/database.ts'
import { customer } from './customer.ts'
import * as store from './store.ts'

const plain = plainRules(customer, store.customers)

export const rules = {
  ...plain,
  create: (context: RequestContext, args: object) => refuseTaken(() => plain.create(context, args)),
  edit: (context: RequestContext, args: object) => refuseTaken(() => plain.edit(context, args)),
}

/** @throws Failure customer_exists instead of the database's refusal */
async function refuseTaken<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change()
  } catch (cause) {
    if (cause instanceof UniqueViolation) throw new Failure('customer_exists')
    throw cause
  }
}
