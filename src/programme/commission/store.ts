/** Queries on commission rules. */
import { sql } from 'kysely'
import { storeOf } from '../../records/store.ts'
import type { Db } from '../../storage/database.ts'
import type { Order } from '../../storage/page.ts'
import { type RuleRow, rule } from './rule.ts'

const queries = storeOf(rule)

const PRIORITIES = 1_000_000
const SERIES = 1_000_000_000

type Placed = Pick<RuleRow, 'affiliate_id' | 'group_id' | 'priority' | 'series'>

/** Trial order: rules of affiliates, of groups, of the programme; each by priority. */
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

/** The current version of every rule that has not ended. */
export async function currentRules(db: Db): Promise<RuleRow[]> {
  return db.selectFrom('rules').selectAll().where('status', '=', 'current').execute()
}

/** The current version of a series; undefined if it has ended. */
export async function currentOf(db: Db, series: number): Promise<RuleRow | undefined> {
  const query = db.selectFrom('rules').selectAll().where('series', '=', series)
  return query.where('status', '=', 'current').executeTakeFirst()
}

/** The version of a rule that another one has replaced. */
export async function versionBefore(
  db: Db,
  { series, version }: Pick<RuleRow, 'series' | 'version'>,
): Promise<RuleRow | undefined> {
  const query = db.selectFrom('rules').selectAll().where('series', '=', series)
  return query.where('version', '=', version - 1).executeTakeFirst()
}
