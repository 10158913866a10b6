/** Splits what items have reserved into payouts. */
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import { postRun } from '../ledger/rules.ts'
import { MOST_REFERRALS, type PayoutAction, payout } from '../payouts/payout.ts'
import { payouts } from '../payouts/store.ts'
import type { Item } from './item.ts'
import type { Outcome } from './outcome.ts'
import type { Run } from './run.ts'
import { nameReserved, type Reserved } from './store.ts'

/** What became of the money, and by which action of the payout that is created it is logged and posted. */
type MoneyOutcome = keyof typeof actions
const actions = {
  paid: 'payout.create',
  failed: 'payout.fail',
  returned: 'payout.return',
} as const satisfies Partial<Record<Outcome, PayoutAction>>

/** One payout to create. */
export interface Payment {
  readonly item: Item
  readonly outcome: MoneyOutcome
  readonly referrals: readonly number[]
  readonly net: bigint
  /** Whether it has all of the item's referrals. */
  readonly isWhole: boolean
}

/**
 * The payouts of an item. A payout names a limited number of referrals, so a larger item becomes several, each
 * worth 0 or more.
 */
export function paymentsOf(item: Item, outcome: MoneyOutcome, reserved: readonly Reserved[]): Payment[] {
  const sum = reserved.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  if (sum !== BigInt(item.amount)) {
    throw new Error(
      `Item ${item.id} of payout run ${item.run_id} is not the sum of the referrals that it has reserved.`,
    )
  }
  const count = Math.ceil(reserved.length / MOST_REFERRALS)
  const paymentOf = (rows: readonly Reserved[]): Payment => ({
    item,
    outcome,
    referrals: rows.map(({ id }) => id).sort((a, b) => a - b),
    net: rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
    isWhole: rows.length === reserved.length,
  })
  if (count === 1) return [paymentOf(reserved)]
  const parts: Reserved[][] = Array.from({ length: count }, () => [])
  // The largest first, one to each payout in turn, so that negative amounts are spread evenly.
  const sorted = reserved.toSorted((a, b) => b.amount - a.amount || a.id - b.id)
  for (const [index, row] of sorted.entries()) parts[index % count]!.push(row)
  const payments = parts.map(paymentOf)
  return payments.some(({ net }) => net < 0n) ? [paymentOf(reserved)] : payments
}

/** Creates payouts, and posts each. @param owner the account that they belong to */
export async function record(
  tx: WriteTx,
  { method }: Pick<Run, 'method'>,
  payments: readonly Payment[],
  owner: number,
  settings: Settings,
): Promise<void> {
  const rows = payments.map(({ item, outcome, referrals, net }) => ({
    ...payout.newRow(
      {
        affiliate_id: item.affiliate_id,
        referrals,
        payout_method: method,
        // What stands on the bank's statement.
        reference: item.reference,
      },
      settings,
      { time: now(), actor: owner },
    ),
    amount: Number(net),
    status: outcome === 'paid' ? ('paid' as const) : ('failed' as const),
    run_item_id: item.id,
  }))
  const wholes = rows.filter((_, index) => payments[index]!.isWhole)
  const ids = wholes.length > 0 ? await payouts.insertUnnamed(tx, wholes) : []
  if (ids.length > 0) await nameReserved(tx, ids)
  const eventIds = await tx.reserveEvents(rows.length)
  const moves = []
  for (const [index, row] of rows.entries()) {
    const { item, isWhole, referrals, net, outcome } = payments[index]!
    const names = () => new Map(referrals.map(id => [id, true]))
    const id = isWhole ? ids.shift()! : (await payouts.insert(tx, row, names())).id
    const eventId = eventIds[index]!
    tx.log(actions[outcome], id, { after: payout.logged({ ...row, id }, settings), event: eventId })
    if (net === 0n) continue
    moves.push({
      affiliateId: item.affiliate_id,
      from: 'reserved' as const,
      to: row.status === 'paid' ? ('paid_out' as const) : ('unpaid' as const),
      amount: net,
      runItemId: item.id,
      payoutId: id,
      reason: actions[outcome],
      eventId,
    })
  }
  await postRun(tx, moves, { reason: 'payout.create', eventId: null })
}
