/** The queries that only visits have: their search, and the referral that one led to. */
import { sql } from 'kysely'
import { storeOf } from '../../records/store.ts'
import { containing } from '../../storage/containing.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import type { VisitDaysTable } from './table.ts'
import { visit } from './visit.ts'

export const visits = storeOf(visit, {
  search: search =>
    containing([sql.ref('visits.ip'), sql.ref('visits.url_key'), sql.ref('visits.referrer_key')], search),
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
    .where('referral_id', '=', sql.lit(0) as never),
)

const releasing = prepared((tx: Db, { visitId, referralId, time }: Omit<Conversion, 'affiliateId'>) =>
  tx
    .updateTable('visits')
    .set({ referral_id: sql.lit(0) as never, updated_at: time })
    .where('id', '=', visitId)
    .where('referral_id', '=', referralId),
)

/** Does nothing to a visit that led to another referral. */
export async function release(tx: Tx, of: Omit<Conversion, 'affiliateId'>): Promise<void> {
  await releasing.later(tx, of)
}

/** Does nothing to a visit of another affiliate, or one that led to a referral before. */
export async function convert(tx: Tx, of: Conversion): Promise<void> {
  await conversion.later(tx, of)
}

const byNonce = prepared((db: Db, { nonce }: { nonce: string }) =>
  db
    .selectFrom('visits')
    .select('id')
    .where('nonce', '=', nonce)
    // The index has only these.
    .where('nonce', '<>', sql.lit('') as never),
)

/** The visit of a click token, once it is written. */
export async function idByNonce(db: Db, nonce: string): Promise<number | undefined> {
  return (await byNonce(db, { nonce }))[0]?.id
}

const before = prepared((tx: Db, { time, limit }: { time: number; limit: number }) =>
  tx
    .selectFrom('visits')
    .select(['id', 'created_at', 'affiliate_id', 'campaign', 'referral_id', 'repeated'])
    .where('created_at', '<', time)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .forUpdate(),
)

export type PrunedVisit = Awaited<ReturnType<typeof holdBefore>>[number]

/** The oldest visits before a time, locked until the transaction ends. */
export async function holdBefore(tx: Tx, time: number, limit: number) {
  return before(tx, { time, limit })
}

/** @param rows in order of their key */
export async function addToDays(tx: Tx, rows: readonly VisitDaysTable[]): Promise<void> {
  await tx
    .insertInto('visit_days')
    .values(rows)
    .onConflict(conflict =>
      conflict.columns(['day', 'affiliate_id', 'campaign']).doUpdateSet({
        visits: sql<number>`visit_days.visits + excluded.visits`,
        unique_visits: sql<number>`visit_days.unique_visits + excluded.unique_visits`,
        converted: sql<number>`visit_days.converted + excluded.converted`,
      }),
    )
    .execute()
}

export async function removeVisits(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx.deleteFrom('visits').where('id', 'in', ids).execute()
}
