/** The queries that only visits have: their search, and the referral that one led to. */
import { type OnConflictBuilder, sql } from 'kysely'
import { storeOf } from '../../records/store.ts'
import { containing } from '../../storage/containing.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { dayIn } from '../../storage/days.ts'
import { prepared } from '../../storage/prepared.ts'
import type { Tables } from '../../storage/tables.ts'
import type { VisitDaysTable } from './table.ts'
import { visit } from './visit.ts'

export const visits = storeOf(visit, {
  search: search =>
    containing(
      [sql.ref('visits.ip'), sql.ref('visits.url_key'), sql.ref('visits.referrer_key')],
      search,
      sql.ref('visits.id'),
    ),
})

const DAY_COLUMNS = ['day', 'affiliate_id', 'campaign', 'visits', 'unique_visits', 'converted'] as const

const adding = (conflict: OnConflictBuilder<Tables, 'visit_days'>) =>
  conflict.columns(['day', 'affiliate_id', 'campaign']).doUpdateSet({
    visits: sql<number>`visit_days.visits + excluded.visits`,
    unique_visits: sql<number>`visit_days.unique_visits + excluded.unique_visits`,
    converted: sql<number>`visit_days.converted + excluded.converted`,
  })

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

/** Holds the visit, so that of two referrals that name it at the same moment one counts. */
const recounting = prepared((tx: Db, { visitId, affiliateId, referralId, by }: Recount) =>
  tx
    .insertInto('visit_days')
    .columns(DAY_COLUMNS)
    .expression(
      tx
        .selectFrom('visits')
        .select([
          dayIn(sql.ref('created_at')).as('day'),
          'affiliate_id',
          'campaign',
          sql<number>`0`.as('visits'),
          sql<number>`0`.as('unique_visits'),
          sql<number>`cast(${by} as bigint)`.as('converted'),
        ])
        .where('id', '=', visitId)
        .where('referral_id', '=', referralId)
        .$if(affiliateId !== undefined, query => query.where('affiliate_id', '=', affiliateId!))
        .forUpdate(),
    )
    .onConflict(adding),
)

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
  await recounting.later(tx, { visitId, referralId, by: -1 })
  await releasing.later(tx, of)
}

/** Does nothing to a visit of another affiliate, or one that led to a referral before. */
export async function convert(tx: Tx, of: Conversion): Promise<void> {
  const { visitId, affiliateId } = of
  await recounting.later(tx, { visitId, affiliateId, referralId: 0, by: 1 })
  await conversion.later(tx, of)
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

const toDays = prepared((tx: Db, { rows }: { rows: readonly VisitDaysTable[] }) =>
  tx.insertInto('visit_days').values(rows).onConflict(adding),
)

/** @param rows in order of their key, each once */
export async function addToDays(tx: Tx, rows: readonly VisitDaysTable[]): Promise<void> {
  await toDays.later(tx, { rows })
}
