/** The queries that only payouts have: their referrals, and sums. */
import { type Insertable, sql } from 'kysely'
import type { Criteria } from '../../records/filters.ts'
import { storeOf } from '../../records/store.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { insertManyUnawaited } from '../../storage/insert-many.ts'
import { prepared } from '../../storage/prepared.ts'
import { exactSum } from '../../storage/sums.ts'
import type { Tables } from '../../storage/tables.ts'
import { type Payout, payout } from './payout.ts'

const plain = storeOf(payout)

/** Each identifier that a payout names, and whether it was a referral of this service when first named. */
export type Names = ReadonlyMap<number, boolean>

/** Inserts a payout and its identifiers: the index from referrals to payouts follows the text. */
async function insert(tx: Tx, row: Omit<Payout, 'id'>, names: Names): Promise<Payout> {
  const made = await plain.insert(tx, row)
  await insertNames(tx, [[made.id, names]])
  return made
}

/** @returns their identifiers, in the same order */
async function insertMany(
  tx: Tx,
  rows: readonly Insertable<Tables['payouts']>[],
  names: readonly Names[],
): Promise<number[]> {
  const ids = await plain.insertMany(tx, rows)
  await insertNames(
    tx,
    ids.map((id, place) => [id, names[place]!]),
  )
  return ids
}

/** The identifiers of a record, as those of another system. */
export function unknownNames({ referrals }: Pick<Payout, 'referrals'>): Names {
  return new Map(referrals === '' ? [] : referrals.split(',').map(number => [Number(number), false]))
}

/** Stores which referrals a payout names, in place of those that it named before. */
export async function replaceNames(tx: Tx, id: number, names: Names): Promise<void> {
  await deleteNames(tx, id)
  await insertNames(tx, [[id, names]])
}

async function remove(tx: Tx, id: number): Promise<void> {
  await deleteNames(tx, id)
  await plain.remove(tx, id)
}

/** The queries of every kind, extended by what payouts name. */
export const payouts = { ...plain, insert, insertMany, insertUnnamed: plain.insertMany, remove }

const names = prepared((db: Db, { id }: { id: number }) =>
  db.selectFrom('payout_referrals').select(['referral_id', 'known']).where('payout_id', '=', id),
)

/** The referrals that a payout names. */
export async function namesOf(db: Db, id: number): Promise<Names> {
  return new Map((await names(db, { id })).map(({ referral_id, known }) => [referral_id, known === 1]))
}

const paid = prepared((db: Db, { affiliateId }: { affiliateId: number }) =>
  db
    .selectFrom('payouts')
    .select('id')
    .where('affiliate_id', '=', affiliateId)
    .where('status', '=', 'paid')
    .limit(1),
)

/** Whether an affiliate was ever paid. */
export async function wasPaid(db: Db, affiliateId: number): Promise<boolean> {
  return (await paid(db, { affiliateId })).length > 0
}

const amount = sql.ref('payouts.amount')

/** The totals of payouts, for whatever grouping. */
export const totalColumns = [
  sql<number>`count(*) ${having('paid')}`.as('paid_count'),
  exactSum(amount, having('paid')).as('paid_sum'),
  sql<number>`count(*) ${having('failed')}`.as('failed_count'),
  exactSum(amount, having('failed')).as('failed_sum'),
] as const

function having(status: Payout['status']) {
  return sql`filter (where payouts.status = ${sql.lit(status)})`
}

export interface TotalRow {
  paid_count: number
  paid_sum: string
  failed_count: number
  failed_sum: string
}

/** The totals of the payouts that criteria match. */
export async function sumPayouts(db: Db, criteria: Criteria): Promise<TotalRow> {
  return db
    .selectFrom('payouts')
    .select(totalColumns)
    .where(plain.matching(criteria))
    .executeTakeFirstOrThrow()
}

const BULK_FROM = 20

const namesInsertion = prepared((tx: Db, rows: Insertable<Tables['payout_referrals']>[]) =>
  tx.insertInto('payout_referrals').values(rows),
)

async function insertNames(tx: Tx, payouts: readonly (readonly [id: number, names: Names])[]): Promise<void> {
  const rows = payouts.flatMap(([payout_id, names]) =>
    [...names].map(([referral_id, known]) => ({ referral_id, payout_id, known: known ? 1 : 0 }) as const),
  )
  if (rows.length === 0) return
  if (rows.length < BULK_FROM) await namesInsertion.later(tx, rows)
  else await insertManyUnawaited(tx, { table: 'payout_referrals' }, rows)
}

async function deleteNames(tx: Tx, payoutId: number): Promise<void> {
  await tx.deleteFrom('payout_referrals').where('payout_id', '=', payoutId).execute()
}

/** Columns that the record does not show. Payouts that do not exist are left out. */
export async function notesOf(
  db: Db,
  ids: readonly number[],
): Promise<Map<number, Pick<Payout, 'id' | 'reference' | 'note' | 'run_item_id'>>> {
  const rows = await db
    .selectFrom('payouts')
    .select(['id', 'reference', 'note', 'run_item_id'])
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map(row => [row.id, row]))
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
