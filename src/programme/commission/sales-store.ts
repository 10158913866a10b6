/** Queries on affiliates' sales by month. */
import { sql } from 'kysely'
import { chunksOf } from '../../storage/chunks.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import { exactSumOfParts, partsIn, splitSum, unitsOfSum } from '../../storage/sums.ts'
import type { Referral } from '../referrals/referral.ts'
import { isCorrection, saleTypes } from '../referrals/types.ts'
import { isGone } from '../referrals/types-store.ts'
import { GONE } from './calculation.ts'
import type { SalesMonthsTable } from './sales-table.ts'

/** An affiliate's sales in a month. */
export interface SalesOfMonth {
  readonly affiliateId: number
  /** Its first second. */
  readonly month: number
  readonly sales: number
  readonly volume: bigint
}

const added = (name: 'sales' | 'volume_parts' | 'volume_rest') =>
  sql<number>`${sql.ref(`sales_months.${name}`)} + ${sql.ref(`excluded.${name}`)}`

const toMonths = prepared((tx: Db, { rows }: { rows: readonly SalesMonthsTable[] }) =>
  tx
    .insertInto('sales_months')
    .values(rows)
    .onConflict(conflict =>
      conflict.columns(['affiliate_id', 'month']).doUpdateSet({
        sales: added('sales'),
        volume_parts: added('volume_parts'),
        volume_rest: added('volume_rest'),
      }),
    ),
)

/** @param changes in order of affiliate and month, so that concurrent transactions do not deadlock */
export async function addToMonths(tx: Tx, changes: readonly SalesOfMonth[]): Promise<void> {
  const rows = changes.map(({ affiliateId, month, sales, volume }) => {
    const { parts, rest } = splitSum(volume)
    return { affiliate_id: affiliateId, month, sales, volume_parts: parts, volume_rest: rest }
  })
  for (const chunk of chunksOf(rows)) await toMonths.later(tx, { rows: chunk })
}

interface Until {
  readonly affiliateId: number
  /** First second of the month, and of the next. */
  readonly month: number
  readonly next: number
  /** The last second that counts. */
  readonly last: number
}

const taken = partsIn(sql`-order_total`)

const statuses = ['pending', 'unpaid', 'paid']
const literals = (values: readonly string[]) => sql.join(values.map(value => sql.lit(value)))
const isSale = sql`status IN (${literals(statuses)}) AND type IN (${literals(saleTypes)}) AND NOT ${isGone}`

/** Whether a referral counts as sold: one that was paid keeps its status when its sale is refunded whole. */
export const isSold = ({
  status,
  type,
  calculation,
}: Pick<Referral, 'status' | 'type' | 'calculation'>): boolean =>
  statuses.includes(status) && !isCorrection(type) && !calculation.includes(GONE)

/** Sums of the months, less sales after the last second of the last one, which are rare. */
const sold = prepared((db: Db, { affiliateId, month, next, last }: Until) => {
  const parts = sql`
    SELECT month, sales, volume_parts, volume_rest FROM sales_months
      WHERE affiliate_id = ${affiliateId} AND month <= ${month}
    UNION ALL SELECT cast(${month} AS bigint), -1, ${taken.parts}, ${taken.rest} FROM referrals
      WHERE affiliate_id = ${affiliateId} AND created_at > ${last} AND created_at < ${next} AND ${isSale}`
  const inMonth = sql`filter (where month = ${month})`
  const volume = { parts: sql.ref('volume_parts'), rest: sql.ref('volume_rest') }
  return db
    .selectFrom(sql`(${parts})`.as('parts'))
    .select([
      sql<string>`cast(coalesce(sum(sales) ${inMonth}, 0) as text)`.as('sales_in_month'),
      sql<string>`cast(coalesce(sum(sales), 0) as text)`.as('sales_ever'),
      exactSumOfParts(volume, inMonth).as('volume_in_month'),
      exactSumOfParts(volume).as('volume_ever'),
    ])
})

/** An affiliate's sales up to and including a second: how many, and what customers paid, in the programme's minor unit. */
export async function salesUntil(db: Db, until: Until) {
  const [row] = await sold(db, until)
  return {
    sales_in_month: BigInt(row!.sales_in_month),
    sales_ever: BigInt(row!.sales_ever),
    volume_in_month: unitsOfSum(row!.volume_in_month),
    volume_ever: unitsOfSum(row!.volume_ever),
  }
}
