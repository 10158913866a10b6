/** Cancels a run: its earnings are free for another run. Done in chunks, like the reservation. */
import { now } from '../../base/time.ts'
import { type RequestContext, write, writeMany } from '../../events/write.ts'
import { existing } from '../../records/rules.ts'
import { changeRun } from './changing.ts'
import { conflict } from './conflict.ts'
import { filesOf } from './file-store.ts'
import { excludedFor } from './proposal.ts'
import { releaseItems } from './reserving.ts'
import { payoutRun, type Run } from './run.ts'
import type { CancelArguments } from './schema.ts'
import * as store from './store.ts'
import { isPaidBy } from './words.ts'

const ITEMS_AT_ONCE = 50

/** @throws Failure no_payout_run, run_conflict */
export async function beginCancelling(
  context: RequestContext,
  { payout_run_id: id, status, not_handed_over = false }: CancelArguments,
): Promise<Run> {
  return write(context, async tx => {
    const settings = await context.settings.lock(tx)
    const before = existing(payoutRun, await store.runs.lock(tx, id))
    if (before.status === 'cancelled') return before
    refuseSent(before)
    if (status !== undefined && status !== before.status) {
      throw conflict(`The run is ${before.status} by now: look at it again before it is cancelled.`)
    }
    if (await store.hasOutcomes(tx, id)) {
      throw conflict('Payments of this run have outcomes: record the outcome of each payment instead.')
    }
    const files = await filesOf(tx, id)
    if (!not_handed_over && files.some(file => isPaidBy(before, file.format))) {
      throw conflict(
        'A file of this run was downloaded: say that none was handed over, if you know that none has gone to a bank or to PayPal.',
      )
    }
    const change = { status: 'cancelled', closed_at: now() } as const
    return changeRun(tx, 'payout_run.cancel', before, change, settings)
  })
}

function refuseSent({ status }: Run): void {
  if (status !== 'sent' && status !== 'closed') return
  const instead =
    status === 'closed'
      ? 'each payment has its outcome; record as returned what comes back.'
      : 'record the outcome of each payment instead.'
  throw conflict(`A run that is ${status} cannot be cancelled: ${instead}`)
}

/** Releases the earnings of the next items. @returns whether there may be more */
export async function releaseSome(context: RequestContext, run: Run): Promise<boolean> {
  return writeMany(context, async tx => {
    const before = await store.runs.lock(tx, run.id)
    if (before?.status !== 'cancelled') return false
    const reserved = await store.firstItems(tx, run.id, 'reserved', ITEMS_AT_ONCE)
    const items =
      reserved.length > 0 ? reserved : await store.firstItems(tx, run.id, 'included', ITEMS_AT_ONCE)
    if (items.length === 0) return false
    const eventId = await tx.reserveEvent()
    await releaseItems(tx, reserved, { reason: 'payout_run.cancel', eventId })
    await store.changeItems(
      tx,
      items.map(item => item.id),
      { status: 'excluded', ...excludedFor('cancelled'), settled_at: now(), updated_at: now() },
    )
    tx.log('payout_run.cancel', run.id, { event: eventId })
    return reserved.length > 0 || items.length === ITEMS_AT_ONCE
  })
}
