import { sql } from 'kysely'
import { usersTable } from '../../accounts/users/table.ts'
import { storeOf } from '../../records/store.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import { beginsWithNone } from '../../storage/resealing.ts'
import { givenUp } from '../../storage/secret-keys.ts'
import { namesOneOf } from '../affiliates/store.ts'
import { type PaymentDetail, paymentDetail } from './details.ts'

/** By the affiliate. */
export const details = storeOf(paymentDetail, {
  search: search => namesOneOf(sql`payment_details.affiliate_id`, search),
  searched: usersTable,
})

const current = prepared(
  (db: Db, { ids, method }: { ids: readonly number[]; method: PaymentDetail['method'] }) =>
    db
      .selectFrom('payment_details')
      .selectAll()
      .where('affiliate_id', 'in', ids)
      .where('method', '=', method)
      .where('status', '=', 'current'),
)

/** The current details of affiliates for a method. */
export async function currentOf(
  db: Db,
  ids: readonly number[],
  method: PaymentDetail['method'],
): Promise<PaymentDetail[]> {
  return current(db, { ids, method })
}

const earlier = prepared((db: Db, { affiliateId }: { affiliateId: number }) =>
  db.selectFrom('payment_details').select('id').where('affiliate_id', '=', affiliateId).limit(1),
)

/** Whether an affiliate has or had details, for any method. */
export async function hadAny(db: Db, affiliateId: number): Promise<boolean> {
  return (await earlier(db, { affiliateId })).length > 0
}

const addressChange = prepared((tx: Db, row: { affiliate_id: number; changed_at: number }) =>
  tx
    .insertInto('payment_addresses')
    .values(row)
    .onConflict(conflict => conflict.column('affiliate_id').doUpdateSet({ changed_at: row.changed_at })),
)

/** Records that payments by address have a new destination. */
export async function markAddressChanged(tx: Tx, affiliateId: number, time: number): Promise<void> {
  await addressChange.later(tx, { affiliate_id: affiliateId, changed_at: time })
}

const addressChanges = prepared((db: Db, { ids }: { ids: readonly number[] }) =>
  db.selectFrom('payment_addresses').selectAll().where('affiliate_id', 'in', ids),
)

/** When the payment addresses of these affiliates last changed. */
export async function addressesChanged(db: Db, ids: readonly number[]): Promise<Map<number, number>> {
  const rows = await addressChanges(db, { ids })
  return new Map(rows.map(row => [row.affiliate_id, row.changed_at]))
}

const several = prepared((db: Db, { ids }: { ids: readonly number[] }) =>
  db.selectFrom('payment_details').select(['id', 'affiliate_id', 'method', 'sealed']).where('id', 'in', ids),
)

/** By identifier, including replaced ones. */
export async function sealedOf(
  db: Db,
  ids: readonly number[],
): Promise<Map<number, Pick<PaymentDetail, 'id' | 'affiliate_id' | 'method' | 'sealed'>>> {
  if (ids.length === 0) return new Map()
  return new Map((await several(db, { ids })).map(row => [row.id, row]))
}

/** SQL for whether a column names details that nobody can open any more, since their key is given up. */
export function isLost(column: string) {
  const names = givenUp()
  if (names.length === 0) return sql<boolean>`1 = 0`
  return sql<boolean>`${sql.ref(column)} IN (
    SELECT payment_details.id FROM payment_details WHERE NOT (${beginsWithNone('payment_details.sealed', names)}))`
}
