/** The queries of many conversions at once: what they share with one another, and with what is known. */
import { type Insertable, type Selectable, sql } from 'kysely'
import type { Tx } from '../../storage/database.ts'
import { insertMany } from '../../storage/insert-many.ts'
import type { Tables } from '../../storage/tables.ts'

/** A name that is to be kept, under a payment of its own unless it is known. */
type NewName = Insertable<Tables['payment_names']>

/**
 * Keeps names of many payments; nobody else reports anything of these until the transaction ends.
 * @param rows each name once
 * @returns the payments that they are names of
 */
export async function nameMany(tx: Tx, rows: readonly NewName[]): Promise<NewName[]> {
  const keyOf = ({ context, name }: NewName) => `${context}\n${name}`
  // In order, so that two who name the same wait for one another only once.
  const sorted = rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const ending =
    'ON CONFLICT (context, name) DO UPDATE SET name = excluded.name RETURNING context, name, payment_id'
  return insertMany<NewName>(tx, { table: 'payment_names', ending }, sorted)
}

type NamedCustomer = Selectable<Tables['customer_names']>

/** What shops call customers, of those that are known by one of these names. */
export async function customersNamed(tx: Tx, names: readonly Omit<NamedCustomer, 'customer_id'>[]) {
  if (names.length === 0) return []
  const byContext = [...Map.groupBy(names, ({ context }) => context)]
  return tx
    .selectFrom('customer_names')
    .selectAll()
    .where(({ or, and, eb }) =>
      or(
        byContext.map(([context, of]) =>
          and([
            eb('context', '=', context),
            eb(
              'name',
              'in',
              of.map(({ name }) => name),
            ),
          ]),
        ),
      ),
    )
    .execute()
}

/** Those who have one of these e-mail addresses or identifiers. */
export async function customersAmong(tx: Tx, emails: readonly string[], ids: readonly number[]) {
  const some = tx.selectFrom('customers').select(['id', 'email_key', 'affiliate_id'])
  const byEmail = some.where('email_key', 'in', emails).where('email_key', '<>', sql.lit('') as never)
  return [
    ...(emails.length === 0 ? [] : await byEmail.execute()),
    ...(ids.length === 0 ? [] : await some.where('id', 'in', ids).execute()),
  ]
}
