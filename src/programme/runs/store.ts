/** The queries of payout runs: what is owed, the items of a run, and their outcomes. */
import { type Insertable, sql } from 'kysely'
import { storeOf } from '../../records/store.ts'
import { inParts } from '../../storage/chunks.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import type { Tables } from '../../storage/tables.ts'
import type { Referral } from '../referrals/referral.ts'
import { type Item, type ItemStatus, runItem } from './item.ts'
import { outcomes } from './outcome.ts'
import { payoutRun, type Run } from './run.ts'

export const runs = storeOf(payoutRun)
export const items = storeOf(runItem)

const wholeRun = prepared((db: Db, { id }: { id: number }) =>
  db.selectFrom('payout_runs').selectAll().where('id', '=', id),
)

/** With the columns that its record does not show. */
export async function findWhole(db: Db, id: number): Promise<Run | undefined> {
  return (await wholeRun(db, { id }))[0]
}

interface Candidates {
  readonly after: number
  readonly limit: number
  /** Only affiliates of this group. */
  readonly group?: number
}

const candidates = prepared((db: Db, { after, limit, group }: Candidates) =>
  db
    .selectFrom('balances')
    .select('affiliate_id')
    .distinct()
    .where('account', 'in', [sql.lit('unpaid' as const), sql.lit('pending' as const)])
    .where('amount', '!=', sql.lit(0))
    .where('affiliate_id', '>', after)
    .$if(group !== undefined, query =>
      query.where(
        sql<boolean>`affiliate_id IN (SELECT affiliates.id FROM affiliates WHERE affiliates.group_id = ${group})`,
      ),
    )
    .orderBy('affiliate_id')
    .limit(limit),
)

/** The next affiliates, by identifier, who are owed something or have something pending. */
export async function candidatesAfter(
  db: Db,
  { group_id }: Pick<Run, 'group_id'>,
  after: number,
  limit: number,
): Promise<number[]> {
  const args = { after, limit, ...(group_id !== 0 && { group: group_id }) }
  return (await candidates(db, args)).map(row => row.affiliate_id)
}

const others = prepared((db: Db, { ids }: { ids: readonly number[] }) =>
  db
    .selectFrom('balances')
    .select(['affiliate_id', 'account', 'amount'])
    .where('account', 'in', [sql.lit('pending' as const), sql.lit('external' as const)])
    .where('amount', '!=', sql.lit(0))
    .where('affiliate_id', 'in', ids),
)

/** The balances beside what is owed: what is pending, and what was earned or paid in another system. */
export async function otherBalancesOf(db: Db, ids: readonly number[]) {
  return others(db, { ids })
}

export interface OwedRow {
  readonly id: number
  readonly affiliate_id: number
  readonly amount: number
  readonly type: Referral['type']
  readonly created_at: number
}

interface OwedPage {
  readonly ids: readonly number[]
  readonly after: { readonly affiliateId: number; readonly id: number }
  readonly limit: number
}

const owedRows = (db: Db, { ids, after, limit }: OwedPage) =>
  db
    .selectFrom('referrals')
    .select(['id', 'affiliate_id', 'amount', 'type', 'created_at'])
    .where('affiliate_id', 'in', ids)
    // An expression keeps the index of statuses from being used: most unpaid referrals belong to others.
    .where(sql<boolean>`coalesce(status, '') = 'unpaid'`)
    .where('run_item_id', '=', sql.lit(0))
    .where(sql<boolean>`(affiliate_id, id) > (${after.affiliateId}, ${after.id})`)
    .orderBy('affiliate_id')
    .orderBy('id')
    .limit(limit)

const owedQuery = prepared(owedRows)
const lockedOwedQuery = prepared((tx: Db, page: OwedPage) => owedRows(tx, page).forUpdate())

const OWED_AT_ONCE = 5000

/**
 * The unpaid referrals of affiliates that are in no run, in order of affiliate and identifier.
 * @param isLocking locks them until the transaction ends
 */
export async function* eachOwed(
  db: Db,
  ids: readonly number[],
  isLocking: boolean,
): AsyncGenerator<OwedRow[]> {
  if (ids.length === 0) return
  for (let after = { affiliateId: 0, id: 0 }; ; ) {
    const rows = await (isLocking ? lockedOwedQuery : owedQuery)(db, { ids, after, limit: OWED_AT_ONCE })
    if (rows.length > 0) yield rows
    if (rows.length < OWED_AT_ONCE) return
    const last = rows.at(-1)!
    after = { affiliateId: last.affiliate_id, id: last.id }
  }
}

/** Inserts the items of a run that is being prepared. */
export async function insertItems(tx: Tx, rows: readonly Insertable<Tables['run_items']>[]): Promise<void> {
  if (rows.length > 0) await tx.insertInto('run_items').values(rows).execute()
}

const first = prepared(
  (db: Db, { runId, status, limit }: { runId: number; status: ItemStatus; limit: number }) =>
    db
      .selectFrom('run_items')
      .selectAll()
      .where('run_id', '=', runId)
      .where('status', '=', status)
      .orderBy('id')
      .limit(limit),
)

/** The first items of a run with a status, however many have another one. */
export async function firstItems(db: Db, runId: number, status: ItemStatus, limit: number): Promise<Item[]> {
  return first(db, { runId, status, limit })
}

/** Whether a payment of the run has an outcome. */
export async function hasOutcomes(db: Db, runId: number): Promise<boolean> {
  const items = db.selectFrom('run_items').select('id').where('run_id', '=', runId)
  return (await items.where('status', 'in', outcomes).limit(1).execute()).length > 0
}

const ofAffiliates = prepared(
  (tx: Db, { runId, affiliateIds }: { runId: number; affiliateIds: readonly number[] }) =>
    tx
      .selectFrom('run_items')
      .selectAll()
      .where('run_id', '=', runId)
      .where('affiliate_id', 'in', affiliateIds)
      .orderBy('id'),
)

/** The items of a run that are about these affiliates. */
export async function itemsOf(db: Db, runId: number, affiliateIds: readonly number[]): Promise<Item[]> {
  const rows: Item[] = []
  for (const batch of inParts(affiliateIds))
    rows.push(...(await ofAffiliates(db, { runId, affiliateIds: batch })))
  return rows
}

/** Removes the first items of a run. @returns whether there were any */
export async function removeItems(tx: Tx, runId: number, limit: number): Promise<boolean> {
  const first = tx.selectFrom('run_items').select('id').where('run_id', '=', runId).orderBy('id').limit(limit)
  const { numDeletedRows } = await tx
    .deleteFrom('run_items')
    .where('id', 'in', first)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

export type ItemChange = Partial<Pick<Item, 'status' | 'reason' | 'note' | 'payout_id' | 'settled_at'>> & {
  readonly updated_at: number
}

const change = prepared((tx: Db, { ids, change }: { ids: readonly number[]; change: ItemChange }) =>
  tx.updateTable('run_items').set(change).where('id', 'in', ids),
)

/** Changes all items with these identifiers in the same way. */
export async function changeItems(tx: Tx, ids: readonly number[], values: ItemChange): Promise<void> {
  for (const batch of inParts(ids)) await change(tx, { ids: batch, change: values })
}

interface Settled {
  readonly id: number
  readonly outcome: ItemStatus
  readonly note: string
}

const settlement = prepared((tx: Db, { items, time }: { items: readonly Settled[]; time: number }) => {
  const rows = items.map(
    ({ id, outcome, note }) => sql`(cast(${id} as bigint), cast(${outcome} as text), cast(${note} as text))`,
  )
  return tx
    .updateTable('run_items')
    .from(sql`(VALUES ${sql.join(rows)})`.as('settled'))
    .set({
      status: sql`settled.column2`,
      note: sql`settled.column3`,
      payout_id: sql<number>`(SELECT min(payouts.id) FROM payouts 
        WHERE payouts.run_item_id = run_items.id AND payouts.run_item_id <> 0)`,
      settled_at: time,
      updated_at: time,
    })
    .where('run_items.id', '=', sql.ref<number>('settled.column1'))
})

/** Records that the payouts of items are created. */
export async function settleItems(tx: Tx, items: readonly Settled[], time: number): Promise<void> {
  await settlement(tx, { items, time })
}

const reservation = prepared(
  (tx: Db, { runId, ids, time }: { runId: number; ids: readonly number[]; time: number }) =>
    tx
      .updateTable('referrals')
      .set({
        updated_at: time,
        run_item_id: sql<number>`(SELECT run_items.id FROM run_items
          WHERE run_items.run_id = ${runId} AND run_items.affiliate_id = referrals.affiliate_id)`,
      })
      .where('id', 'in', ids),
)

/** @param ids of locked referrals; each belongs to the item of its affiliate from now on */
export async function reserve(tx: Tx, runId: number, ids: readonly number[], time: number): Promise<void> {
  for (const batch of inParts(ids)) await reservation(tx, { runId, ids: batch, time })
}

const inItems = prepared((tx: Db, { ids }: { ids: readonly number[] }) =>
  tx
    .selectFrom('referrals')
    .select(['id', 'run_item_id', 'amount'])
    .where('run_item_id', 'in', ids)
    .where('run_item_id', '!=', sql.lit(0))
    .orderBy('id')
    .forUpdate(),
)

export interface Reserved {
  readonly id: number
  readonly run_item_id: number
  readonly amount: number
}

/** The referrals that items have reserved, locked until the transaction ends. */
export async function lockReserved(tx: Tx, itemIds: readonly number[]): Promise<Map<number, Reserved[]>> {
  const rows = await inItems(tx, { ids: itemIds })
  return Map.groupBy(rows, row => row.run_item_id)
}

const release = prepared((tx: Db, { ids, time }: { ids: readonly number[]; time: number }) =>
  tx
    .updateTable('referrals')
    .set({ run_item_id: sql.lit(0), updated_at: time })
    .where('run_item_id', 'in', ids)
    .where('run_item_id', '!=', sql.lit(0)),
)

/** Makes the referrals that items have reserved available to another run. */
export async function releaseReferrals(tx: Tx, itemIds: readonly number[], time: number): Promise<void> {
  for (const batch of inParts(itemIds)) await release(tx, { ids: batch, time })
}

const payment = prepared((tx: Db, { itemIds, time }: { itemIds: readonly number[]; time: number }) =>
  tx
    .updateTable('referrals')
    .set({
      status: sql.lit('paid'),
      // The newest payout: those before it have failed.
      payout_id: sql<number>`(SELECT max(payout_id) FROM payout_referrals WHERE referral_id = referrals.id)`,
      run_item_id: sql.lit(0),
      updated_at: time,
    })
    .where('run_item_id', 'in', itemIds)
    .where('run_item_id', '!=', sql.lit(0)),
)

/** Marks the referrals that items have reserved as paid by the newest payout that names them. */
export async function payReferrals(tx: Tx, itemIds: readonly number[], time: number): Promise<void> {
  if (itemIds.length > 0) await payment(tx, { itemIds, time })
}

const naming = prepared((tx: Db, { ids }: { ids: readonly number[] }) =>
  tx
    .insertInto('payout_referrals')
    .columns(['payout_id', 'referral_id', 'known'])
    .expression(
      tx
        .selectFrom('payouts')
        .innerJoin('referrals', 'referrals.run_item_id', 'payouts.run_item_id')
        .select(['payouts.id', 'referrals.id as referral_id', sql.lit(1).as('known')])
        .where('payouts.id', 'in', ids)
        .where('referrals.run_item_id', '!=', sql.lit(0)),
    ),
)

/** Links payouts to all referrals that their items have reserved. */
export async function nameReserved(tx: Tx, payoutIds: readonly number[]): Promise<void> {
  await naming(tx, { ids: payoutIds })
}

/** The payouts that an item was split into. */
export async function payoutsOf(db: Db, itemId: number): Promise<number[]> {
  const query = db.selectFrom('payouts').select('id').where('run_item_id', '=', itemId)
  const rows = await query.where('run_item_id', '!=', 0).orderBy('id').execute()
  return rows.map(row => row.id)
}

/** @returns the run of an item; 0 for none */
export async function runOf(db: Db, itemId: number): Promise<number> {
  return itemId === 0 ? 0 : ((await items.find(db, itemId))?.run_id ?? 0)
}

/** The runs of items, by item. */
export async function runsOf(db: Db, itemIds: readonly number[]): Promise<Map<number, number>> {
  const found = new Map<number, number>()
  for (const part of inParts(itemIds)) {
    const rows = await db.selectFrom('run_items').select(['id', 'run_id']).where('id', 'in', part).execute()
    for (const { id, run_id } of rows) found.set(id, run_id)
  }
  return found
}

/** Runs with an unfinished step: partly prepared, approved or cancelled. */
export async function unfinished(db: Db): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    SELECT id FROM payout_runs WHERE (status = 'draft' AND hash = '') OR status = 'approving'
      OR (status = 'cancelled' AND EXISTS (
        SELECT 1 FROM run_items WHERE run_id = payout_runs.id AND status IN ('reserved', 'included')))
    ORDER BY id`.execute(db)
  return rows.map(row => row.id)
}
