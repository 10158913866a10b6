/** Records the outcomes of payments that files and people report. Repeating a report changes nothing. */

import { byName } from '../../base/by-name.ts'
import { fromUnits } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import { type Context, type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { existing } from '../../records/rules.ts'
import type { Db } from '../../storage/database.ts'
import { conflict } from './conflict.ts'
import { type Item, runItem } from './item.ts'
import { type Outcome, outcomes, type ReportedOutcome, type ResultFormat } from './outcome.ts'
import { referenceOf } from './proposal.ts'
import { canonical, fileReferenceOf, parseFileReference, parseReference } from './references.ts'
import { readCsv, unreadable } from './results/csv.ts'
import { type Answered, type Entries, type Entry, noteOf } from './results/entry.ts'
import { readNacha } from './results/nacha.ts'
import { readPain002 } from './results/pain002.ts'
import { readPaypal } from './results/paypal.ts'
import { logOutcome, logResults } from './results-log.ts'
import { payoutRun, type Run, type RunRow } from './run.ts'
import type { ResultArguments, ResultRecord, SettleArguments } from './schema.ts'
import { problemOf, settle } from './settling.ts'
import * as store from './store.ts'
import { MOST_NAMED } from './words.ts'

/** Items that are compared with a report at once. */
const ITEMS_AT_ONCE = 500
/** Items that are recorded in one transaction with their referrals: other writes wait for no more than these. */
const RECORDED_AT_ONCE = 20
const REFERRALS_AT_ONCE = 400
/** A file is read for so long before other requests get a turn. */
const READING_MS = 10
/** Payments that a file may name beside those of the run: all are held in memory until the file is read. */
const MOST_STRANGE = 10_000

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
  const { decimals } = await context.settings.current()
  const lineOf = ({ item, reported: { outcome, note } }: Line): ResultRecord['lines'][number] => ({
    reference: item.reference,
    affiliate_id: item.affiliate_id,
    payee_name: item.payee_name,
    amount: fromUnits(item.amount, decimals),
    before: item.status,
    outcome,
    note,
  })
  const conflictOf = ({ reference, reason, item }: Contradiction): ResultRecord['conflicts'][number] => ({
    reference,
    reason,
    affiliate_id: item?.affiliate_id ?? 0,
    payee_name: item?.payee_name ?? '',
    amount: fromUnits(item?.amount ?? 0, decimals),
  })
  if (report.whole) await addOpen(context, id, report, report.whole)
  const lines: ResultRecord['lines'] = []
  const contradictions = await namedItems(context, id, report.takeContradictions().slice(0, MOST_NAMED))
  const result = {
    payout_run_id: id,
    dry_run,
    recorded: byName(outcomes, () => 0),
    unchanged: 0,
    lines,
    conflicts: contradictions.map(conflictOf),
    unknown_references: [...report.unknown],
    ignored: report.ignored,
  }
  const affiliates = [...report.reported.keys()]
  for (let start = 0; start < affiliates.length; start += ITEMS_AT_ONCE) {
    const batch = affiliates.slice(start, start + ITEMS_AT_ONCE)
    const found = await store.itemsOf(context.database.reader, id, batch)
    const present = new Set(found.map(item => item.affiliate_id))
    const unknown = batch.filter(affiliateId => !present.has(affiliateId)).map(one => referenceOf(run, one))
    result.unknown_references.push(
      ...unknown.slice(0, Math.max(0, MOST_NAMED - result.unknown_references.length)),
    )
    for (const items of dry_run ? [found] : chunksOf(found)) {
      const sorted = dry_run
        ? sort(items, report.reported)
        : await recordSome(context, id, items, report.reported)
      for (const { outcome } of sorted.fresh.values()) result.recorded[outcome] += 1
      result.unchanged += sorted.unchanged
      lines.push(...sorted.lines.slice(0, MOST_NAMED - lines.length).map(lineOf))
      result.conflicts.push(
        ...sorted.conflicts.slice(0, MOST_NAMED - result.conflicts.length).map(conflictOf),
      )
      await new Promise(setImmediate)
    }
  }
  if (!dry_run) await logResults(context, args, result)
  return result
}

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

function chunksOf(items: readonly Item[]): Item[][] {
  const chunks: Item[][] = []
  let referrals = Number.POSITIVE_INFINITY
  for (const item of items) {
    referrals += item.referrals
    if (referrals > REFERRALS_AT_ONCE || chunks.at(-1)!.length >= RECORDED_AT_ONCE) {
      chunks.push([])
      referrals = item.referrals
    }
    chunks.at(-1)!.push(item)
  }
  return chunks
}

/** @throws Failure invalid_argument when the file can't be read, or is about another run */
async function reportOf(entries: Entries, run: RunRow): Promise<Report> {
  const report = new Report(run)
  let since = performance.now()
  for (const entry of entries) {
    if (entry) report.add(entry)
    if (performance.now() - since < READING_MS) continue
    await new Promise(setImmediate)
    since = performance.now()
  }
  report.refuseNothing()
  return report
}

/** What a file says of a run: held in memory, so it does not grow with the file. */
class Report {
  /** By affiliate. */
  readonly reported = new Map<number, ReportedOutcome>()
  /** Affiliates whose payments are under way, as the file says of each. */
  readonly underWay = new Set<number>()
  readonly unknown: string[] = []
  /** The outcome of every payment that has no outcome of its own in the file. */
  whole: ReportedOutcome | undefined
  ignored = 0
  /** Affiliates with outcomes that can't both be true, and what is to be read of each. */
  readonly #contradictory = new Map<number, string>()
  #otherRun: number | undefined
  readonly #run: RunRow

  constructor(run: RunRow) {
    this.#run = run
  }

  add(entry: Entry | Answered): void {
    if ('file' in entry) this.#refuseOther(entry.file)
    else this.#add(entry)
  }

  /** @throws Failure invalid_argument when the file is the answer to one that is none of the run's */
  #refuseOther(file: string): void {
    const named = parseFileReference(file)
    if (named && this.#isFile(named.part, file)) return
    throw named === undefined || named.runId === this.#run.id
      ? unreadable(`answers the file ${noteOf(file).slice(0, 40)}, which is none of this run.`)
      : otherRun(named.runId)
  }

  #isFile(part: number, reference: string): boolean {
    return fileReferenceOf(this.#run, part) === canonical(reference)
  }

  /** Of another installation, the numbers may be the same. */
  #isOwn(reference: string): boolean {
    const payment = parseReference(reference)
    if (payment) return referenceOf(this.#run, payment.affiliateId) === canonical(reference)
    const file = parseFileReference(reference)
    return file !== undefined && this.#isFile(file.part, reference)
  }

  #add({ reference, outcome, note }: Entry): void {
    const parsed = parseReference(reference)
    if (!this.#isOwn(reference)) {
      const runId = parsed?.runId ?? parseFileReference(reference)?.runId
      if (runId !== this.#run.id) this.#otherRun ??= runId
      if (this.unknown.length < MOST_NAMED) this.unknown.push(reference.slice(0, 100))
    } else if (outcome === undefined) {
      this.ignored += 1
      if (parsed) this.#bound(this.underWay.add(parsed.affiliateId))
    } else if (parsed) this.#report(parsed.affiliateId, { outcome, note })
    else this.whole = { outcome, note }
  }

  #report(affiliateId: number, { outcome, note }: ReportedOutcome): void {
    const before = this.reported.get(affiliateId)
    const both = before ? bothOf(before.outcome, outcome) : outcome
    if (both === undefined) {
      const reason = `is both ${before!.outcome} and ${outcome} in this file: record by hand which of them is true.`
      this.#contradictory.set(affiliateId, reason)
    }
    this.reported.set(affiliateId, { outcome: both ?? outcome, note: note || (before?.note ?? '') })
    this.#bound(this.reported)
  }

  #bound({ size }: { readonly size: number }): void {
    const { payees, excluded } = this.#run
    if (size > payees + excluded + MOST_STRANGE)
      throw unreadable(`names more payments than the ${payees} of this run.`)
  }

  /** Takes out what contradicts itself: nothing of it is recorded. */
  takeContradictions(): { reference: string; reason: string }[] {
    return [...this.#contradictory].map(([affiliateId, reason]) => {
      this.reported.delete(affiliateId)
      return { reference: referenceOf(this.#run, affiliateId), reason }
    })
  }

  /** @throws Failure invalid_argument when nothing is about the run */
  refuseNothing(): void {
    if (this.reported.size > 0 || this.ignored > 0 || this.whole) return
    if (this.#otherRun !== undefined) throw otherRun(this.#otherRun)
    throw unreadable('must name payments by the references that the files of this run have.')
  }
}

const otherRun = (id: number) => unreadable(`is about payout run ${id}, not about this one.`)

/** @returns what two lines about one payment say together; undefined when they contradict each other */
function bothOf(one: Outcome, other: Outcome): Outcome | undefined {
  if (one === other || other === 'unknown') return one
  if (one === 'unknown') return other
  const came = [one, other]
  return came.includes('paid') && came.includes('returned') ? 'returned' : undefined
}

/** @throws Failure invalid_argument when the text was decoded by a wrong encoding */
function refuseReplaced(content: string): void {
  if (content.includes('\uFFFD') || content.includes('\0')) {
    throw unreadable('must be text encoded as UTF-8.')
  }
}

/** Adds the outcome for all to every open item of which the file says nothing by itself. */
async function addOpen(
  { database }: Context,
  runId: number,
  { reported, underWay }: Report,
  whole: ReportedOutcome,
): Promise<void> {
  for (let after = 0; ; ) {
    const page = { runId, statuses: ['reserved', 'unknown'], after, limit: ITEMS_AT_ONCE } as const
    const items = await store.itemsAfter(database.reader, page)
    for (const { affiliate_id: id } of items)
      if (!reported.has(id) && !underWay.has(id)) reported.set(id, whole)
    if (items.length < ITEMS_AT_ONCE) return
    after = items.at(-1)!.affiliate_id
  }
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
function sort(items: readonly Item[], reported: ReadonlyMap<number, ReportedOutcome>): Sorted {
  const newOutcomes = new Map<number, ReportedOutcome>()
  const conflicts: Contradiction[] = []
  const lines: Line[] = []
  let unchanged = 0
  for (const item of items) {
    const outcome = reported.get(item.affiliate_id)!
    const reason = problemOf(item, outcome)
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
): Promise<Sorted> {
  return write(context, async tx => {
    const settings = await context.settings.hold(tx)
    const run = existing(payoutRun, await store.runs.hold(tx, runId))
    await refuseUnsent(tx, run)
    const affiliates = chunk.map(item => item.affiliate_id)
    // Whoever deletes or edits a payout of the run changes its item.
    await store.items.holdAll(
      tx,
      chunk.map(item => item.id),
    )
    const items = await store.itemsOf(tx, runId, affiliates)
    const sorted = sort(items, reported)
    const newItems = items.filter(item => sorted.fresh.has(item.id))
    if (newItems.length === 0) return sorted
    await markSent(tx, run, settings)
    await settle(context, tx, run, newItems, sorted.fresh, settings)
    return sorted
  })
}

/** Where an outcome is known, something was sent, so that the run can't be cancelled any more. */
async function markSent(tx: WriteTx, run: Run, settings: Settings): Promise<void> {
  if (run.status !== 'approved') return
  const after = await store.runs.update(tx, run.id, { status: 'sent', sent_at: now(), updated_at: now() })
  tx.log('payout_run.send', run.id, {
    before: payoutRun.logged(run, settings),
    after: payoutRun.logged(after, settings),
  })
}

/**
 * Records the outcome of one payment that a person reports.
 * @throws Failure no_run_item, run_conflict
 */
export async function settleItem(context: RequestContext, args: SettleArguments): Promise<Item> {
  const { run_item_id: id, status: outcome, note = '' } = args
  const itemBefore = await readItem(context, id)
  return write(context, async tx => {
    const settings = await context.settings.hold(tx)
    const run = existing(payoutRun, await store.runs.hold(tx, itemBefore.payout_run_id))
    await refuseUnsent(tx, run)
    const item = existing(runItem, await store.items.hold(tx, id))
    const problem = problemOf(item, { outcome, note })
    if (problem !== undefined) throw conflict(`The item ${problem}`)
    await markSent(tx, run, settings)
    await settle(context, tx, run, [item], new Map([[id, { outcome, note }]]), settings)
    if (item.status !== outcome) await logOutcome(tx, item, outcome)
    return existing(runItem, await store.items.hold(tx, id))
  })
}

async function readItem({ database }: Context, id: number) {
  const item = existing(runItem, await store.items.find(database.reader, id))
  return { payout_run_id: item.run_id }
}
