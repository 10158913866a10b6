/** Keeps the item of a run in step with its payouts, where somebody changes or deletes one of them. */
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import type { Payout } from '../payouts/payout.ts'
import { changeItem } from './changing.ts'
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
  const payout_id = payouts[0] ?? 0
  if (payout.status !== 'paid' || item.status !== 'paid') {
    if (item.payout_id !== payout_id) await store.changeItems(tx, [item.id], { payout_id, updated_at: now() })
    return []
  }
  const why = `payout ${payout.id} was ${what}`
  const change = { payout_id, status: 'returned', note: `Its ${why}.`, settled_at: now() } as const
  await changeItem(tx, item, change, settings)
  await logReturn(tx, item, why)
  return payouts
}
