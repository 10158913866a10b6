/**
 * What becomes of the payments of a run. A payout is made when money has left or has failed to; what has failed or came
 * back is owed again. Outcomes go forward only, so that nobody is paid twice.
 */
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import { inTransaction, type RequestContext, type WriteTx } from '../../events/write.ts'
import { rules as payoutRules } from '../payouts/rules.ts'
import type { Item, ItemStatus } from './item.ts'
import { runItem } from './item.ts'
import type { Outcome, ReportedOutcome } from './outcome.ts'
import { paymentsOf, record } from './payments.ts'
import type { Run } from './run.ts'
import * as store from './store.ts'

/** Where each status of an item leads. */
const moves: Readonly<Partial<Record<ItemStatus, readonly Outcome[]>>> = {
  reserved: ['paid', 'failed', 'returned', 'unknown'],
  unknown: ['paid', 'failed', 'returned'],
  paid: ['returned'],
}

/** @returns undefined when the outcome can be recorded, or is recorded already */
export function problemOf(item: Pick<Item, 'status'>, { outcome }: ReportedOutcome): string | undefined {
  if (item.status === outcome || moves[item.status]?.includes(outcome)) return undefined
  return `is ${item.status}, and can not become ${outcome}.`
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
  said: ReadonlyMap<number, ReportedOutcome>,
  settings: Settings,
): Promise<void> {
  const changing = items.filter(item => said.get(item.id)!.outcome !== item.status)
  const open = changing.filter(({ status }) => status === 'reserved' || status === 'unknown')
  const leaving = open.filter(item => said.get(item.id)!.outcome !== 'unknown')
  if (leaving.length > 0) await leave(context, tx, run, leaving, said, settings)
  for (const item of open.filter(item => said.get(item.id)!.outcome === 'unknown')) {
    await change(tx, item, said.get(item.id)!, settings)
  }
  const within = inTransaction(context, tx)
  for (const item of changing.filter(({ status }) => status === 'paid')) {
    // Its referrals are unpaid again.
    for (const id of await store.payoutsOf(tx, item.id)) {
      await payoutRules.edit(within, {
        payout_id: id,
        affiliate_id: item.affiliate_id,
        status: 'failed',
      })
    }
    await change(tx, item, said.get(item.id)!, settings)
  }
}

async function change(
  tx: WriteTx,
  item: Item,
  { outcome, note }: ReportedOutcome,
  settings: Settings,
): Promise<void> {
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

/** Money has left for the payees, or could not: either way their items reserve nothing any more. */
async function leave(
  context: RequestContext,
  tx: WriteTx,
  run: Run,
  items: readonly Item[],
  said: ReadonlyMap<number, ReportedOutcome>,
  settings: Settings,
): Promise<void> {
  const ids = items.map(item => item.id)
  const reserved = await store.holdReserved(tx, ids)
  const isPaid = (id: number) => said.get(id)!.outcome === 'paid'
  const payments = items.flatMap(item =>
    paymentsOf(item, isPaid(item.id) ? 'paid' : 'failed', reserved.get(item.id) ?? []),
  )
  const owner = context.actor.userId || run.approved_by || run.prepared_by || (await store.administrator(tx))
  await record(tx, run, payments, owner, settings)
  await store.payReferrals(tx, ids.filter(isPaid), now())
  await store.releaseReferrals(
    tx,
    ids.filter(id => !isPaid(id)),
    now(),
  )
  await store.settleItems(
    tx,
    items.map(({ id, note }) => ({ id, ...said.get(id)!, note: said.get(id)!.note || note })),
    now(),
  )
}
