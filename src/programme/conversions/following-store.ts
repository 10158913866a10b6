/** The queries on what a customer has bought before it was known whom they belong to. */
import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import type { Tables } from '../../storage/tables.ts'
import { kinds as earningKinds } from '../commission/sale.ts'
import type { Conversion } from './conversion.ts'

/** Purchases of a customer from a second on. */
export interface Following {
  readonly customer_id: number
  readonly occurred_at: number
  /** The last one of this second that is done; undefined at the beginning. */
  readonly conversion_id?: number | undefined
}

type Place = Selectable<Tables['following_sales']>

const uncredited = prepared(
  (db: Db, { customer_id, occurred_at, conversion_id = 0, limit }: Following & { limit: number }) =>
    db
      .selectFrom('conversions')
      .selectAll()
      .where('customer_id', '=', customer_id)
      .where('customer_id', '<>', sql.lit(0))
      .where(sql<boolean>`(occurred_at, id) > (${occurred_at}, ${conversion_id})`)
      .where('affiliate_id', '=', sql.lit(0))
      .where(
        'kind',
        'in',
        earningKinds.map(kind => sql.lit(kind)),
      )
      .orderBy('occurred_at')
      .orderBy('id')
      .limit(limit),
)

/** The next unattributed ones. */
export async function uncreditedOf(db: Db, following: Following, limit: number): Promise<Conversion[]> {
  return uncredited(db, { ...following, limit })
}

/** Records where to continue. */
export async function continueFrom(tx: Tx, following: Place): Promise<void> {
  const { customer_id: _, ...place } = following
  await tx
    .insertInto('following_sales')
    .values(following)
    .onConflict(conflict => conflict.column('customer_id').doUpdateSet(place))
    .execute()
}

/** Records that all of a customer's are done. */
export async function endFollowing(tx: Tx, customerId: number): Promise<void> {
  await tx.deleteFrom('following_sales').where('customer_id', '=', customerId).execute()
}

/** Any customer of whom there is more to do. */
export async function nextCustomer(db: Db): Promise<number | undefined> {
  const rows = db.selectFrom('following_sales').select('customer_id').orderBy('customer_id').limit(1)
  return (await rows.executeTakeFirst())?.customer_id
}

/** Where to continue, locked until the transaction ends. */
export async function lockPlace(tx: Tx, customerId: number): Promise<Place | undefined> {
  const place = tx.selectFrom('following_sales').selectAll().where('customer_id', '=', customerId)
  return place.forUpdate().executeTakeFirst()
}
