/** What a file says of the payments of a run. */

import { partCount } from './formats/format.ts'
import { formatOf } from './formats/formats.ts'
import type { Outcome, ReportedOutcome } from './outcome.ts'
import { referenceOf } from './proposal.ts'
import { canonical, fileReferenceOf, parseFileReference, parseReference, runIdIn } from './references.ts'
import { bothAmounts } from './results/amount.ts'
import { unreadable } from './results/csv.ts'
import { type Answered, bothReason, type Entries, type Entry, noteOf } from './results/entry.ts'
import type { RunRow } from './run.ts'
import { MOST_NAMED } from './words.ts'

/** A file is read for so long before other requests get a turn. */
const READING_MS = 10
/** Payments that a file may name beside those of the run: all are held in memory until the file is read. */
const MOST_STRANGE = 10_000
const NO_REFERENCE = '(without a reference)'

/** @throws Failure invalid_argument when the file cannot be read, or is about another run */
export async function reportOf(entries: Entries, run: RunRow): Promise<Report> {
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

/** Whether a reference is of the run, or of a payment or a file of it. Of another installation, the numbers may be the same. */
export function isReferenceIn(run: RunRow, reference: string): boolean {
  if (canonical(reference) === run.reference) return true
  const payment = parseReference(reference)
  if (payment) return referenceOf(run, payment.affiliateId) === canonical(reference)
  const file = parseFileReference(reference)
  if (file === undefined || file.part < 1 || file.part > partCount(formatOf(run.method), run)) return false
  return fileReferenceOf(run, file.part) === canonical(reference)
}

/** What a file says of a run: held in memory, so it does not grow with the file. */
export class Report {
  /** By affiliate. */
  readonly reported = new Map<number, ReportedOutcome>()
  /** Affiliates whose payments are under way, as the file says of each. */
  readonly underWay = new Set<number>()
  readonly unknown: string[] = []
  ignored = 0
  #whole: ReportedOutcome | undefined
  /** Affiliates with outcomes that cannot both be true, and what is to be read of each. */
  readonly #contradictory = new Map<number, string>()
  /** Why nothing that the file says of the whole run can be recorded. */
  #contradiction: string | undefined
  #otherRun: number | undefined
  readonly #run: RunRow

  constructor(run: RunRow) {
    this.#run = run
  }

  /** The outcome of every payment that has no outcome of its own in the file; undefined where that contradicts itself. */
  get whole(): ReportedOutcome | undefined {
    return this.#contradiction === undefined ? this.#whole : undefined
  }

  add(entry: Entry | Answered): void {
    if ('file' in entry) this.#refuseOther(entry.file)
    else this.#add(entry)
  }

  /** @throws Failure invalid_argument when the file is the answer to one that is none of the run's */
  #refuseOther(file: string): void {
    const named = parseFileReference(file)
    if (named && isReferenceIn(this.#run, file)) return
    throw named === undefined || named.runId === this.#run.id
      ? unreadable(`answers the file ${noteOf(file).slice(0, 40)}, which is none of this run.`)
      : otherRun(named.runId)
  }

  #add({ reference, outcome, note, amount, contradiction }: Entry): void {
    const parsed = parseReference(reference)
    if (!isReferenceIn(this.#run, reference)) {
      const runId = runIdIn(reference)
      if (runId !== this.#run.id) this.#otherRun ??= runId
      if (this.unknown.length < MOST_NAMED) this.unknown.push(reference.slice(0, 100) || NO_REFERENCE)
      return
    }
    if (!parsed) this.#contradiction ??= contradiction ?? this.#problemOfFile(reference)
    if (outcome === undefined) {
      this.ignored += 1
      if (parsed) this.#bound(this.underWay.add(parsed.affiliateId))
    } else if (parsed) this.#report(parsed.affiliateId, { outcome, note, amount })
    else this.#reportWhole({ outcome, note, amount })
  }

  /** What is said of one of several files is not said of the payments in the others. */
  #problemOfFile(reference: string): string | undefined {
    const parts = partCount(formatOf(this.#run.method), this.#run)
    if (parts === 1 || !parseFileReference(reference)) return undefined
    return `has ${parts} files, and ${canonical(reference)} is one of them: name its payments one by one.`
  }

  #report(affiliateId: number, reported: ReportedOutcome): void {
    const { both, reason } = together(this.reported.get(affiliateId), reported)
    if (reason !== undefined) this.#contradictory.set(affiliateId, reason)
    this.reported.set(affiliateId, both)
    this.#bound(this.reported)
  }

  #reportWhole(reported: ReportedOutcome): void {
    const { both, reason } = together(this.#whole, reported)
    this.#contradiction ??= reason
    this.#whole = both
  }

  #bound({ size }: { readonly size: number }): void {
    const { payees, excluded } = this.#run
    if (size > payees + excluded + MOST_STRANGE)
      throw unreadable(`names more payments than the ${payees} of this run.`)
  }

  /** Takes out what contradicts itself: nothing of it is recorded. */
  takeContradictions(): { reference: string; reason: string }[] {
    const payments = [...this.#contradictory].map(([affiliateId, reason]) => {
      this.reported.delete(affiliateId)
      return { reference: referenceOf(this.#run, affiliateId), reason }
    })
    const { reference } = this.#run
    return this.#contradiction === undefined
      ? payments
      : [{ reference, reason: this.#contradiction }, ...payments]
  }

  /** @throws Failure invalid_argument when nothing is about the run */
  refuseNothing(): void {
    if (this.reported.size > 0 || this.ignored > 0 || this.#whole) return
    if (this.#otherRun !== undefined) throw otherRun(this.#otherRun)
    throw unreadable('must name payments by the references that the files of this run have.')
  }
}

const otherRun = (id: number) => unreadable(`is about payout run ${id}, not about this one.`)

/** What the lines about one payment, or about all, say together, and why that cannot be recorded where they contradict each other. */
function together(before: ReportedOutcome | undefined, after: ReportedOutcome) {
  if (!before) return { both: after, reason: undefined }
  const outcome = bothOf(before.outcome, after.outcome)
  const amount =
    before.amount && after.amount ? bothAmounts(before.amount, after.amount) : (after.amount ?? before.amount)
  const both = {
    outcome: outcome ?? after.outcome,
    note: after.note || before.note,
    amount: amount ?? after.amount,
  }
  if (before.amount && amount === undefined) {
    const amounts = `${before.amount.text} and of ${after.amount!.text}`
    return { both, reason: `is of ${amounts} in this file: record by hand what became of it.` }
  }
  return { both, reason: outcome ? undefined : bothReason(before.outcome, after.outcome) }
}

/** @returns the outcome of two lines about one payment; undefined when they contradict each other */
function bothOf(one: Outcome, other: Outcome): Outcome | undefined {
  if (one === other || other === 'unknown') return one
  if (one === 'unknown') return other
  const came = [one, other]
  return came.includes('paid') && came.includes('returned') ? 'returned' : undefined
}
