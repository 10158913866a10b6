/** The files of a run: which there are, what they contain, and who has them. Each is the same on every download. */
import { formatTime, now } from '../../base/time.ts'
import { valueInLog } from '../../events/read.ts'
import { type Context, type RequestContext, write } from '../../events/write.ts'
import { existing } from '../../records/rules.ts'
import type { Db } from '../../storage/database.ts'
import { isGivenUp, unsealedAccount } from '../details/rules.ts'
import { sealedOf } from '../details/store.ts'
import { conflict } from './conflict.ts'
import { changedBeside, isErased } from './digest.ts'
import { missingPlaces, noteLost } from './erased-store.ts'
import * as files from './file-store.ts'
import { type Format, type Frame, type Line, mostPayees, partCount, type Size } from './formats/format.ts'
import { formatsOf } from './formats/formats.ts'
import type { Item, ItemStatus } from './item.ts'
import { itemPages } from './items-store.ts'
import { payoutRun, type Run, type RunRow } from './run.ts'
import * as store from './store.ts'
import { isPaidBy } from './words.ts'

/** Items that were approved, whatever their outcome. */
export const SENT: readonly ItemStatus[] = ['reserved', 'paid', 'failed', 'returned', 'unknown']

/** @throws Failure run_conflict */
function formatNamed(run: RunRow, name: string): Format {
  const format = formatsOf(run.method).find(format => format.name === name)
  if (!format) throw conflict(`A run of method ${run.method} has no ${name} file.`)
  if (!['approved', 'sent', 'closed'].includes(run.status)) {
    throw conflict(`A run that is ${run.status} has no files: they come with its approval.`)
  }
  return format
}

/** Which file an event is about. */
const fileInLog = (format: Format, run: Size, part: number) => ({
  format: format.name,
  ...(partCount(format, run) > 1 && { part }),
})

/** A file of a run, the same on every download. */
interface RunFile {
  readonly name: string
  /** How many payees were erased since the approval, or have details that nobody can open, and are not in it. */
  readonly erased: number
  readonly text: AsyncIterable<string>
}

/**
 * @param args.columns of a plain file
 * @param isTaken whether somebody gets it, which is logged, and not only its name
 * @throws Failure no_payout_run, run_conflict
 */
export async function file(
  context: RequestContext,
  format: string,
  args: { payout_run_id: number; part?: number | undefined; columns?: readonly string[] | undefined },
  isTaken = true,
): Promise<RunFile> {
  const { payout_run_id: id, part = 1, columns = [] } = args
  const run = await runOf(context, id)
  const kind = formatNamed(run, format)
  if (part > partCount(kind, run)) throw conflict(`The run has no part ${part} of this file.`)
  await refuseChanged(context, run)
  const frame = await frameOf(context, run, part, columns, () => linesOf(context, run, kind, part))
  if (frame.count === 0) {
    throw conflict(
      'Every payee of this file was erased, or the key of their payment details is lost: record what became of each payment instead.',
    )
  }
  if (isTaken) {
    await write(context, async tx => {
      // A cancellation asks whether files were downloaded: it comes before this one, or is asked about it.
      formatNamed(existing(payoutRun, await store.runs.lock(tx, id)), format)
      await files.markDownloaded(tx, { run_id: id, format, part }, now())
      // Each time, since it says where people are paid to.
      tx.log('payout_run.download', id, { after: fileInLog(kind, run, part) })
      await noteLost(tx, id)
    })
  }
  const erasedAt = await missingPlaces(context.database.replica, id, SENT)
  const lines = () => whole(linesOf(context, run, kind, part), frame.count)
  return {
    name: `payout-run-${id}-${kind.name}${partCount(kind, run) > 1 ? `-${part}` : ''}.${kind.extension}`,
    erased: payeesOf(kind, run, part, erasedAt).erased,
    text: kind.write(frame, lines),
  }
}

/** Money goes where somebody approved that it goes, whoever has write access to the database. */
async function refuseChanged({ database }: Context, run: Run): Promise<void> {
  const { reader } = database.background()
  // Whoever changes an item beside the service can make the hash anew, and not what the log says.
  const approved = await valueInLog(reader, { kind: payoutRun.name, id: run.id, column: 'hash' })
  const changed = approved === run.hash ? await changedBeside(run, itemPages(reader, run.id)) : {}
  if (!changed) return
  const what = changed.item
    ? `the payment to affiliate ${changed.item.affiliate_id} was`
    : 'its payments, its execution date or its payer were'
  throw conflict(
    `The run is not what was approved: ${what} changed beside the service. Nothing of it should be paid before somebody knows why; affiliated check says more.`,
  )
}

async function runOf({ database }: Context, id: number): Promise<Run> {
  return existing(payoutRun, await store.findWhole(database.replica, id))
}

async function frameOf(
  { settings }: Context,
  run: Run,
  part: number,
  columns: readonly string[],
  lines: () => AsyncIterable<readonly Line[]>,
): Promise<Frame> {
  const { currency, decimals } = await settings.current()
  let count = 0
  let sum = 0n
  for await (const batch of lines()) {
    count += batch.length
    sum += batch.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  }
  return {
    run,
    // A run has files only once it is approved.
    at: run.approved_at!,
    payer: JSON.parse(run.payer),
    currency,
    decimals,
    part,
    count,
    sum,
    columns,
  }
}

/** Ends the download with an error when the run has changed under it: half a file could be taken for a whole one. */
async function* whole(
  batches: AsyncIterable<readonly Line[]>,
  count: number,
): AsyncGenerator<readonly Line[]> {
  let written = 0
  for await (const lines of batches) {
    written += lines.length
    yield lines
  }
  if (written !== count) {
    throw conflict(
      'The run was cancelled, or a payee erased, while the file was downloaded: download it again.',
    )
  }
}

async function* linesOf(
  { database }: Context,
  run: Run,
  format: Format,
  part: number,
): AsyncGenerator<readonly Line[]> {
  const most = mostPayees(format, run) ?? Number.POSITIVE_INFINITY
  const { reader } = database.background()
  let skipped = 0
  for await (const items of itemPages(reader, run.id, SENT)) {
    // A part may end within a page.
    const first = part === 1 ? 0 : Math.max(0, (part - 1) * most - skipped)
    const lines = items.slice(first, Math.max(0, part * most - skipped))
    const payable = lines.filter(item => !isErased(item))
    const accounted = await withAccounts(reader, payable)
    if (accounted.length > 0) yield accounted
    skipped += items.length
    if (skipped >= part * most) return
  }
}

/** Opens sealed details only here, where they are written to a file; without those whose key is lost. */
async function withAccounts(db: Db, items: readonly Item[]): Promise<Line[]> {
  const ids = items.map(item => item.details_id).filter(id => id !== 0)
  const sealedTexts = await sealedOf(db, ids)
  return items.flatMap(item => {
    const details = sealedTexts.get(item.details_id)
    if (details && isGivenUp(details)) return []
    return [{ ...item, account: details ? unsealedAccount(details) : {} }]
  })
}

/** How many payees a file has, and how many it lacks. @param erased their places in the run */
function payeesOf(format: Format, run: Size, part: number, erased: readonly number[]) {
  const { payees } = run
  const most = mostPayees(format, run)
  const [first, end] = most === undefined ? [0, payees] : [(part - 1) * most, Math.min(part * most, payees)]
  const missing = erased.filter(place => place >= first && place < end).length
  return { payees: end - first - missing, erased: missing }
}

/** The files of a run, and whether they were downloaded and handed over. */
export async function listFiles(context: Context, id: number) {
  const run = await runOf(context, id)
  const knownFiles = await files.filesOf(context.database.replica, id)
  const erased = await missingPlaces(context.database.replica, id, SENT)
  return formatsOf(run.method).flatMap(format => {
    const parts = partCount(format, run)
    return Array.from({ length: parts }, (_, index) => {
      const part = index + 1
      const file = knownFiles.find(file => file.format === format.name && file.part === part)
      return {
        format: format.name,
        part,
        parts,
        ...payeesOf(format, run, part, erased),
        downloaded: file ? formatTime(file.downloaded_at) : '',
        handed_over: file?.handed_over_at ? formatTime(file.handed_over_at) : '',
      }
    })
  })
}

/**
 * Records that a file has gone to the bank or to PayPal. From then on the run cannot be cancelled.
 * @throws Failure no_payout_run, run_conflict
 */
export async function handOver(
  context: RequestContext,
  format: string,
  { payout_run_id: id, part = 1 }: { payout_run_id: number; part?: number | undefined },
): Promise<Run> {
  return write(context, async tx => {
    const settings = await context.settings.lock(tx)
    const before = existing(payoutRun, await store.runs.lock(tx, id))
    const kind = formatNamed(before, format)
    if (!isPaidBy(before, format)) {
      throw conflict(
        `A run of method ${before.method} is paid by its ${before.method} file: its ${format} file is there to read, and is not handed over.`,
      )
    }
    if (part > partCount(kind, before)) throw conflict(`The run has no part ${part} of this file.`)
    await files.markHandedOver(tx, { run_id: id, format, part }, context.actor.userId, now())
    const isFirst = before.status === 'approved'
    const after = await store.runs.update(tx, before, {
      ...(isFirst && { status: 'sent', sent_at: now() }),
      updated_at: now(),
    })
    if (isFirst) {
      tx.log('payout_run.send', id, {
        before: payoutRun.logged(before, settings),
        after: { ...payoutRun.logged(after, settings), ...fileInLog(kind, before, part) },
      })
    } else tx.log('payout_run.send', id, { after: fileInLog(kind, before, part) })
    return after
  })
}
