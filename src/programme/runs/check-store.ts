/** The queries of the checks of payout runs. */
import { sql } from 'kysely'
import type { Db } from '../../storage/database.ts'
import type { Run } from './run.ts'
import { openStatuses } from './words.ts'

const open = sql.join(openStatuses.map(status => sql.lit(status)))

/** Affiliates whose balance `reserved` is not what open items of runs have reserved. */
export async function wronglyReserved(
  db: Db,
): Promise<{ affiliate_id: number; stated: string; derived: string }[]> {
  const { rows } = await sql<{ affiliate_id: number; stated: string; derived: string }>`
    SELECT affiliate_id, cast(sum(stated) as text) AS stated, cast(sum(derived) as text) AS derived FROM (
      SELECT affiliate_id, amount AS stated, 0 AS derived FROM balances WHERE account = 'reserved' AND amount <> 0
      UNION ALL SELECT affiliate_id, 0, amount FROM run_items WHERE status IN (${open})
    ) AS parts GROUP BY affiliate_id HAVING sum(stated) <> sum(derived) ORDER BY affiliate_id LIMIT 1000`.execute(
    db,
  )
  return rows
}

/** Open items that are not the sum of the referrals that they have reserved, and referrals that no open item has. */
export async function wronglyHeld(db: Db): Promise<{ id: number; kind: 'item' | 'referral' }[]> {
  const { rows } = await sql<{ id: number; kind: 'item' | 'referral' }>`
    SELECT id, 'item' AS kind FROM run_items WHERE status IN (${open})
      AND amount <> (SELECT coalesce(sum(amount), 0) FROM referrals WHERE run_item_id = run_items.id AND run_item_id <> 0)
    UNION ALL SELECT id, 'referral' FROM referrals WHERE run_item_id <> 0 AND (status <> 'unpaid' OR NOT EXISTS (
      SELECT 1 FROM run_items WHERE run_items.id = referrals.run_item_id AND run_items.status IN (${open})))
    ORDER BY 2, 1 LIMIT 1000`.execute(db)
  return rows
}

/** Payments of unknown outcome in runs that are over: what they have reserved is forgotten unless somebody settles them. */
export async function leftUnknown(db: Db): Promise<{ id: number; status: string }[]> {
  const { rows } = await sql<{ id: number; status: string }>`
    SELECT run_items.id, payout_runs.status FROM run_items JOIN payout_runs ON payout_runs.id = run_items.run_id
    WHERE run_items.status = 'unknown' AND payout_runs.status IN ('cancelled', 'closed')
    ORDER BY run_items.id LIMIT 1000`.execute(db)
  return rows
}

/** Items whose paid payouts do not come to what the item was paid. */
export async function wronglyPaid(db: Db): Promise<{ id: number; stated: string; derived: string }[]> {
  const { rows } = await sql<{ id: number; stated: string; derived: string }>`
    SELECT id, cast(sum(stated) as text) AS stated, cast(sum(derived) as text) AS derived FROM (
      SELECT id, amount AS stated, 0 AS derived FROM run_items WHERE status = 'paid'
      UNION ALL SELECT run_item_id, 0, amount FROM payouts WHERE run_item_id <> 0 AND status = 'paid'
    ) AS parts GROUP BY id HAVING sum(stated) <> sum(derived) ORDER BY id LIMIT 1000`.execute(db)
  return rows
}

/** The next runs that have been prepared and are no draft any more, by identifier. */
export async function approvedAfter(
  db: Db,
  after: number,
  limit: number,
): Promise<Pick<Run, 'id' | 'hash' | 'payer' | 'execution_date'>[]> {
  return db
    .selectFrom('payout_runs')
    .select(['id', 'hash', 'payer', 'execution_date'])
    .where('status', '!=', 'draft')
    .where('hash', '!=', '')
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
}
