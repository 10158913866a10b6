/** Queries for batches of conversions: customers they share with one another and with stored ones. */
import { type Selectable, sql } from 'kysely'
import type { Tx } from '../../storage/database.ts'
import type { Tables } from '../../storage/tables.ts'

type NamedCustomer = Selectable<Tables['customer_names']>

/** Customers known by one of these shop identifiers. */
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

/** Customers with one of these e-mail addresses or identifiers. */
export async function customersAmong(tx: Tx, emails: readonly string[], ids: readonly number[]) {
  const some = tx.selectFrom('customers').select(['id', 'email_key', 'affiliate_id'])
  const byEmail = some.where('email_key', 'in', emails).where('email_key', '<>', sql.lit<string>(''))
  return [
    ...(emails.length === 0 ? [] : await byEmail.execute()),
    ...(ids.length === 0 ? [] : await some.where('id', 'in', ids).execute()),
  ]
}
