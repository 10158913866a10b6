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

/** An item, and the outcome that it is to have. */
interface Settling extends ReportedOutcome {
  readonly item: Item
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
  const settling = items
    .map(item => ({ item, ...reported.get(item.id)! }))
    .filter(({ item, outcome }) => outcome !== item.status)
  const open = settling.filter(({ item }) => isOpen(item))
  const leaving = open.filter(({ outcome }) => outcome !== 'unknown')
  if (leaving.length > 0) await leave(context, tx, run, leaving, settings)
  const change = ({ item, outcome, note }: Settling) =>
    changeItem(tx, item, { status: outcome, note: note || item.note, settled_at: now() }, settings)
  for (const one of open.filter(({ outcome }) => outcome === 'unknown')) await change(one)
  const inner = inTransaction(context, tx)
  for (const one of settling.filter(({ item }) => item.status === 'paid')) {
    // First, so that its payouts find it returned already.
    await change(one)
    const { id, affiliate_id } = one.item
    // Its referrals are unpaid again.
    for (const payout_id of await store.payoutsOf(tx, id)) {
      await payoutRules.edit(inner, { payout_id, affiliate_id, status: 'failed' })
    }
  }
}

/** Payments that were made or have failed: either way their items reserve nothing any more. */
async function leave(
  context: RequestContext,
  tx: WriteTx,
  run: Run,
  leaving: readonly Settling[],
  settings: Settings,
): Promise<void> {
  const idsOf = (some: readonly Settling[]) => some.map(({ item }) => item.id)
  const reserved = await store.lockReserved(tx, idsOf(leaving))
  const payments = leaving.flatMap(({ item, outcome }) =>
    outcome === 'unknown' ? [] : paymentsOf(item, outcome, reserved.get(item.id) ?? []),
  )
  const owner = context.actor.userId || run.approved_by || run.prepared_by || (await administratorIn(tx))
  await record(tx, run, payments, owner, settings)
  const isPaid = ({ outcome }: Settling) => outcome === 'paid'
  await store.payReferrals(tx, idsOf(leaving.filter(isPaid)), now())
  await store.releaseReferrals(tx, idsOf(leaving.filter(one => !isPaid(one))), now())
  await store.settleItems(
    tx,
    leaving.map(({ item, outcome, note }) => ({ id: item.id, outcome, note: note || item.note })),
    now(),
  )
}
