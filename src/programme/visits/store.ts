/** The queries that only visits have: their search, and the referral that one led to. */
import { sql } from 'kysely'
import { storeOf } from '../../records/store.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import { visit } from './visit.ts'

export const visits = storeOf(visit, {
  search: ({ pattern }) => sql<boolean>`(visits.ip LIKE ${pattern} ESCAPE '\\'
    OR visits.url_key LIKE ${pattern} ESCAPE '\\'
    OR visits.referrer_key LIKE ${pattern} ESCAPE '\\')`,
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

/** Nothing happens to a visit that led to another referral. */
export async function release(tx: Tx, of: Omit<Conversion, 'affiliateId'>): Promise<void> {
  await releasing(tx, of)
}

/** Nothing happens to a visit of another affiliate, or one that led to a referral before. */
export async function convert(tx: Tx, of: Conversion): Promise<void> {
  await conversion(tx, of)
}

const byNonce = prepared((db: Db, { nonce }: { nonce: string }) =>
  db
    .selectFrom('visits')
    .select('id')
    .where('nonce', '=', nonce)
    // The index has those alone.
    .where('nonce', '<>', sql.lit('') as never),
)

/** The visit that a click token stands for, once it is written. */
export async function idByNonce(db: Db, nonce: string): Promise<number | undefined> {
  return (await byNonce(db, { nonce }))[0]?.id
}
