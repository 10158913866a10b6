/**
 * Queries of the reports. Each is answered from an index alone: that takes about a tenth of a second for every million
 * payouts in the span.
 * See docs/decisions/reports-from-indexes.md.
 */
import { type RawBuilder, sql } from 'kysely'
import { type Affiliate, statuses } from '../../programme/affiliates/affiliate.ts'
import { type TotalRow, totalColumns } from '../../programme/payouts/store.ts'
import type { Db } from '../../storage/database.ts'
import type { Period } from './periods.ts'
import type { Range } from './report.ts'

/** SQLite allows 500 parts in one query. */
const PERIODS_PER_QUERY = 400

/** Times of the first and last payout: two queries, each a single index look-up. */
export async function timesOfPayouts(db: Db, affiliateId?: number) {
  const payouts = db
    .selectFrom('payouts')
    .$if(affiliateId !== undefined, query => query.where('affiliate_id', '=', affiliateId!))
  const first = await payouts.select(({ fn }) => fn.min('created_at').as('time')).executeTakeFirst()
  const last = await payouts.select(({ fn }) => fn.max('created_at').as('time')).executeTakeFirst()
  return timesOf(first, last)
}

/** Times of the first and last registration. */
export async function timesOfAffiliates(db: Db) {
  const affiliates = db.selectFrom('affiliates')
  const first = await affiliates.select(({ fn }) => fn.min('registered_at').as('time')).executeTakeFirst()
  const last = await affiliates.select(({ fn }) => fn.max('registered_at').as('time')).executeTakeFirst()
  return timesOf(first, last)
}

/** One row per period, in order. */
export async function payoutsByPeriod(db: Db, periods: readonly Period[], affiliateId?: number) {
  return inOrder<TotalRow>(periods, async batch => {
    const [one, ...others] = batch.map(({ number, first, end }) =>
      db
        .selectFrom('payouts')
        .select(sql.lit(number).as('number'))
        .select(totalColumns)
        .where('created_at', '>=', first)
        .where('created_at', '<', end)
        .$if(affiliateId !== undefined, query => query.where('affiliate_id', '=', affiliateId!)),
    )
    return one!.unionAll(others).execute()
  })
}

/** One row per period, in order: new affiliates, by their current status. */
export async function affiliatesByPeriod(db: Db, periods: readonly Period[]) {
  return inOrder<Record<Affiliate['status'], number>>(periods, async batch => {
    const [one, ...others] = batch.map(({ number, first, end }) =>
      db
        .selectFrom('affiliates')
        .select(sql.lit(number).as('number'))
        .select(
          statuses.map(status => sql<number>`count(*) filter (where status = ${sql.lit(status)})`.as(status)),
        )
        .where('registered_at', '>=', first)
        .where('registered_at', '<', end),
    )
    return one!.unionAll(others).execute()
  })
}

/** The affiliates with the highest payouts. The account is null for deleted affiliates. */
export async function topAffiliates(db: Db, range: Range, limit: number) {
  const most = within(db, range)
    .select(by('affiliate_id', range).as('affiliate_id'))
    .select(totalColumns)
    // For ordering only: the exact sum may exceed SQLite's integer range.
    .select(sql<never>`sum(payouts.amount * 1.0) filter (where payouts.status = 'paid')`.as('units'))
    .groupBy(by('affiliate_id', range))
    .having(sql<boolean>`count(*) filter (where payouts.status = 'paid') > 0`)
    .orderBy('units', 'desc')
    .orderBy('affiliate_id')
    .limit(limit)
    .as('most')
  return db
    .selectFrom(most)
    .leftJoin('affiliates', 'affiliates.id', 'most.affiliate_id')
    .leftJoin('users', 'users.id', 'affiliates.user_id')
    .select(['most.affiliate_id', 'most.paid_count', 'most.paid_sum', 'users.login', 'users.display_name'])
    .orderBy('most.units', 'desc')
    .orderBy('most.affiliate_id')
    .execute()
}

/** Counts and sums by payout method, in alphabetical order. */
export async function payoutsByMethod(db: Db, range: Range) {
  return within(db, range)
    .select(by('payout_method', range).as('payout_method'))
    .select(totalColumns)
    .groupBy(by('payout_method', range))
    .having(sql<boolean>`count(*) filter (where payouts.status = 'paid') > 0`)
    .orderBy('payout_method')
    .execute()
}

function within(db: Db, range: Range) {
  return db
    .selectFrom('payouts')
    .$if(range !== undefined, query =>
      query.where('created_at', '>=', range!.first).where('created_at', '<', range!.end),
    )
}

/**
 * Grouping expression. All time is read in the order of the column's own index. A range is read from the index by time,
 * which has the column too; SQLite would rather read everything in order, unless the column is part of an expression.
 */
function by(column: 'affiliate_id', range: Range): RawBuilder<number>
function by(column: 'payout_method', range: Range): RawBuilder<string>
function by(column: 'affiliate_id' | 'payout_method', range: Range): RawBuilder<unknown> {
  if (range === undefined) return sql`payouts.${sql.raw(column)}`
  return column === 'affiliate_id' ? sql`payouts.affiliate_id + 0` : sql`payouts.payout_method || ''`
}

/** One row per period, in order, in as few queries as possible. */
export async function inOrder<R>(
  periods: readonly Period[],
  ask: (batch: (Period & { number: number })[]) => Promise<(R & { number: number })[]>,
): Promise<R[]> {
  const numbered = periods.map((period, number) => ({ ...period, number }))
  const rows: (R & { number: number })[] = []
  for (let start = 0; start < numbered.length; start += PERIODS_PER_QUERY) {
    rows.push(...(await ask(numbered.slice(start, start + PERIODS_PER_QUERY))))
  }
  return rows.sort((a, b) => a.number - b.number)
}

/** Undefined if there is no data. */
export function timesOf(
  first: { time: number | null } | undefined,
  last: { time: number | null } | undefined,
) {
  return first?.time == null || last?.time == null ? undefined : { first: first.time, last: last.time }
}
