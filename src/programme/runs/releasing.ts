import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import type { Reason } from '../ledger/because.ts'
import { postRun } from '../ledger/rules.ts'
import type { Item } from './item.ts'
import * as store from './store.ts'

/** Makes the referrals of items available again. */
export async function releaseItems(
  tx: WriteTx,
  items: readonly Item[],
  cause: { readonly reason: Reason; readonly eventId: number },
): Promise<void> {
  if (items.length === 0) return
  const ids = items.map(item => item.id)
  await store.lockReserved(tx, ids)
  await store.releaseReferrals(tx, ids, now())
  const moves = items.map(item => ({
    affiliateId: item.affiliate_id,
    from: 'reserved' as const,
    to: 'unpaid' as const,
    amount: BigInt(item.amount),
    runItemId: item.id,
  }))
  await postRun(tx, moves, cause)
}
