/**
 * Finds the customer of a conversion, by the shop's identifier first, then by e-mail address. A customer's affiliate
 * never changes.
 */
import type { Settings } from '../../base/settings.ts'
import { foldCase } from '../../base/text.ts'
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import { customer } from '../customers/customer.ts'
import * as store from './customers-store.ts'
import type { Fact } from './fact.ts'
import type { CreateArguments } from './schema.ts'

export type SentCustomer = NonNullable<CreateArguments['customer']>
/** An existing customer. */
export type KnownCustomer = store.CustomerRow & {
  /** Whether the shop's identifier is known. */
  readonly named: boolean
  /** Whether the address that was sent is of another customer. */
  readonly isElsewhere?: boolean
}

function namesOf(context: string, { id, email }: SentCustomer): store.CustomerNames | undefined {
  if (!id && !email) return undefined
  return { context, ...(id && { name: id }), ...(email && { email: foldCase(email) }) }
}

/**
 * Finds and locks the customer until the transaction ends: commission depends on the owner and on earlier orders. For
 * unknown customers, `saveCustomer` takes care of that.
 */
export async function findCustomer(
  tx: WriteTx,
  context: string,
  customer: SentCustomer,
): Promise<KnownCustomer | undefined> {
  const names = namesOf(context, customer)
  if (!names) return undefined
  const rows = await store.lockCustomersBy(tx, names)
  const first = rows[0]
  if (!first) return undefined
  const named = await store.customerNamed(tx, names)
  const row = rows.find(({ id }) => id === named) ?? first
  // A name may be of a customer who was deleted.
  const isNamed = names.name === undefined || row.id === named
  return { ...row, named: isNamed, isElsewhere: rows.length > 1 }
}

export interface Purchase {
  readonly sentCustomer: SentCustomer
  readonly knownCustomer: KnownCustomer | undefined
  readonly affiliateId: number
  readonly settings: Settings
}

/**
 * Stores the customer, and the affiliate they belong to from now on if there was none. Of two concurrent reports of one
 * new customer, the second waits on the name or address, then starts again and finds the first.
 * @returns 0 if the report names no customer
 */
export async function saveCustomer(
  tx: WriteTx,
  { context, occurredAt }: Fact,
  { sentCustomer, knownCustomer, affiliateId, settings }: Purchase,
): Promise<number> {
  const names = namesOf(context, sentCustomer)
  const name = names?.name
  if (knownCustomer) {
    if (name !== undefined && !knownCustomer.named) {
      await store.nameCustomer(tx, { context, name, customer_id: knownCustomer.id })
    }
    const addressed = await addAddress(tx, knownCustomer, sentCustomer, settings)
    await assignOwner(tx, addressed, affiliateId)
    return knownCustomer.id
  }
  if (!names) return 0
  const { email = '', first_name = '', last_name = '' } = sentCustomer
  const newRow = customer.newRow({ email, first_name, last_name, affiliate_id: affiliateId }, settings, {
    time: now(),
    actor: 0,
  })
  const row = await store.insertCustomer(tx, { ...newRow, created_at: occurredAt })
  if (name !== undefined) await store.nameCustomer(tx, { context, name, customer_id: row.id })
  tx.log('customer.create', row.id, { after: impersonal(row) })
  return row.id
}

/**
 * Keeps the address of a customer of whom the shop has sent only its identifier so far: by it they are found, also to be
 * erased, and distinguished from the affiliate.
 * @throws LostRace if another transaction has created a customer with the address meanwhile
 */
async function addAddress(
  tx: WriteTx,
  known: KnownCustomer,
  { email, first_name, last_name }: SentCustomer,
  settings: Settings,
): Promise<store.CustomerRow> {
  if (!email || known.email !== '' || known.isElsewhere) return known
  const { named: _named, isElsewhere: _isElsewhere, ...before } = known
  const sent = {
    email,
    ...(first_name && before.first_name === '' && { first_name }),
    ...(last_name && before.last_name === '' && { last_name }),
  }
  const after = await store.addressCustomer(tx, before, {
    ...customer.keep(sent, settings),
    updated_at: now(),
  })
  tx.log('customer.edit', before.id, {
    before: customer.logged(before, settings),
    after: customer.logged(after, settings),
  })
  return after
}

/** Nothing personal: a customer without an account could not be erased from the log. */
const impersonal = ({ affiliate_id }: store.CustomerRow) => ({ affiliate_id: affiliate_id ?? 0 })

/** Assigns a customer to the affiliate who brought them, unless they have one. */
export async function assignOwner(
  tx: WriteTx,
  before: store.CustomerRow,
  affiliateId: number,
): Promise<void> {
  if (affiliateId === 0 || before.affiliate_id !== null) return
  const after = await store.ownCustomer(tx, before.id, affiliateId, now())
  if (after) tx.log('customer.edit', before.id, { before: impersonal(before), after: impersonal(after) })
}
