/** The queries that only referrals have. */
import { type Insertable, sql } from 'kysely'
import type { Criteria } from '../../records/filters.ts'
import { storeOf } from '../../records/store.ts'
import { inParts } from '../../storage/chunks.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { insertLater } from '../../storage/insert-many.ts'
import { prepared } from '../../storage/prepared.ts'
import { exactSum } from '../../storage/sums.ts'
import type { Tables } from '../../storage/tables.ts'
import { type Referral, referral } from './referral.ts'
import { earnedStatuses, saleTypes } from './types.ts'
import { isDuplicate } from './types-store.ts'

export const referrals = storeOf(referral)

type NewReferral = Insertable<Tables['referrals']>

const insertion = prepared((tx: Db, row: NewReferral) =>
  tx
    .insertInto('referrals')
    .values(row)
    .onConflict(conflict => conflict.doNothing())
    .returning('id'),
)

/**
 * Waits for any transaction that is inserting a referral with the same reference.
 * @returns undefined if there is one; a row whose insertion is put off (`insertLater`) fails the transaction instead
 */
export async function insertUnlessTaken(tx: Tx, row: Omit<Referral, 'id'>): Promise<Referral | undefined> {
  const waiting = insertLater(tx, 'referrals', row)
  if (waiting) return waiting
  const [inserted] = await insertion(tx, row)
  return inserted && { ...row, ...inserted }
}

type Unique = Pick<Referral, 'reference' | 'context' | 'affiliate_id' | 'type'>

const takenQuery = prepared((db: Db, { reference, context, affiliate_id, type }: Unique) =>
  db
    .selectFrom('referrals')
    .selectAll()
    .where('unique_reference', '=', sql.lit(1))
    .where('reference', '=', reference)
    .where('context', '=', context)
    .where('affiliate_id', '=', affiliate_id)
    .where('type', '=', type),
)

const calledSo = prepared((db: Db, { reference, context, affiliate_id, type }: Unique) =>
  db
    .selectFrom('referrals')
    .selectAll()
    .where('reference', '=', reference)
    .where('context', '=', context)
    .where('affiliate_id', '=', affiliate_id)
    .where('type', '=', type)
    .orderBy('id')
    .limit(1),
)

/** The referral that has the reference, if it must be unique. */
export async function findTaken(
  db: Db,
  { reference, context, affiliate_id, type }: Unique,
): Promise<Referral | undefined> {
  return (await takenQuery(db, { reference, context, affiliate_id, type }))[0]
}

/** The first referral with the reference, whether or not it must be unique. */
export async function findCalled(db: Db, identity: Unique): Promise<Referral | undefined> {
  return (await calledSo(db, identity))[0]
}

const ofVisit = prepared((tx: Db, { visitId, affiliateId, without }: OfVisit) =>
  tx
    .selectFrom('referrals')
    .select('id')
    .where('visit_id', '=', visitId)
    // Needed for the index, which has only such rows.
    .where('visit_id', '<>', sql.lit(0))
    .where('affiliate_id', '=', affiliateId)
    .where('status', 'in', earnedStatuses)
    .where('id', '<>', without)
    .orderBy('id')
    .limit(sql.lit(1)),
)

interface OfVisit {
  readonly visitId: number
  readonly affiliateId: number
  /** A referral to leave out. */
  readonly without: number
}

/** The first earned referral that names the visit. */
export async function firstOfVisit(tx: Tx, of: OfVisit): Promise<number | undefined> {
  return (await ofVisit(tx, of))[0]?.id
}

const several = prepared((tx: Db, { ids }: { ids: readonly number[] }) =>
  tx.selectFrom('referrals').selectAll().where('id', 'in', ids).orderBy('id').forUpdate(),
)

/** The referrals that exist, by identifier, locked until the transaction ends. */
export async function lockReferrals(tx: Tx, ids: readonly number[]): Promise<Map<number, Referral>> {
  const lockedRows = new Map<number, Referral>()
  // In order, so that two transactions that lock some of the same referrals never wait for each other in a circle.
  for (const batch of inParts([...ids].sort((a, b) => a - b))) {
    for (const row of await several(tx, { ids: batch })) lockedRows.set(row.id, row)
  }
  return lockedRows
}

const withSale = prepared((tx: Db, { id }: { id: number }) =>
  tx
    .selectFrom('referrals')
    .selectAll()
    .where(
      sql<boolean>`id IN (${id}, (SELECT own.parent_id FROM referrals AS own WHERE own.id = ${id} AND own.conversion_id <> 0))`,
    )
    .orderBy('id')
    .forUpdate(),
)

/**
 * The referral, locked until the transaction ends. Before a refund, the referral of its sale is locked: whatever changes both locks
 * them in this order, so that transactions do not wait for each other in a circle.
 */
export async function lockForChange(tx: Tx, id: number): Promise<Referral | undefined> {
  return (await withSale(tx, { id })).find(row => row.id === id)
}

const paying = prepared(
  (
    tx: Db,
    {
      ids,
      change,
    }: { ids: readonly number[]; change: Pick<Referral, 'status' | 'payout_id' | 'updated_at'> },
  ) => tx.updateTable('referrals').set(change).where('id', 'in', ids),
)

/** Makes referrals paid by a payout, or unpaid again. */
export async function setPaying(
  tx: Tx,
  ids: readonly number[],
  change: Pick<Referral, 'status' | 'payout_id' | 'updated_at'>,
): Promise<void> {
  for (const batch of inParts(ids)) await paying.later(tx, { ids: batch, change })
}

/** Count and sum of the referrals that meet the criteria, for each status that occurs. */
export async function sumByStatus(db: Db, criteria: Criteria) {
  return db
    .selectFrom('referrals')
    .select(['status', expression => expression.fn.countAll<number>().as('count')])
    .select(exactSum(sql.ref('referrals.amount')).as('sum'))
    .where(referrals.matching(criteria))
    .groupBy('status')
    .execute()
}

const orders = prepared((db: Db, { customerId, at }: { customerId: number; at: number }) =>
  db
    .selectFrom('referrals')
    .select([
      expression => expression.fn.countAll<number>().as('count'),
      expression => expression.fn.min<number | null>('created_at').as('first'),
    ])
    .where('customer_id', '=', customerId)
    .where(
      'type',
      'in',
      saleTypes.map(type => sql.lit(type)),
    )
    .where('created_at', '<=', at)
    .where(({ not }) => not(isDuplicate)),
)

/** The number of a customer's orders up to a time, and the time of the first. An order that was reported twice counts once. */
export async function ordersOf(
  db: Db,
  customerId: number,
  at: number,
): Promise<{ count: number; first: number | null }> {
  return (await orders(db, { customerId, at }))[0]!
}

const dueQuery = prepared((tx: Db, { now, limit }: { now: number; limit: number }) =>
  tx
    .selectFrom('referrals')
    .selectAll()
    .where('status', '=', sql.lit('pending'))
    .where('hold_until', '<=', now)
    .orderBy('hold_until')
    .orderBy('id')
    .limit(limit)
    .forUpdate(),
)

/** Pending referrals whose hold has ended, locked until the transaction ends. */
export async function lockDue(tx: Tx, now: number, limit: number): Promise<Referral[]> {
  return dueQuery(tx, { now, limit })
}

const anyDraftOf = prepared((db: Db, { affiliateId }: { affiliateId: number }) =>
  db
    .selectFrom('referrals')
    .select('id')
    .where('affiliate_id', '=', affiliateId)
    .where('status', '=', sql.lit('draft' as const))
    .limit(1),
)

/** Whether an affiliate has a draft. */
export async function hasDrafts(db: Db, affiliateId: number): Promise<boolean> {
  return (await anyDraftOf(db, { affiliateId })).length > 0
}

interface DraftPage {
  readonly after: number
  readonly limit: number
  readonly reasons?: readonly string[]
  readonly affiliateId?: number
}

/** Drafts, by identifier, locked until the transaction ends. */
export async function lockDrafts(
  tx: Tx,
  { after, limit, reasons, affiliateId }: DraftPage,
): Promise<Referral[]> {
  return tx
    .selectFrom('referrals')
    .selectAll()
    .where('status', '=', sql.lit('draft' as const))
    .where('id', '>', after)
    .$if(reasons !== undefined, query => query.where('reason', 'in', reasons!))
    .$if(affiliateId !== undefined, query => query.where('affiliate_id', '=', affiliateId!))
    .orderBy('id')
    .limit(limit)
    .forUpdate()
    .execute()
}

/** A referral with all columns, also those that are not part of the record. */
export async function findWhole(db: Db, id: number): Promise<Referral | undefined> {
  return db.selectFrom('referrals').selectAll().where('id', '=', id).executeTakeFirst()
}

const below = (db: Db, id: number, limit: number) =>
  db.selectFrom('referrals').selectAll().where('parent_id', '=', id).orderBy('id').limit(limit)

/** The first children of a referral, which take back part of it or add to it. */
export async function childrenOf(db: Db, id: number, limit: number): Promise<Referral[]> {
  return below(db, id, limit).execute()
}

/**
 * The same, locked until the transaction ends. Call it before anything is posted: a transaction that has locked one of them may be
 * waiting for the balance.
 */
export async function lockChildren(tx: Tx, id: number, limit: number): Promise<Referral[]> {
  return below(tx, id, limit).forUpdate().execute()
}

const keeping = prepared((tx: Db, { id, calculation }: { id: number; calculation: string }) =>
  tx.updateTable('referrals').set({ calculation }).where('id', '=', id),
)

/** Changes the calculation alone, from which later refunds of the sale are computed. */
export async function keepCalculation(tx: Tx, id: number, calculation: string): Promise<void> {
  await keeping(tx, { id, calculation })
}
