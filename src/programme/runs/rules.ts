/**
 * Payout runs: from who is owed to who is paid. A run is prepared, looked at, approved as it was shown, sent as files, and
 * closed once the outcome of each payment is known.
 */
import type { Static } from 'typebox'
import { refuseInvalid } from '../../base/errors.ts'
import { exactNumber } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { formatTime, now } from '../../base/time.ts'
import { type Context, type RequestContext, write } from '../../events/write.ts'
import { existing, readingOf } from '../../records/rules.ts'
import { unitsOfSum } from '../../storage/sums.ts'
import { beginApproval, conflict, reserveSome, verify } from './approving.ts'
import { beginCancelling, releaseSome } from './cancelling.ts'
import type { Format, Frame, Line } from './formats/format.ts'
import { formats } from './formats/formats.ts'
import { type ItemStatus, runItem } from './item.ts'
import { isReady, prepareSome } from './preparing.ts'
import { payoutRun, type Run, type ShownRun } from './run.ts'
import type { editArguments, PrepareArguments } from './schema.ts'
import * as store from './store.ts'

export { recordResults, settleItem } from './recording.ts'

export const reading = readingOf(payoutRun, store.runs)
export const itemReading = readingOf(runItem, store.items)

/** A request does so much of a long step itself; the rest is done in the background. */
const AT_ONCE_MS = 2000

/** @throws Failure invalid_argument */
export async function prepare(context: RequestContext, args: PrepareArguments): Promise<Run> {
  const { exclude = [], ...sent } = args
  const run = await write(context, async tx => {
    const settings = await context.settings.hold(tx)
    refuseInvalid(payoutRun.problems(sent, settings))
    const fresh = payoutRun.fresh(sent, settings, { time: now(), actor: context.actor.userId })
    const run = await store.runs.insert(tx, {
      ...fresh,
      approval: settings.payouts.approval,
      prepared_by: context.actor.userId,
      left_out: distinct(exclude),
    })
    tx.log('payout_run.prepare', run.id, { after: payoutRun.logged(run, settings) })
    return run
  })
  await proceed(context, run.id)
  return current(context, run.id)
}

const distinct = (ids: readonly number[]) => [...new Set(ids)].sort((a, b) => a - b).join(',')

/**
 * Leaves other affiliates out of a draft, which is prepared anew. Who does that has prepared it.
 * @throws Failure no_payout_run, run_conflict
 */
export async function edit(context: RequestContext, args: Static<typeof editArguments>): Promise<Run> {
  const { payout_run_id: id, exclude } = args
  await write(context, async tx => {
    const settings = await context.settings.hold(tx)
    const before = existing(payoutRun, await store.runs.hold(tx, id))
    if (before.status !== 'draft') throw conflict(`A run that is ${before.status} stays as it is.`)
    await store.removeItems(tx, id)
    const after = await store.runs.update(tx, id, {
      left_out: distinct(exclude),
      prepared_by: context.actor.userId,
      prepared_to: 0,
      digest: '',
      hash: '',
      payees: 0,
      amount: 0,
      excluded: 0,
      updated_at: now(),
    })
    tx.log('payout_run.edit', id, {
      before: payoutRun.logged(before, settings),
      after: payoutRun.logged(after, settings),
    })
  })
  await proceed(context, id)
  return current(context, id)
}

/** @throws Failure no_payout_run, run_conflict, second_person */
export async function approve(
  context: RequestContext,
  args: { payout_run_id: number; hash: string },
): Promise<Run> {
  const run = await beginApproval(context, args)
  await proceed(context, run.id)
  return current(context, run.id)
}

/** @throws Failure no_payout_run, run_conflict */
export async function cancel(
  context: RequestContext,
  args: { payout_run_id: number; not_handed_over?: boolean | undefined },
): Promise<Run> {
  const run = await beginCancelling(context, args)
  await proceed(context, run.id)
  return current(context, run.id)
}

/** @throws Failure no_payout_run, run_conflict when the outcome of a payment is not known */
export async function close(context: RequestContext, id: number): Promise<Run> {
  return write(context, async tx => {
    const settings = await context.settings.hold(tx)
    const before = existing(payoutRun, await store.runs.hold(tx, id))
    if (before.status === 'closed') return before
    if (before.status !== 'sent' && before.status !== 'approved') {
      throw conflict(`A run that is ${before.status} can not be closed.`)
    }
    const sums = await store.sumItems(tx, id)
    const open = sums.filter(({ status }) => status === 'reserved' || status === 'unknown')
    const count = open.reduce((sum, one) => sum + one.count, 0)
    if (count > 0) {
      throw conflict(
        `The outcome of ${count} ${count === 1 ? 'payment is' : 'payments is'} not known: record each before the run is closed.`,
        { open: count },
      )
    }
    const after = await store.runs.update(tx, id, { status: 'closed', closed_at: now(), updated_at: now() })
    tx.log('payout_run.close', id, {
      before: payoutRun.logged(before, settings),
      after: payoutRun.logged(after, settings),
    })
    return after
  })
}

async function current({ database }: Context, id: number): Promise<Run> {
  return existing(payoutRun, await store.findWhole(database.reader, id))
}

/**
 * Goes on with a step that was begun, until it is done or the time is over.
 * @throws Failure run_conflict when what is to be approved has changed
 */
export async function proceed(context: RequestContext, id: number, forMs = AT_ONCE_MS): Promise<void> {
  const until = performance.now() + forMs
  while (await proceedOnce(context, id)) {
    if (performance.now() > until) return
    // Whoever waits for an answer comes first.
    await new Promise(setImmediate)
  }
}

async function proceedOnce(context: RequestContext, id: number): Promise<boolean> {
  const run = await store.findWhole(context.database.reader, id)
  if (!run) return false
  if (!isReady(run)) return prepareSome(context, run)
  if (run.status === 'cancelled') return releaseSome(context, run)
  if (run.status !== 'approving') return false
  if (run.verified === 1) return reserveSome(context, run)
  await verify(context, run)
  return true
}

/** Steps that a process has begun and not ended, because they are long or because it has ended itself. */
export async function proceedAll(context: RequestContext, isClosed: () => boolean): Promise<void> {
  for (const id of await store.unfinished(context.database.reader)) {
    while (!isClosed() && (await proceedOnce(context, id))) await new Promise(setImmediate)
  }
}

const SENT: readonly ItemStatus[] = ['reserved', 'paid', 'failed', 'returned', 'unknown']
const LINES_AT_ONCE = 500

/** The kinds of file that a run can be sent as. */
const formatsOf = (run: Pick<ShownRun, 'method'>) =>
  formats.filter(({ method }) => method === undefined || method === run.method)

/** @throws Failure run_conflict */
function formatNamed(run: ShownRun, name: string): Format {
  const format = formatsOf(run).find(format => format.name === name)
  if (!format) throw conflict(`A run of method ${run.method} has no ${name} file.`)
  if (!['approved', 'sent', 'closed'].includes(run.status)) {
    throw conflict(`A run that is ${run.status} has no files: they come with its approval.`)
  }
  return format
}

const partsOf = ({ most }: Format, payees: number) => (most === undefined ? 1 : Math.ceil(payees / most))

/** A file of a run, which is the same each time. */
export interface RunFile {
  readonly name: string
  readonly contentType: string
  readonly text: AsyncIterable<string>
}

/**
 * @param args.columns of a plain file
 * @throws Failure no_payout_run, run_conflict
 */
export async function file(
  context: RequestContext,
  format: string,
  args: { payout_run_id: number; part?: number | undefined; columns?: readonly string[] | undefined },
): Promise<RunFile> {
  const { payout_run_id: id, part = 1, columns = [] } = args
  const run = await reading.get(context, id)
  const kind = formatNamed(run, format)
  if (part > Math.max(1, partsOf(kind, run.payees)))
    throw conflict(`The run has no part ${part} of this file.`)
  await write(context, async tx => {
    const isFirst = await store.markDownloaded(tx, { run_id: id, format, part }, now())
    if (isFirst) tx.log('payout_run.download', id)
  })
  const settings = await context.settings.current()
  const frame = await frameOf(context, run, kind, part, columns, settings)
  return {
    name: `payout-run-${id}${partsOf(kind, run.payees) > 1 ? `-${part}` : ''}.${kind.extension}`,
    contentType: kind.contentType,
    text: kind.write(frame, linesOf(context, run, kind, part)),
  }
}

async function frameOf(
  context: Context,
  run: ShownRun,
  format: Format,
  part: number,
  columns: readonly string[],
  { currency, decimals }: Settings,
): Promise<Frame> {
  let count = 0
  let sum = 0n
  for await (const lines of linesOf(context, run, format, part)) {
    count += lines.length
    sum += lines.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  }
  return { run, currency, decimals, part, count, sum, columns }
}

async function* linesOf(
  { database }: Context,
  run: ShownRun,
  { most = Number.POSITIVE_INFINITY }: Format,
  part: number,
): AsyncGenerator<readonly Line[]> {
  const { reader } = database.background()
  let passed = 0
  for (let after = 0; ; ) {
    const page = { runId: run.id, statuses: SENT, after, limit: LINES_AT_ONCE }
    const items = await store.itemsAfter(reader, page)
    // A part ends in the middle of what is read at once.
    const first = passed === 0 && part === 1 ? 0 : (part - 1) * most - passed
    const lines = items.slice(Math.max(0, first), Math.max(0, part * most - passed))
    if (lines.length > 0) yield lines
    passed += items.length
    if (items.length < LINES_AT_ONCE || passed >= part * most) return
    after = items.at(-1)!.id
  }
}

/** The files of a run, and who has them. */
export async function listFiles(context: Context, id: number) {
  const run = await reading.get(context, id)
  const known = await store.filesOf(context.database.replica, id)
  return formatsOf(run).flatMap(format => {
    const parts = Math.max(1, partsOf(format, run.payees))
    return Array.from({ length: parts }, (_, index) => {
      const part = index + 1
      const file = known.find(file => file.format === format.name && file.part === part)
      const most = format.most ?? run.payees
      return {
        format: format.name,
        part,
        parts,
        payees: Math.min(most, run.payees - index * most),
        downloaded: file ? formatTime(file.downloaded_at) : '',
        handed_over: file?.handed_over_at ? formatTime(file.handed_over_at) : '',
      }
    })
  })
}

/**
 * A person says that a file has gone to the bank, or to PayPal: from then on the run can't be cancelled.
 * @throws Failure no_payout_run, run_conflict
 */
export async function handOver(
  context: RequestContext,
  format: string,
  { payout_run_id: id, part = 1 }: { payout_run_id: number; part?: number | undefined },
): Promise<Run> {
  return write(context, async tx => {
    const settings = await context.settings.hold(tx)
    const before = existing(payoutRun, await store.runs.hold(tx, id))
    const kind = formatNamed(before, format)
    if (part > Math.max(1, partsOf(kind, before.payees)))
      throw conflict(`The run has no part ${part} of this file.`)
    await store.markHandedOver(tx, { run_id: id, format, part }, context.actor.userId, now())
    const isFirst = before.status === 'approved'
    const after = await store.runs.update(tx, id, {
      ...(isFirst && { status: 'sent', sent_at: now() }),
      updated_at: now(),
    })
    if (isFirst) {
      tx.log('payout_run.send', id, {
        before: payoutRun.logged(before, settings),
        after: payoutRun.logged(after, settings),
      })
    } else tx.log('payout_run.send', id)
    return after
  })
}

/** What was sent, and what became of it. */
export async function reconcile(context: Context, id: number) {
  await reading.get(context, id)
  const { currency, decimals } = await context.settings.current()
  const sums = await store.sumItems(context.database.replica, id)
  const part = (statuses: readonly ItemStatus[]) => {
    const those = sums.filter(({ status }) => statuses.includes(status))
    const sum = those.reduce((sum, one) => sum + unitsOfSum(one.sum), 0n)
    return { count: those.reduce((sum, { count }) => sum + count, 0), sum: exactNumber(sum, decimals) }
  }
  const open = part(['reserved', 'included'])
  const unknown = part(['unknown'])
  return {
    payout_run_id: id,
    currency,
    sent: part(SENT),
    paid: part(['paid']),
    failed: part(['failed']),
    returned: part(['returned']),
    unknown,
    open,
    excluded: sums
      .filter(({ status }) => status === 'excluded')
      .map(({ reason, count }) => ({ reason, count })),
    balanced: open.count + unknown.count === 0,
  }
}
