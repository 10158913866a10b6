/** Report queries on referrals, visits and the ledger, each answered from an index alone. */
import { type RawBuilder, sql } from 'kysely'
import { DAY_SECONDS } from '../../base/time.ts'
import { owedAccounts } from '../../programme/ledger/holdings.ts'
import { owing } from '../../programme/ledger/store.ts'
import { isEarned, isForSale } from '../../programme/referrals/types-store.ts'
import type { Db } from '../../storage/database.ts'
import { exactSum, unitsOfSum } from '../../storage/sums.ts'
import type { Period } from './periods.ts'
import type { Range } from './report.ts'
import { inOrder, timesOf, timesOfPayouts } from './store.ts'

const those = (condition: RawBuilder<unknown>) => sql`filter (where ${condition})`
const isIncome = sql`${isEarned} AND type <> 'write_off'`
/** The same condition as in an affiliate's `referrals` count. */
const isCounted = sql`${isEarned} AND ${isForSale}`
const amount = sql.ref('amount')

/** Times of the first and last referral or payout. */
export async function timesOfEarning(db: Db, affiliateId?: number) {
  const referrals = db
    .selectFrom('referrals')
    .$if(affiliateId !== undefined, query => query.where('affiliate_id', '=', affiliateId!))
  const first = await referrals.select(({ fn }) => fn.min('created_at').as('time')).executeTakeFirst()
  const last = await referrals.select(({ fn }) => fn.max('created_at').as('time')).executeTakeFirst()
  const earned = timesOf(first, last)
  const paid = await timesOfPayouts(db, affiliateId)
  if (!earned || !paid) return earned ?? paid
  return { first: Math.min(earned.first, paid.first), last: Math.max(earned.last, paid.last) }
}

/** Times of the first and last visit, as starts of their days. */
export async function timesOfVisits(db: Db, affiliateId?: number) {
  // Of the parts of a total, one may be below zero.
  const days = visitSums(db, affiliateId)
    .select('day as time')
    .groupBy('day')
    .having(({ fn }) => fn.sum('visits'), '>', 0)
    .limit(1)
  const first = await days.orderBy('day').executeTakeFirst()
  const last = await days.orderBy('day', 'desc').executeTakeFirst()
  const span = timesOf(first, last)
  return span && { first: span.first * DAY_SECONDS, last: span.last * DAY_SECONDS }
}

interface Earnings {
  readonly referrals: number
  /** Text of `exactSum`, like the others. */
  readonly earned: string
  readonly pending: string
  readonly refused: string
  readonly written_off: string
}

/** One row per period, in order: its referrals by their current status. */
export async function earningsByPeriod(db: Db, periods: readonly Period[], affiliateId?: number) {
  return inOrder<Earnings>(periods, async some => {
    const [one, ...others] = some.map(({ number, first, end }) =>
      db
        .selectFrom('referrals')
        .select(sql.lit(number).as('number'))
        .select([
          sql<number>`count(*) ${those(isCounted)}`.as('referrals'),
          exactSum(amount, those(isIncome)).as('earned'),
          exactSum(amount, those(sql`status = 'pending'`)).as('pending'),
          exactSum(amount, those(sql`status = 'rejected'`)).as('refused'),
          exactSum(amount, those(sql`${isEarned} AND type = 'write_off'`)).as('written_off'),
        ])
        .where('created_at', '>=', first)
        .where('created_at', '<', end)
        .$if(affiliateId !== undefined, query => query.where('affiliate_id', '=', affiliateId!)),
    )
    return one!.unionAll(others).execute()
  })
}

/** One row per period, in order: the change of the balance owed. */
export async function owedByPeriod(db: Db, periods: readonly Period[], affiliateId?: number) {
  return inOrder<{ owed: string }>(periods, async some => {
    const [one, ...others] = some.map(({ number, first, end }) =>
      db
        .selectFrom('ledger_transfers')
        .select([sql.lit(number).as('number'), exactSum(owing).as('owed')])
        .where('at', '>=', first)
        .where('at', '<', end)
        .$if(affiliateId !== undefined, query => query.where('affiliate_id', '=', affiliateId!)),
    )
    return one!.unionAll(others).execute()
  })
}

/** Balance owed to all affiliates, or to one. */
export async function owedNow(db: Db, affiliateId?: number): Promise<bigint> {
  const { owed } = await db
    .selectFrom('balances')
    .select(exactSum(amount).as('owed'))
    .where('account', 'in', owedAccounts)
    .$if(affiliateId !== undefined, query => query.where('affiliate_id', '=', affiliateId!))
    .executeTakeFirstOrThrow()
  return unitsOfSum(owed)
}

export interface Visits {
  readonly visits: number
  readonly converted: number
}

const dayCounts = [
  sql<number>`coalesce(sum(visits), 0)`.as('visits'),
  sql<number>`coalesce(sum(converted), 0)`.as('converted'),
] as const

const countsOf = ({ visits, converted }: Visits): Visits => ({
  visits: Number(visits),
  converted: Number(converted),
})

/** Of all affiliates there are sums of their own, so that the days of each need not be added up. */
const visitSums = (db: Db, affiliateId?: number) =>
  db.selectFrom(
    affiliateId === undefined
      ? db.selectFrom('visit_totals').select(['day', 'visits', 'converted']).as('sums')
      : db
          .selectFrom('visit_days')
          .select(['day', 'visits', 'converted'])
          .where('affiliate_id', '=', affiliateId)
          .as('sums'),
  )

/** One row per period, in order. */
export async function visitsByPeriod(db: Db, periods: readonly Period[], affiliateId?: number) {
  const rows = await inOrder<Visits>(periods, async some => {
    const [one, ...others] = some.map(({ number, first, end }) =>
      visitSums(db, affiliateId)
        .select(sql.lit(number).as('number'))
        .select(dayCounts)
        .where('day', '>=', first / DAY_SECONDS)
        .where('day', '<', end / DAY_SECONDS),
    )
    return one!.unionAll(others).execute()
  })
  return rows.map(countsOf)
}

/** Visits of some affiliates or campaigns. */
export async function visitsOf(
  db: Db,
  range: Range,
  column: 'affiliate_id' | 'campaign',
  keys: readonly (number | string)[],
): Promise<Map<number | string, Visits>> {
  if (keys.length === 0) return new Map()
  const key = sql<number | string>`${sql.ref(column)}`.as('key')
  const sums =
    column === 'campaign'
      ? db.selectFrom('visit_totals').select([key, 'day', 'visits', 'converted']).as('sums')
      : db.selectFrom('visit_days').select([key, 'day', 'visits', 'converted']).as('sums')
  const rows = await db
    .selectFrom(sums)
    .select(['key', ...dayCounts])
    .$if(range !== undefined, query =>
      query.where('day', '>=', range!.first / DAY_SECONDS).where('day', '<', range!.end / DAY_SECONDS),
    )
    .where('key', 'in', keys)
    .groupBy('key')
    .execute()
  return new Map(rows.map(({ key, ...counts }) => [key, countsOf(counts)]))
}

/** The affiliates with the highest earnings. The account is null for deleted affiliates. */
export async function bestAffiliates(db: Db, range: Range, limit: number) {
  const best = earners(db, range, 'affiliate_id', limit).as('best')
  return db
    .selectFrom(best)
    .leftJoin('affiliates', join => join.on('affiliates.id', '=', sql.ref<number>('best.key')))
    .leftJoin('users', 'users.id', 'affiliates.user_id')
    .select([
      sql<number>`best.key`.as('affiliate_id'),
      'best.referrals',
      'best.earned',
      'users.login',
      'users.display_name',
    ])
    .orderBy('best.units', 'desc')
    .orderBy('best.key')
    .execute()
}

/** The campaigns with the highest earnings. */
export async function bestCampaigns(db: Db, range: Range, limit: number) {
  const named = sql<boolean>`${grouping('campaign', range)} <> ''`
  const rows = await earners(db, range, 'campaign', limit).where(named).execute()
  return rows.map(({ key, referrals, earned }) => ({ campaign: String(key), referrals, earned }))
}

function earners(db: Db, range: Range, column: 'affiliate_id' | 'campaign', limit: number) {
  const key = grouping(column, range)
  return db
    .selectFrom('referrals')
    .select([
      key.as('key'),
      sql<number>`count(*) ${those(isCounted)}`.as('referrals'),
      exactSum(amount, those(isIncome)).as('earned'),
      // For ordering only; as an integer, the sum may exceed SQLite's range.
      sql<number>`sum(amount * 1.0) ${those(isIncome)}`.as('units'),
    ])
    .where(during(column, range))
    .groupBy(key)
    .having(sql<boolean>`count(*) ${those(isIncome)} > 0`)
    .orderBy('units', 'desc')
    .orderBy('key')
    .limit(limit)
}

/** All time by campaign is a range too, because only the index by time has the column. */
function during(column: 'affiliate_id' | 'campaign', range: Range) {
  if (range !== undefined) return sql<boolean>`created_at >= ${range.first} AND created_at < ${range.end}`
  return column === 'campaign'
    ? sql<boolean>`created_at > ${sql.lit(Number.MIN_SAFE_INTEGER)}`
    : sql<boolean>`1 = 1`
}

/**
 * As in the reports of payouts: makes SQLite read a range from the index by time, which it avoids for a bare column.
 */
function grouping(column: 'affiliate_id' | 'campaign', range: Range): RawBuilder<number | string> {
  const name = sql.ref(`referrals.${column}`)
  if (column === 'campaign') return sql`(${name} || '')`
  return range === undefined ? sql`${name}` : sql`(${name} + 0)`
}
