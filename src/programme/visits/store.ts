/** The queries that only visits have: their search, the referral that one led to, and their sums. */
import { type OnConflictBuilder, type RawBuilder, sql } from 'kysely'
import { storeOf } from '../../records/store.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { dayIn } from '../../storage/days.ts'
import { lockOf, prepared } from '../../storage/prepared.ts'
import type { Tables } from '../../storage/tables.ts'
import type { VisitCounts, VisitDaysTable, VisitTotalsTable } from './table.ts'
import { visit } from './visit.ts'

export const visits = storeOf(visit)

const COUNTS = ['visits', 'unique_visits', 'converted'] as const

const countsAdded = (table: 'visit_days' | 'visit_totals'): Record<keyof VisitCounts, RawBuilder<number>> => {
  const sumOf = (count: keyof VisitCounts) =>
    sql<number>`${sql.ref(`${table}.${count}`)} + ${sql.ref(`excluded.${count}`)}`
  return { visits: sumOf('visits'), unique_visits: sumOf('unique_visits'), converted: sumOf('converted') }
}

const addingToDays = (conflict: OnConflictBuilder<Tables, 'visit_days'>) =>
  conflict.columns(['day', 'affiliate_id', 'campaign']).doUpdateSet(countsAdded('visit_days'))

const addingToTotals = (conflict: OnConflictBuilder<Tables, 'visit_totals'>) =>
  conflict.columns(['day', 'campaign', 'part']).doUpdateSet(countsAdded('visit_totals'))

/**
 * The part of the totals that a transaction adds to: one that no other has at the same moment, since it would wait for that
 * one, and two that add to some of the same rows in other orders for ever.
 * @param only the part where transactions do not run at the same moment
 */
const partIn = (only: number | undefined) =>
  only === undefined ? sql<number>`pg_backend_pid()` : sql<number>`${only}`
const onlyPart = (tx: Tx) => (lockOf(tx) === undefined ? undefined : 0)

interface Conversion {
  readonly visitId: number
  readonly affiliateId: number
  readonly referralId: number
  readonly time: number
}

const conversion = prepared((tx: Db, { visitId, affiliateId, referralId, time }: Conversion) =>
  tx
    .updateTable('visits')
    .set({ referral_id: referralId, updated_at: time })
    .where('id', '=', visitId)
    .where('affiliate_id', '=', affiliateId)
    .where('referral_id', '=', sql.lit(0)),
)

const releasing = prepared((tx: Db, { visitId, referralId, time }: Omit<Conversion, 'affiliateId'>) =>
  tx
    .updateTable('visits')
    .set({ referral_id: sql.lit(0), updated_at: time })
    .where('id', '=', visitId)
    .where('referral_id', '=', referralId),
)

/** Locks the visit, so that of two referrals that name it at the same moment one counts. */
const recounted = (tx: Db, { visitId, affiliateId, referralId, by }: Recount) =>
  tx
    .selectFrom('visits')
    .select([
      dayIn(sql.ref('created_at')).as('day'),
      'campaign',
      // In the order of the columns that they are inserted into.
      ...COUNTS.map(name =>
        (name === 'converted' ? sql<number>`cast(${by} as bigint)` : sql<number>`0`).as(name),
      ),
    ])
    .where('id', '=', visitId)
    .where('referral_id', '=', referralId)
    .$if(affiliateId !== undefined, query => query.where('affiliate_id', '=', affiliateId!))
    .forUpdate()

const recountingDays = prepared((tx: Db, recount: Recount) =>
  tx
    .insertInto('visit_days')
    .columns(['day', 'campaign', ...COUNTS, 'affiliate_id'])
    .expression(recounted(tx, recount).select('affiliate_id'))
    .onConflict(addingToDays),
)

const recountingTotals = prepared((tx: Db, { part, ...recount }: Recount & Part) =>
  tx
    .insertInto('visit_totals')
    .columns(['day', 'campaign', ...COUNTS, 'part'])
    .expression(recounted(tx, recount).select(sql<number>`cast(${partIn(part)} as bigint)`.as('part')))
    .onConflict(addingToTotals),
)

interface Part {
  /** See `partIn`. */
  readonly part?: number | undefined
}

/**
 * Counts a visit as one that its change makes it. The statements follow each other at once: another line of the same
 * transaction may name the visit, and find it as it is in between.
 */
async function recount(tx: Tx, of: Recount, changed: () => Promise<void>): Promise<void> {
  const part = onlyPart(tx)
  await Promise.all([recountingDays.later(tx, of), recountingTotals.later(tx, { ...of, part }), changed()])
}

interface Recount {
  readonly visitId: number
  readonly affiliateId?: number
  /** That the visit must have led to before. */
  readonly referralId: number
  readonly by: 1 | -1
}

/** Does nothing to a visit that led to another referral. */
export async function release(tx: Tx, of: Omit<Conversion, 'affiliateId'>): Promise<void> {
  const { visitId, referralId } = of
  await recount(tx, { visitId, referralId, by: -1 }, () => releasing.later(tx, of))
}

/** Does nothing to a visit of another affiliate, or one that led to a referral before. */
export async function convert(tx: Tx, of: Conversion): Promise<void> {
  const { visitId, affiliateId } = of
  await recount(tx, { visitId, affiliateId, referralId: 0, by: 1 }, () => conversion.later(tx, of))
}

const byNonce = prepared((db: Db, { nonce }: { nonce: string }) =>
  db
    .selectFrom('visits')
    .select('id')
    .where('nonce', '=', nonce)
    // The index has only these.
    .where('nonce', '<>', sql.lit('')),
)

/** The visit of a click token, once it is written. */
export async function idByNonce(db: Db, nonce: string): Promise<number | undefined> {
  return (await byNonce(db, { nonce }))[0]?.id
}

/** Those of the nonces that visits have. */
export async function writtenAmong(db: Db, nonces: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('visits')
    .select('nonce')
    .where('nonce', 'in', nonces)
    .where('nonce', '<>', sql.lit(''))
    .execute()
  return new Set(rows.map(({ nonce }) => nonce))
}

const before = prepared((tx: Db, { time, limit }: { time: number; limit: number }) =>
  tx
    .selectFrom('visits')
    .select('id')
    .where('created_at', '<', time)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .forUpdate(),
)

/** Removes the oldest that were before a time. @returns how many, at most `limit` */
export async function removeBefore(tx: Tx, time: number, limit: number): Promise<number> {
  const ids = (await before(tx, { time, limit })).map(({ id }) => id)
  if (ids.length > 0) await tx.deleteFrom('visits').where('id', 'in', ids).execute()
  return ids.length
}

const ROW = 1

/** Records that visits of the days before this one are removed. */
export async function markRemoved(tx: Tx, day: number): Promise<void> {
  await tx
    .insertInto('visit_removals')
    .values({ id: ROW, day })
    .onConflict(conflict => conflict.column('id').doUpdateSet({ day }).where('visit_removals.day', '<', day))
    .execute()
}

/** The first day whose visits were not removed; 0 where none were. */
export async function firstWholeDay(db: Db): Promise<number> {
  const row = await db.selectFrom('visit_removals').select('day').where('id', '=', ROW).executeTakeFirst()
  return row?.day ?? 0
}

const toDays = prepared((tx: Db, { rows }: { rows: readonly VisitDaysTable[] }) =>
  tx.insertInto('visit_days').values(rows).onConflict(addingToDays),
)

/** @param rows in order of their key, each once */
export async function addToDays(tx: Tx, rows: readonly VisitDaysTable[]): Promise<void> {
  await toDays.later(tx, { rows })
}

type Total = Omit<VisitTotalsTable, 'part'>

const toTotals = prepared((tx: Db, { rows, part }: { rows: readonly Total[] } & Part) =>
  tx
    .insertInto('visit_totals')
    .values(rows.map(row => ({ ...row, part: partIn(part) })))
    .onConflict(addingToTotals),
)

/** @param rows each once */
export async function addToTotals(tx: Tx, rows: readonly Total[]): Promise<void> {
  await toTotals.later(tx, { rows, part: onlyPart(tx) })
}

/** The first day of any sum from this one on; undefined when there is none. */
export async function dayFrom(db: Db, day: number): Promise<number | undefined> {
  const firstOf = (table: 'visit_days' | 'visit_totals') =>
    sql`SELECT min(day) AS day FROM ${sql.table(table)} WHERE day >= ${day}`
  const { rows } = await sql<{ day: number | null }>`
    SELECT min(day) AS day FROM (${firstOf('visit_days')} UNION ALL ${firstOf('visit_totals')}) AS days`.execute(
    db,
  )
  return rows[0]!.day ?? undefined
}

interface WrongTotal extends Pick<VisitTotalsTable, 'day' | 'campaign'> {
  /** Visits, first visits and converted visits, as text. */
  readonly stated: string
  readonly derived: string
}

/** Days and campaigns whose totals are not what the days of affiliates come to, by one statement, which sees one moment. */
export async function wrongTotals(db: Db, first: number, last: number): Promise<WrongTotal[]> {
  const of = (table: 'visit_days' | 'visit_totals', side: 0 | 1) => sql`
    SELECT day, campaign, ${sql.lit(side)} AS side, ${sql.join(COUNTS.map(name => sql`sum(${sql.ref(name)}) AS ${sql.ref(name)}`))}
    FROM ${sql.table(table)} WHERE day >= ${first} AND day <= ${last} GROUP BY day, campaign`
  const sumOf = (name: string, side: 0 | 1) =>
    sql`coalesce(sum(${sql.ref(name)}) filter (where side = ${sql.lit(side)}), 0)`
  const textOf = (side: 0 | 1) =>
    sql.join(
      COUNTS.map(name => sql`cast(${sumOf(name, side)} AS text)`),
      sql` || '/' || `,
    )
  const { rows } = await sql<WrongTotal>`
    SELECT day, campaign, ${textOf(1)} AS stated, ${textOf(0)} AS derived
    FROM (${of('visit_totals', 1)} UNION ALL ${of('visit_days', 0)}) AS sums
    GROUP BY day, campaign HAVING ${textOf(1)} <> ${textOf(0)} ORDER BY day, campaign`.execute(db)
  return rows
}
