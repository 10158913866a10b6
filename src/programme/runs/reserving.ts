/** Reserves the earnings of items, or makes them available again, and posts what that moves. */
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import type { Reason } from '../ledger/because.ts'
import { postRun } from '../ledger/rules.ts'
import type { Item } from './item.ts'
import type { Run } from './run.ts'
import * as store from './store.ts'

interface Cause {
  readonly reason: Reason
  readonly eventId: number
}

/** @param referrals of each affiliate */
export async function reserveItems(
  tx: WriteTx,
  run: Run,
  items: readonly Item[],
  referrals: ReadonlyMap<number, readonly number[]>,
  eventId: number,
): Promise<void> {
  if (items.length === 0) return
  const ids = items.flatMap(item => referrals.get(item.affiliate_id) ?? [])
  await store.reserve(tx, run.id, ids, now())
  await store.changeItems(tx, idsOf(items), { status: 'reserved', updated_at: now() })
  await post(tx, items, ['unpaid', 'reserved'], { reason: 'payout_run.approve', eventId })
}

export async function releaseItems(tx: WriteTx, items: readonly Item[], cause: Cause): Promise<void> {
  if (items.length === 0) return
  await store.lockReserved(tx, idsOf(items))
  await store.releaseReferrals(tx, idsOf(items), now())
  await post(tx, items, ['reserved', 'unpaid'], cause)
}

const idsOf = (items: readonly Item[]) => items.map(item => item.id)

async function post(
  tx: WriteTx,
  items: readonly Item[],
  [from, to]: readonly ['unpaid', 'reserved'] | readonly ['reserved', 'unpaid'],
  cause: Cause,
): Promise<void> {
  const moves = items.map(({ id, affiliate_id, amount }) => ({
    affiliateId: affiliate_id,
    from,
    to,
    amount: BigInt(amount),
    runItemId: id,
  }))
  await postRun(tx, moves, cause)
}
