/** The customer of a conversion: found by what the shop calls them before their e-mail address; who has brought them stays. */
import type { Settings } from '../../base/settings.ts'
import { foldCase } from '../../base/text.ts'
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import { customer } from '../customers/customer.ts'
import type { Fact } from './fact.ts'
import type { CreateArguments } from './schema.ts'
import * as store from './store.ts'

export type Sent = NonNullable<CreateArguments['customer']>
/** A customer whom the service knows, and whether it knows what the shop calls them. */
export type Known = store.CustomerRow & { readonly named: boolean }

function namesOf(context: string, { id, email }: Sent): store.CustomerNames | undefined {
  if (!id && !email) return undefined
  return { context, ...(id && { name: id }), ...(email && { email: foldCase(email) }) }
}

export async function findCustomer(tx: WriteTx, context: string, sent: Sent): Promise<Known | undefined> {
  const names = namesOf(context, sent)
  if (!names) return undefined
  const rows = await store.customersBy(tx, names)
  const first = rows[0]
  if (!first) return undefined
  const named = await store.customerNamed(tx, names)
  const row = rows.find(({ id }) => id === named) ?? first
  return { ...row, named: named !== undefined || names.name === undefined }
}

interface Bought {
  readonly sent: Sent
  readonly known: Known | undefined
  readonly affiliateId: number
  readonly settings: Settings
}

/**
 * Keeps who bought, and whom they belong to from now on if it is nobody yet.
 * @returns 0 when it is not said who it was
 */
export async function saveCustomer(
  tx: WriteTx,
  { context, occurredAt }: Fact,
  { sent, known, affiliateId, settings }: Bought,
): Promise<number> {
  const names = namesOf(context, sent)
  if (!names) return 0
  const { name } = names
  if (known) {
    if (name !== undefined && !known.named) {
      await store.nameCustomer(tx, { context, name, customer_id: known.id })
    }
    await own(tx, known, affiliateId)
    return known.id
  }
  const { email = '', first_name = '', last_name = '' } = sent
  const fresh = customer.fresh({ email, first_name, last_name, affiliate_id: affiliateId }, settings, {
    time: now(),
    actor: 0,
  })
  const row = await store.insertCustomer(tx, { ...fresh, created_at: occurredAt })
  // Somebody else has made the same one meanwhile.
  const id = row?.id ?? (await store.customersBy(tx, names))[0]!.id
  if (name !== undefined) await store.nameCustomer(tx, { context, name, customer_id: id })
  if (row) tx.log('customer.create', id, { after: impersonal(row) })
  return id
}

/** Nothing personal: who has no account here could not have it erased from the log. */
const impersonal = ({ affiliate_id }: store.CustomerRow) => ({ affiliate_id: affiliate_id ?? 0 })

/** Makes somebody the affiliate who has brought a customer, unless there is one. */
export async function own(tx: WriteTx, before: store.CustomerRow, affiliateId: number): Promise<void> {
  if (affiliateId === 0 || before.affiliate_id !== null) return
  const after = await store.ownCustomer(tx, before.id, affiliateId, now())
  if (after) tx.log('customer.edit', before.id, { before: impersonal(before), after: impersonal(after) })
}
