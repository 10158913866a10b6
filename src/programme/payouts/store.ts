/** The queries that only payouts have: their referrals, and sums. */
import { type AliasedRawBuilder, type Insertable, sql, type Updateable } from 'kysely'
import type { Criteria } from '../../records/kind.ts'
import { storeOf } from '../../records/store.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import { exactSum } from '../../storage/sums.ts'
import type { Tables } from '../../storage/tables.ts'
import { type Payout, payout } from './payout.ts'

const plain = storeOf(payout)

async function insert(tx: Tx, row: Insertable<Tables['payouts']>): Promise<Payout> {
  const made = await plain.insert(tx, row)
  await insertReferrals(tx, [made])
  return made
}

async function insertMany(tx: Tx, rows: readonly Insertable<Tables['payouts']>[]): Promise<void> {
  const ids = await plain.insertMany(tx, rows)
  await insertReferrals(
    tx,
    rows.map(({ referrals }, index) => ({ id: ids[index]!, referrals })),
  )
}

async function update(tx: Tx, id: number, change: Updateable<Tables['payouts']>): Promise<Payout> {
  const row = await plain.update(tx, id, change)
  if (change.referrals !== undefined) {
    await deleteReferrals(tx, id)
    await insertReferrals(tx, [row])
  }
  return row
}

async function remove(tx: Tx, id: number): Promise<void> {
  await deleteReferrals(tx, id)
  await plain.remove(tx, id)
}

/** Those of every kind of record, with the referrals kept in step. */
export const payouts = { ...plain, insert, insertMany, update, remove }

const amount = sql.ref('payouts.amount')

/** What totals and reports select of payouts, whatever they are grouped by. */
export const totalColumns = (['paid', 'failed'] as const).flatMap(status => {
  const those = sql`filter (where payouts.status = ${sql.lit(status)})`
  return [sql<number>`count(*) ${those}`.as(`${status}_count`), exactSum(amount, those).as(`${status}_sum`)]
}) as [
  AliasedRawBuilder<number, 'paid_count'>,
  AliasedRawBuilder<string, 'paid_sum'>,
  AliasedRawBuilder<number, 'failed_count'>,
  AliasedRawBuilder<string, 'failed_sum'>,
]

export interface TotalRow {
  paid_count: number
  paid_sum: string
  failed_count: number
  failed_sum: string
}

export async function sumPayouts(db: Db, criteria: Criteria): Promise<TotalRow> {
  return db
    .selectFrom('payouts')
    .select(totalColumns)
    .where(plain.matching(criteria))
    .executeTakeFirstOrThrow()
}

const referralsInsertion = prepared((tx: Db, rows: Insertable<Tables['payout_referrals']>[]) =>
  tx.insertInto('payout_referrals').values(rows),
)

/** Keeps the index from referral to payout in step with the text. Engines bound the parameters of a statement. */
async function insertReferrals(tx: Tx, payouts: { id: number; referrals: string }[]): Promise<void> {
  const rows = payouts.flatMap(({ id, referrals }) =>
    referrals === ''
      ? []
      : referrals.split(',').map(referral => ({ referral_id: Number(referral), payout_id: id })),
  )
  for (let start = 0; start < rows.length; start += 500) {
    await referralsInsertion(tx, rows.slice(start, start + 500))
  }
}

async function deleteReferrals(tx: Tx, payoutId: number): Promise<void> {
  await tx.deleteFrom('payout_referrals').where('payout_id', '=', payoutId).execute()
}

/** The next payouts by identifier. */
export async function firstAfter(
  db: Db,
  id: number,
  limit: number,
): Promise<Pick<Payout, 'id' | 'referrals'>[]> {
  return db
    .selectFrom('payouts')
    .select(['id', 'referrals'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** The referrals of the payouts from one identifier to another, in order. */
export async function referralsOf(
  db: Db,
  first: number,
  last: number,
): Promise<{ payout_id: number; referral_id: number }[]> {
  return db
    .selectFrom('payout_referrals')
    .selectAll()
    .where('payout_id', '>=', first)
    .where('payout_id', '<=', last)
    .orderBy('payout_id')
    .orderBy('referral_id')
    .execute()
}
