/** Rules for customers: e-mail addresses are unique. */
import { linkedAccountOf } from '../../accounts/users/extra.ts'
import { findUser } from '../../accounts/users/store.ts'
import { foldCase } from '../../base/text.ts'
import type { Context, RequestContext } from '../../events/write.ts'
import type { ReadRowOf } from '../../records/kind.ts'
import { existing, plainRules, refusingTwo } from '../../records/rules.ts'
import { customer } from './customer.ts'
import { customers, findByEmailKey, findNames } from './store.ts'

export const rules = refusingTwo(plainRules(customer, customers), 'customer_exists')

type CustomerColumns = ReadRowOf<typeof customer.fields>

/** @throws Failure no_customer */
export async function findByEmail({ database }: Context, email: string): Promise<CustomerColumns> {
  return existing(customer, await findByEmailKey(database.replica, foldCase(email)))
}

/** The names of customers, or else their addresses, by identifier; none for a caller who may not read them. */
export async function namesOf(
  { database, actor }: RequestContext,
  ids: ReadonlySet<number>,
): Promise<Map<number, string>> {
  if (!actor.permissions.has('customers.read')) return new Map()
  const rows = await findNames(
    database.replica,
    [...ids].filter(id => id !== 0),
  )
  return new Map(
    rows.map(({ id, first_name, last_name, email }) => [id, `${first_name} ${last_name}`.trim() || email]),
  )
}

/** Optional parts of a record. */
export interface Extras {
  readonly user?: boolean
  readonly meta?: boolean
}

export async function extrasOf(
  { database }: Context,
  { user_id, affiliate_id }: CustomerColumns,
  { user, meta }: Extras,
) {
  const account = user && user_id !== null ? await findUser(database.replica, user_id) : undefined
  return {
    ...(user && { user: account ? linkedAccountOf(account) : false }),
    ...(meta && { meta: { affiliate_id: affiliate_id === null ? [] : [affiliate_id] } }),
  }
}
