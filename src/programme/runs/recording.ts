/** Records the outcomes of payments that files and people report. Repeating a report changes nothing. */

import { byName } from '../../base/by-name.ts'
import { amountText, fromUnits } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import { type Context, type RequestContext, type WriteTx, write, writeMany } from '../../events/write.ts'
import { existing } from '../../records/rules.ts'
import type { Db } from '../../storage/database.ts'
import { changeItem, changeRun } from './changing.ts'
import { conflict } from './conflict.ts'
import { type Item, type ItemStatus, runItem } from './item.ts'
import { itemPages } from './items-store.ts'
import { outcomes, type ReportedAmount, type ReportedOutcome, type ResultFormat } from './outcome.ts'
import { referenceOf } from './proposal.ts'
import { parseReference } from './references.ts'
import { type Report, reportOf } from './report.ts'
import { isAmount, otherAmount, wordsOf } from './results/amount.ts'
import { readCsv, unreadable } from './results/csv.ts'
import type { Entries } from './results/entry.ts'
import { readNacha } from './results/nacha.ts'
import { readPain002 } from './results/pain002.ts'
import { readPaypal } from './results/paypal.ts'
import { logOutcome, logResults } from './results-log.ts'
import { payoutRun, type Run, type RunRow } from './run.ts'
import type { ResultArguments, ResultRecord, SettleArguments } from './schema.ts'
import { problemOf, settle } from './settling.ts'
import * as store from './store.ts'
import { MOST_NAMED, openStatuses } from './words.ts'

/** Items that are compared with a report at once. */
const ITEMS_AT_ONCE = 500
/** Items that are recorded in one transaction with their referrals: other writes wait for no more than these. */
const RECORDED_AT_ONCE = 20
const REFERRALS_AT_ONCE = 400

/** By the name of the format. */
const readers: Readonly<Record<ResultFormat, (content: string) => Entries>> = {
  csv: readCsv,
  paypal: readPaypal,
  'pain.002': readPain002,
  nacha: readNacha,
}

/**
 * Before it is approved, a run has no outcomes. A cancelled one has none either, except where it was cancelled beside
 * payments with an outcome: those go on to the next.
 */
async function refuseUnsent(db: Db, { id, status }: Pick<RunRow, 'id' | 'status'>): Promise<void> {
  if (status === 'approved' || status === 'sent' || status === 'closed') return
  if (status === 'cancelled' && (await store.hasOutcomes(db, id))) return
  throw conflict(`Nothing was sent of a run that is ${status}, so there are no outcomes to record.`)
}

/**
 * Records the outcomes in a file, or with `dry_run` only reports what it would record.
 * @throws Failure no_payout_run, run_conflict, invalid_argument
 */
export async function recordResults(context: RequestContext, args: ResultArguments): Promise<ResultRecord> {
  const { payout_run_id: id, content, format = 'csv', dry_run = false } = args
  const run = existing(payoutRun, await store.runs.find(context.database.reader, id))
  await refuseUnsent(context.database.reader, run)
  refuseReplaced(content)
  const report = await reportOf(readers[format](content), run)
  const settings = await context.settings.current()
  const { decimals } = settings
  if (report.whole) await addOpen(context, run, report, report.whole, settings)
  const contradictions = await namedItems(context, id, report.takeContradictions().slice(0, MOST_NAMED))
  let result: ResultRecord = {
    payout_run_id: id,
    dry_run,
    recorded: byName(outcomes, () => 0),
    unchanged: 0,
    lines: [],
    conflicts: contradictions.map(one => conflictOf(one, decimals)),
    unknown_references: [...report.unknown],
    ignored: report.ignored,
  }
  let isUnfinished = false
  for await (const { items, unknown, isLast } of chunksIn(context, run, report)) {
    const before = { ...result, unknown_references: upToMost(result.unknown_references, unknown) }
    const sorted =
      dry_run || items.length === 0
        ? sort(items, report.reported, settings)
        : await recordSome(context, id, items, report.reported, (tx, chunk) =>
            logResults(tx, args, { before, after: withChunk(before, chunk, decimals), isLast }),
          )
    result = withChunk(before, sorted, decimals)
    if (!dry_run && sorted.fresh.size > 0) isUnfinished = !isLast
    await new Promise(setImmediate)
  }
  // The end of the file has recorded nothing.
  if (isUnfinished)
    await write(context, tx => logResults(tx, args, { before: result, after: result, isLast: true }))
  return result
}

interface Chunk {
  readonly items: readonly Item[]
  /** References of payments that the run does not have. */
  readonly unknown: readonly string[]
  readonly isLast: boolean
}

/** The items that a file reports on, by as many as are recorded in one transaction. */
async function* chunksIn(
  { database }: Context,
  run: RunRow,
  { reported }: Report,
): AsyncGenerator<Chunk, void> {
  const affiliates = [...reported.keys()]
  for (let start = 0; start < affiliates.length; start += ITEMS_AT_ONCE) {
    const batch = affiliates.slice(start, start + ITEMS_AT_ONCE)
    const found = await store.itemsOf(database.reader, run.id, batch)
    const present = new Set(found.map(item => item.affiliate_id))
    const strangers = batch.filter(affiliateId => !present.has(affiliateId))
    const isEnd = start + ITEMS_AT_ONCE >= affiliates.length
    let unknown = strangers.map(affiliateId => referenceOf(run, affiliateId))
    const chunks = chunksOf(found)
    for (const [index, items] of chunks.entries()) {
      yield { items, unknown, isLast: isEnd && index === chunks.length - 1 }
      unknown = []
    }
  }
}

/** Answers name no more. */
const upToMost = <T>(named: readonly T[], more: readonly T[]): T[] => [
  ...named,
  ...more.slice(0, Math.max(0, MOST_NAMED - named.length)),
]

/** What is answered, with one chunk more. */
function withChunk(
  before: ResultRecord,
  { fresh, unchanged, lines, conflicts }: Sorted,
  decimals: number,
): ResultRecord {
  const recorded = { ...before.recorded }
  for (const { outcome } of fresh.values()) recorded[outcome] = (recorded[outcome] ?? 0) + 1
  const reportedLines = lines.map(({ item, reported: { outcome, note } }) => ({
    reference: item.reference,
    affiliate_id: item.affiliate_id,
    payee_name: item.payee_name,
    amount: fromUnits(item.amount, decimals),
    before: item.status,
    outcome,
    note,
  }))
  return {
    ...before,
    recorded,
    unchanged: before.unchanged + unchanged,
    lines: upToMost(before.lines, reportedLines),
    conflicts: upToMost(
      before.conflicts,
      conflicts.map(one => conflictOf(one, decimals)),
    ),
  }
}

const conflictOf = ({ reference, reason, item }: Contradiction, decimals: number) => ({
  reference,
  reason,
  affiliate_id: item?.affiliate_id ?? 0,
  payee_name: item?.payee_name ?? '',
  amount: fromUnits(item?.amount ?? 0, decimals),
})

/** What a file contradicts; without an item where the run has none of that payee. */
interface Contradiction {
  readonly reference: string
  readonly reason: string
  readonly item?: Item | undefined
}

async function namedItems(
  { database }: Context,
  runId: number,
  contradictions: readonly Contradiction[],
): Promise<Contradiction[]> {
  if (contradictions.length === 0) return []
  const affiliates = contradictions.flatMap(({ reference }) => parseReference(reference)?.affiliateId ?? [])
  const items = await store.itemsOf(database.reader, runId, affiliates)
  const byReference = new Map(items.map(item => [item.reference, item]))
  return contradictions.map(one => ({ ...one, item: byReference.get(one.reference) }))
}

/** At least one, which may be empty. */
function chunksOf(items: readonly Item[]): Item[][] {
  const chunks: Item[][] = [[]]
  let referrals = 0
  for (const item of items) {
    const { length } = chunks.at(-1)!
    referrals += item.referrals
    if (length > 0 && (referrals > REFERRALS_AT_ONCE || length >= RECORDED_AT_ONCE)) {
      chunks.push([])
      referrals = item.referrals
    }
    chunks.at(-1)!.push(item)
  }
  return chunks
}

/** @throws Failure invalid_argument when the text was decoded by a wrong encoding */
function refuseReplaced(content: string): void {
  if (content.includes('\uFFFD') || content.includes('\0')) {
    throw unreadable('must be text encoded as UTF-8.')
  }
}

/**
 * Adds the outcome for all to every open item of which the file says nothing by itself. That the others were paid says nothing
 * of those whose outcome somebody has recorded as unknown.
 */
async function addOpen(
  { database }: Context,
  run: RunRow,
  { reported, underWay }: Report,
  { amount, ...whole }: ReportedOutcome,
  settings: Settings,
): Promise<void> {
  const statuses: readonly ItemStatus[] = whole.outcome === 'paid' ? ['reserved'] : openStatuses
  let sum = 0n
  for await (const items of itemPages(database.reader, run.id, statuses)) {
    for (const { affiliate_id: id, amount: units } of items) {
      if (reported.has(id) || underWay.has(id)) continue
      reported.set(id, whole)
      sum += BigInt(units)
    }
  }
  if (amount && sum > 0n) refuseOtherSum(amount, [sum, BigInt(run.amount)], settings)
}

/** @throws Failure invalid_argument when a line about all others has an amount that is neither theirs nor that of the run */
function refuseOtherSum(amount: ReportedAmount, sums: readonly [bigint, bigint], settings: Settings): void {
  if (sums.some(sum => isAmount(amount, sum, settings))) return
  const [others, all] = sums.map(sum => amountText(sum, settings))
  throw unreadable(
    `says ${wordsOf(amount, settings)} of all payments that no other line names, which come to ${others}, and the whole run to ${all}: leave this amount out, or name each payment.`,
  )
}

/** An item, and the outcome that a file reports of it. */
interface Line {
  readonly item: Item
  readonly reported: ReportedOutcome
}

interface Sorted {
  /** By the identifier of the item. */
  readonly fresh: ReadonlyMap<number, ReportedOutcome>
  readonly unchanged: number
  readonly lines: readonly Line[]
  readonly conflicts: readonly Contradiction[]
}

/** Sorts the reported outcomes: new ones, those recorded already, and those that contradict a recorded one. */
function sort(
  items: readonly Item[],
  reported: ReadonlyMap<number, ReportedOutcome>,
  settings: Settings,
): Sorted {
  const newOutcomes = new Map<number, ReportedOutcome>()
  const conflicts: Contradiction[] = []
  const lines: Line[] = []
  let unchanged = 0
  for (const item of items) {
    const outcome = reported.get(item.affiliate_id)!
    const reason = problemOf(item, outcome) ?? otherAmount(item.amount, outcome.amount, settings)
    if (reason !== undefined) {
      conflicts.push({ reference: item.reference, reason, item })
      continue
    }
    lines.push({ item, reported: outcome })
    if (item.status === outcome.outcome) unchanged += 1
    else newOutcomes.set(item.id, outcome)
  }
  return { fresh: newOutcomes, unchanged, lines, conflicts }
}

async function recordSome(
  context: RequestContext,
  runId: number,
  chunk: readonly Item[],
  reported: ReadonlyMap<number, ReportedOutcome>,
  log: (tx: WriteTx, sorted: Sorted) => Promise<void>,
): Promise<Sorted> {
  return writeMany(context, async tx => {
    const settings = await context.settings.lock(tx)
    const run = existing(payoutRun, await store.runs.lock(tx, runId))
    await refuseUnsent(tx, run)
    const affiliates = chunk.map(item => item.affiliate_id)
    // Whoever deletes or edits a payout of the run changes its item.
    await store.items.lockAll(
      tx,
      chunk.map(item => item.id),
    )
    const items = await store.itemsOf(tx, runId, affiliates)
    const sorted = sort(items, reported, settings)
    const newItems = items.filter(item => sorted.fresh.has(item.id))
    if (newItems.length === 0) return sorted
    await markSent(tx, run, settings)
    await settle(context, tx, run, newItems, sorted.fresh, settings)
    await log(tx, sorted)
    return sorted
  })
}

/** Where an outcome is known, something was sent, so that the run cannot be cancelled any more. */
async function markSent(tx: WriteTx, run: Run, settings: Settings): Promise<void> {
  if (run.status !== 'approved') return
  await changeRun(tx, 'payout_run.send', run, { status: 'sent', sent_at: now() }, settings)
}

/**
 * Records the outcome of one payment that a person reports. Where it was recorded before, nothing that the person says is lost:
 * a note replaces that of an unknown outcome, and is refused beside one that is final.
 * @throws Failure no_run_item, run_conflict
 */
export async function settleItem(context: RequestContext, args: SettleArguments): Promise<Item> {
  const { run_item_id: id, status: outcome, note = '' } = args
  const itemBefore = await readItem(context, id)
  return write(context, async tx => {
    const settings = await context.settings.lock(tx)
    const run = existing(payoutRun, await store.runs.lock(tx, itemBefore.payout_run_id))
    await refuseUnsent(tx, run)
    const item = existing(runItem, await store.items.lock(tx, id))
    const problem = problemOf(item, { outcome, note })
    if (problem !== undefined) throw conflict(`The item ${problem}`)
    const isOtherNote = item.status === outcome && note !== '' && note !== item.note
    if (isOtherNote && outcome !== 'unknown') {
      throw conflict(
        `That the payment is ${outcome} was recorded already, ${item.note === '' ? 'without a note' : 'with another note'}: it stays as it was recorded.`,
      )
    }
    await markSent(tx, run, settings)
    await settle(context, tx, run, [item], new Map([[id, { outcome, note }]]), settings)
    if (item.status !== outcome) await logOutcome(tx, item, outcome)
    else if (isOtherNote) await changeItem(tx, item, { note }, settings)
    return existing(runItem, await store.items.lock(tx, id))
  })
}

async function readItem({ database }: Context, id: number) {
  const item = existing(runItem, await store.items.find(database.reader, id))
  return { payout_run_id: item.run_id }
}
