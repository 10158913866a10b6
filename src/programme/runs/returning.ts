/** Keeps the item of a run in step with its payouts, where somebody changes or deletes one of them. */
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import type { Payout } from '../payouts/payout.ts'
import { runItem } from './item.ts'
import { logReturn } from './results-log.ts'
import * as store from './store.ts'

/**
 * A payment whose payout has failed after all, or was deleted, has come back: the item says why, and the run as of any
 * outcome.
 * @param payout before that
 * @returns the other payouts that the payment was split into, where it has come back by this
 */
export async function followPayout(
  tx: WriteTx,
  payout: Pick<Payout, 'id' | 'status' | 'run_item_id'>,
  what: 'set to failed' | 'deleted',
  settings: Settings,
): Promise<readonly number[]> {
  const item = await store.items.lock(tx, payout.run_item_id)
  if (!item) return []
  const payouts = await store.payoutsOf(tx, item.id)
  const kept = { payout_id: payouts[0] ?? 0, updated_at: now() }
  if (payout.status !== 'paid' || item.status !== 'paid') {
    if (item.payout_id !== kept.payout_id) await store.changeItems(tx, [item.id], kept)
    return []
  }
  const why = `payout ${payout.id} was ${what}`
  const change = { ...kept, status: 'returned', note: `Its ${why}.`, settled_at: now() } as const
  await store.changeItems(tx, [item.id], change)
  tx.log('run_item.edit', item.id, {
    before: runItem.logged(item, settings),
    after: runItem.logged({ ...item, ...change }, settings),
  })
  await logReturn(tx, item, why)
  return payouts
}
