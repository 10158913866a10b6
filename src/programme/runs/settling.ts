/**
 * What becomes of the payments of a run. A payout is made when money has left or has failed to; what has failed or came
 * back is owed again. Outcomes go forward only, so that nobody is paid twice.
 */
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import type { RequestContext, WriteTx } from '../../events/write.ts'
import { postRun } from '../ledger/rules.ts'
import { payout } from '../payouts/payout.ts'
import { rules as payoutRules } from '../payouts/rules.ts'
import { payouts } from '../payouts/store.ts'
import type { Item, ItemStatus } from './item.ts'
import { runItem } from './item.ts'
import type { Outcome, Said } from './outcome.ts'
import type { Run } from './run.ts'
import * as store from './store.ts'

/** Where each status of an item leads. */
const moves: Readonly<Partial<Record<ItemStatus, readonly Outcome[]>>> = {
  reserved: ['paid', 'failed', 'returned', 'unknown'],
  unknown: ['paid', 'failed', 'returned'],
  paid: ['returned'],
}

/** @returns undefined when the outcome can be recorded, or is recorded already */
export function problemOf(item: Pick<Item, 'status'>, { outcome }: Said): string | undefined {
  if (item.status === outcome || moves[item.status]?.includes(outcome)) return undefined
  return `is ${item.status}, and can not become ${outcome}.`
}

/** As many as a payout may name. */
const MOST_REFERRALS = 10_000

interface Payment {
  readonly referrals: readonly number[]
  readonly net: bigint
}

/**
 * Records outcomes of items that the transaction may change; those that are recorded already stay as they are.
 * @param said by the identifier of the item
 */
export async function settle(
  context: RequestContext,
  tx: WriteTx,
  run: Run,
  items: readonly Item[],
  said: ReadonlyMap<number, Said>,
  settings: Settings,
): Promise<void> {
  const changing = items.filter(item => said.get(item.id)!.outcome !== item.status)
  const open = changing.filter(({ status }) => status === 'reserved' || status === 'unknown')
  const leaving = open.filter(item => said.get(item.id)!.outcome !== 'unknown')
  const reserved =
    leaving.length === 0
      ? new Map()
      : await store.holdReserved(
          tx,
          leaving.map(item => item.id),
        )
  for (const item of leaving) {
    await leave(context, tx, run, item, said.get(item.id)!, reserved.get(item.id) ?? [], settings)
  }
  for (const item of open.filter(item => said.get(item.id)!.outcome === 'unknown')) {
    await change(tx, item, said.get(item.id)!, settings)
  }
  const joined = joining(context, tx)
  for (const item of changing.filter(({ status }) => status === 'paid')) {
    // Its referrals are unpaid again.
    for (const id of await store.payoutsOf(tx, item.id)) {
      await payoutRules.edit(joined, {
        payout_id: id,
        affiliate_id: item.affiliate_id,
        status: 'failed',
      })
    }
    await change(tx, item, said.get(item.id)!, settings)
  }
}

/** For rules that are to do their part in the same transaction. */
function joining(context: RequestContext, tx: WriteTx): RequestContext {
  const { database, settings } = context.within(tx)
  return {
    database,
    settings,
    within: tx => context.within(tx),
    actor: context.actor,
    address: context.address,
  }
}

async function change(tx: WriteTx, item: Item, { outcome, note }: Said, settings: Settings): Promise<void> {
  const after = { ...item, status: outcome, note: note || item.note, settled_at: now() }
  await store.changeItems(tx, [item.id], {
    status: after.status,
    note: after.note,
    settled_at: after.settled_at,
    updated_at: now(),
  })
  tx.log('run_item.edit', item.id, {
    before: runItem.logged(item, settings),
    after: runItem.logged(after, settings),
  })
}

/** Money has left for the payee, or could not: either way the item reserves nothing any more. */
async function leave(
  context: RequestContext,
  tx: WriteTx,
  run: Run,
  item: Item,
  { outcome, note }: Said,
  reserved: readonly { id: number; amount: number }[],
  settings: Settings,
): Promise<void> {
  const isPaid = outcome === 'paid'
  const sum = reserved.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  if (sum !== BigInt(item.amount)) {
    throw new Error(
      `Item ${item.id} of payout run ${run.id} is not the sum of the referrals that it has reserved.`,
    )
  }
  if (!isPaid) await store.releaseReferrals(tx, [item.id], now())
  const owner = context.actor.userId || run.approved_by || run.prepared_by || (await store.administrator(tx))
  const ids: number[] = []
  for (const { referrals, net } of paymentsOf(reserved)) {
    const row = payout.fresh(
      { affiliate_id: item.affiliate_id, referrals, payout_method: run.method },
      settings,
      { time: now(), actor: owner },
    )
    const names = new Map(referrals.map(id => [id, true]))
    const status = isPaid ? ('paid' as const) : ('failed' as const)
    const payoutRow = { ...row, amount: Number(net), status, run_item_id: item.id }
    const made = await payouts.insert(tx, payoutRow, names)
    if (isPaid) await store.payReferrals(tx, referrals, made.id, now())
    const eventId = await tx.reserveEvent()
    tx.log('payout.create', made.id, { after: payout.logged(made, settings), event: eventId })
    ids.push(made.id)
    const move = {
      affiliateId: item.affiliate_id,
      from: 'reserved',
      to: isPaid ? 'paid_out' : 'unpaid',
      amount: net,
      runItemId: item.id,
      payoutId: made.id,
    } as const
    if (net !== 0n) await postRun(tx, [move], { reason: 'payout.create', eventId })
  }
  await store.changeItems(tx, [item.id], {
    status: outcome,
    payout_id: ids[0]!,
    note: note || item.note,
    settled_at: now(),
    updated_at: now(),
  })
}

/** A payout names only so many referrals, so an item that has more becomes several; each is worth 0 or more. */
function paymentsOf(reserved: readonly { id: number; amount: number }[]): Payment[] {
  const count = Math.ceil(reserved.length / MOST_REFERRALS)
  if (count === 1) return [paymentOf(reserved)]
  const parts: { id: number; amount: number }[][] = Array.from({ length: count }, () => [])
  // The largest first, one to each in turn, so that what lowers the sum meets what raises it.
  const sorted = reserved.toSorted((a, b) => b.amount - a.amount || a.id - b.id)
  for (const [index, row] of sorted.entries()) parts[index % count]!.push(row)
  const payments = parts.map(paymentOf)
  return payments.some(({ net }) => net < 0n) ? [paymentOf(reserved)] : payments
}

function paymentOf(rows: readonly { id: number; amount: number }[]): Payment {
  return {
    referrals: rows.map(({ id }) => id).sort((a, b) => a - b),
    net: rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
  }
}
