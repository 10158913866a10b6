/** The queries that commission is judged by: the rules in force, exchange rates, and what an affiliate has sold so far. */
import { sql } from 'kysely'
import { storeOf } from '../../records/store.ts'
import type { Db } from '../../storage/database.ts'
import type { Order } from '../../storage/page.ts'
import { prepared } from '../../storage/prepared.ts'
import { exactSum, unitsOfSum } from '../../storage/sums.ts'
import type { Tier } from './conditions.ts'
import { type RuleRow, rule } from './rule.ts'

const queries = storeOf(rule)

const PRIORITIES = 1_000_000
const SERIES = 1_000_000_000

type Placed = Pick<RuleRow, 'affiliate_id' | 'group_id' | 'priority' | 'series'>

/** The order in which rules are tried: those of affiliates, of groups, of the programme; each by priority. */
const trialOrder: Order = {
  expression: sql`((CASE WHEN rules.affiliate_id IS NOT NULL THEN 0 WHEN rules.group_id IS NOT NULL THEN 1 ELSE 2 END
    * ${sql.lit(PRIORITIES)} + rules.priority) * ${sql.lit(SERIES)} + rules.series)`,
  kind: 'number',
  value: ({ affiliate_id, group_id, priority, series }: Placed) =>
    (placeOf({ affiliate_id, group_id }) * PRIORITIES + priority) * SERIES + series,
}

function placeOf({ affiliate_id, group_id }: Pick<Placed, 'affiliate_id' | 'group_id'>): number {
  if (affiliate_id !== null) return 0
  return group_id === null ? 2 : 1
}

export const rules = { ...queries, orders: { ...queries.orders, tried: trialOrder } }

export async function currentRules(db: Db): Promise<RuleRow[]> {
  return db.selectFrom('rules').selectAll().where('status', '=', 'current').execute()
}

/** The version of a series that is in force; undefined when it has ended. */
export async function currentOf(db: Db, series: number): Promise<RuleRow | undefined> {
  const query = db.selectFrom('rules').selectAll().where('series', '=', series)
  return query.where('status', '=', 'current').executeTakeFirst()
}

/** A period, from one moment up to another. */
interface Period {
  readonly count: number
  readonly volume: string
}

const sold = prepared(
  (db: Db, { affiliateId, first, last }: { affiliateId: number; first: number; last: number }) =>
    db
      .selectFrom('referrals')
      .select([
        expression => expression.fn.countAll<number>().as('count'),
        exactSum(sql.ref('order_total')).as('volume'),
      ])
      .where('affiliate_id', '=', affiliateId)
      .where('created_at', '>=', first)
      .where('created_at', '<=', last)
      .where('status', 'in', sql<'pending' | 'unpaid' | 'paid'>`('pending', 'unpaid', 'paid')`)
      .where('type', 'in', sql<'sale' | 'lead' | 'opt-in'>`('sale', 'lead', 'opt-in')`),
)

/** What an affiliate has sold up to a second, in the programme's minor unit: in its month, and ever. */
export async function salesOf(
  db: Db,
  affiliateId: number,
  monthBegins: number,
  last: number,
): Promise<Record<Tier, bigint>> {
  const [month] = await sold(db, { affiliateId, first: monthBegins, last })
  const [ever] = await sold(db, { affiliateId, first: 0, last })
  const of = ({ count, volume }: Period) => ({ count: BigInt(count), volume: unitsOfSum(volume) })
  const [inMonth, all] = [of(month!), of(ever!)]
  return {
    sales_in_month: inMonth.count,
    sales_ever: all.count,
    volume_in_month: inMonth.volume,
    volume_ever: all.volume,
  }
}
