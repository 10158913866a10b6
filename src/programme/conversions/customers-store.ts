/** Queries on the customers of conversions: by the shop's identifier, by their address, and whose they are. */
import { type Insertable, type Selectable, sql } from 'kysely'
import { type Db, LostRace, type Tx, throwLostRace } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import type { Tables } from '../../storage/tables.ts'
import { customers as records } from '../customers/store.ts'

export type CustomerRow = Selectable<Tables['customers']>

/** Two look-ups of identifiers: with a disjunction, engines would read all customers. */
const customers = prepared((tx: Db, { context, name, email }: CustomerNames) =>
  tx
    .selectFrom('customers')
    .selectAll()
    .where('id', 'in', ({ selectFrom }) => {
      const named = selectFrom('customer_names')
        .select('customer_id as id')
        .where('context', '=', context)
        .where('name', '=', name ?? '')
      const addressed = selectFrom('customers as same')
        .select('same.id')
        .where('same.email_key', '=', email ?? '')
        // Matches the partial index.
        .where('same.email_key', '<>', sql.lit<string>(''))
      if (email === undefined) return named
      return name === undefined ? addressed : named.unionAll(addressed)
    })
    .orderBy('id')
    .forUpdate(),
)

export interface CustomerNames {
  readonly context: string
  /** The shop's identifier. */
  readonly name?: string
  /** Folded. */
  readonly email?: string
}

/** The customers with these names, locked against other reports until the transaction ends. */
export async function lockCustomersBy(tx: Tx, names: CustomerNames): Promise<CustomerRow[]> {
  return customers(tx, names)
}

const nameOfCustomer = prepared((db: Db, { context, name }: { context: string; name: string }) =>
  db
    .selectFrom('customer_names')
    .select('customer_id')
    .where('context', '=', context)
    .where('name', '=', name),
)

/** The identifier of the customer whom a shop calls by this name; undefined if there is none. */
export async function customerNamed(db: Db, { context, name }: CustomerNames): Promise<number | undefined> {
  if (name === undefined) return undefined
  return (await nameOfCustomer(db, { context, name }))[0]?.customer_id
}

const customerInsertion = prepared((tx: Db, row: Insertable<Tables['customers']>) =>
  tx
    .insertInto('customers')
    .values(row)
    .onConflict(conflict => conflict.doNothing())
    .returningAll(),
)

/** @throws LostRace if another transaction has created a customer with the e-mail address meanwhile */
export async function insertCustomer(tx: Tx, row: Insertable<Tables['customers']>): Promise<CustomerRow> {
  const [inserted] = await customerInsertion(tx, row)
  if (!inserted) throw new LostRace()
  return inserted
}

/** @throws LostRace if another transaction has created a customer with the e-mail address meanwhile */
export async function addressCustomer(tx: Tx, before: CustomerRow, change: object): Promise<CustomerRow> {
  return records.update(tx, before, change, throwLostRace)
}

const nameInsertion = prepared((tx: Db, row: Insertable<Tables['customer_names']>) =>
  tx
    .insertInto('customer_names')
    .values(row)
    .onConflict(conflict => conflict.doNothing())
    .returning('customer_id'),
)

/** @throws LostRace if another transaction has given the name to a customer meanwhile */
export async function nameCustomer(tx: Tx, row: Insertable<Tables['customer_names']>): Promise<void> {
  if ((await nameInsertion(tx, row)).length === 0 && !(await renamed(tx, row))) throw new LostRace()
}

/** Gives a name to another customer where the one that had it was deleted. */
async function renamed(
  tx: Tx,
  { context, name, customer_id }: Insertable<Tables['customer_names']>,
): Promise<boolean> {
  const before = await customerNamed(tx, { context, name })
  if (before === undefined || (await records.exists(tx, before))) return false
  // Another transaction may be about to do the same: the engine compares what it has left.
  const rows = await tx
    .updateTable('customer_names')
    .set({ customer_id })
    .where('context', '=', context)
    .where('name', '=', name)
    .where('customer_id', '=', before)
    .returning('name')
    .execute()
  return rows.length > 0
}

const ownership = prepared(
  (tx: Db, { id, affiliateId, time }: Record<'id' | 'affiliateId' | 'time', number>) =>
    tx
      .updateTable('customers')
      .set({ affiliate_id: affiliateId, updated_at: time })
      .where('id', '=', id)
      .where('affiliate_id', 'is', null)
      .returningAll(),
)

/** @returns undefined if the customer already has an owner, who stays */
export async function ownCustomer(
  tx: Tx,
  id: number,
  affiliateId: number,
  time: number,
): Promise<CustomerRow | undefined> {
  return (await ownership(tx, { id, affiliateId, time }))[0]
}

/** With its folded address, which is no part of the record. */
export async function customerById(db: Db, id: number): Promise<CustomerRow | undefined> {
  return db.selectFrom('customers').selectAll().where('id', '=', id).executeTakeFirst()
}
