/**
 * Records the outcomes of payments. A payout is created when money has left or has failed to; what has failed or came back
 * is owed again. Outcomes only move forward, so that nobody is paid twice.
 */
import { firstAdministrator } from '../../accounts/users/store.ts'
import { Failure } from '../../base/errors.ts'
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import { inTransaction, type RequestContext, type WriteTx } from '../../events/write.ts'
import { rules as payoutRules } from '../payouts/rules.ts'
import { changeItem } from './changing.ts'
import type { Item, ItemStatus } from './item.ts'
import type { Outcome, ReportedOutcome } from './outcome.ts'
import { paymentsOf, record } from './payments.ts'
import type { Run } from './run.ts'
import * as store from './store.ts'
import { isOpen } from './words.ts'

/**
 * The account that stands for the command line, where one is required.
 * @throws Failure payout_conflict
 */
async function administratorIn(tx: WriteTx): Promise<number> {
  const id = await firstAdministrator(tx)
  if (id !== undefined) return id
  throw new Failure('payout_conflict', {
    message: 'A payout belongs to an account: create an administrator first (affiliated users create).',
  })
}

/** The allowed changes of an item's status. */
const moves: Readonly<Partial<Record<ItemStatus, readonly Outcome[]>>> = {
  reserved: ['paid', 'failed', 'returned', 'unknown'],
  unknown: ['paid', 'failed', 'returned'],
  paid: ['returned'],
}

/** @returns undefined when the outcome can be recorded, or was recorded before */
export function problemOf(item: Pick<Item, 'status'>, { outcome }: ReportedOutcome): string | undefined {
  if (item.status === outcome || moves[item.status]?.includes(outcome)) return undefined
  return `is ${item.status}, and cannot become ${outcome}.`
}

/**
 * Records outcomes of items that the transaction has locked. Outcomes that were recorded before stay as they are.
 * @param reported outcomes by the identifier of the item
 */
export async function settle(
  context: RequestContext,
  tx: WriteTx,
  run: Run,
  items: readonly Item[],
  reported: ReadonlyMap<number, ReportedOutcome>,
  settings: Settings,
): Promise<void> {
  const changing = items.filter(item => reported.get(item.id)!.outcome !== item.status)
  const open = changing.filter(isOpen)
  const leaving = open.filter(item => reported.get(item.id)!.outcome !== 'unknown')
  if (leaving.length > 0) await leave(context, tx, run, leaving, reported, settings)
  const change = (item: Item) => {
    const { outcome, note } = reported.get(item.id)!
    const settled = { status: outcome, note: note || item.note, settled_at: now() }
    return changeItem(tx, item, settled, settings)
  }
  for (const item of open.filter(item => reported.get(item.id)!.outcome === 'unknown')) await change(item)
  const inner = inTransaction(context, tx)
  for (const item of changing.filter(({ status }) => status === 'paid')) {
    // First, so that its payouts find it returned already.
    await change(item)
    // Its referrals are unpaid again.
    for (const id of await store.payoutsOf(tx, item.id)) {
      await payoutRules.edit(inner, {
        payout_id: id,
        affiliate_id: item.affiliate_id,
        status: 'failed',
      })
    }
  }
}

/** Payments that were made or have failed: either way their items reserve nothing any more. */
async function leave(
  context: RequestContext,
  tx: WriteTx,
  run: Run,
  items: readonly Item[],
  reported: ReadonlyMap<number, ReportedOutcome>,
  settings: Settings,
): Promise<void> {
  const ids = items.map(item => item.id)
  const reserved = await store.lockReserved(tx, ids)
  const isPaid = (id: number) => reported.get(id)!.outcome === 'paid'
  const payments = items.flatMap(item => {
    const { outcome } = reported.get(item.id)!
    return outcome === 'unknown' ? [] : paymentsOf(item, outcome, reserved.get(item.id) ?? [])
  })
  const owner = context.actor.userId || run.approved_by || run.prepared_by || (await administratorIn(tx))
  await record(tx, run, payments, owner, settings)
  await store.payReferrals(tx, ids.filter(isPaid), now())
  await store.releaseReferrals(
    tx,
    ids.filter(id => !isPaid(id)),
    now(),
  )
  await store.settleItems(
    tx,
    items.map(({ id, note }) => ({ id, ...reported.get(id)!, note: reported.get(id)!.note || note })),
    now(),
  )
}
