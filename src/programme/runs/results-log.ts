/** Says in the history of a run, in words, what was recorded of its payments, and from what. */
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import type { Item } from './item.ts'
import type { Outcome } from './outcome.ts'
import type { ResultArguments, ResultRecord } from './schema.ts'
import * as store from './store.ts'
import { unrecordedText } from './words.ts'

interface Progress {
  /** What a file has recorded before this transaction, and with it. */
  readonly before: ResultRecord
  readonly after: ResultRecord
  readonly isLast: boolean
}

/**
 * Of a file, in the transaction that records a part of it: the run says what was recorded so far, and the log has the first
 * part and the last. So nothing is recorded without a trace, also where the service ends in between. A file that has
 * recorded nothing leaves none.
 */
export async function logResults(
  tx: WriteTx,
  { payout_run_id: id, format = 'csv', file_name: name }: ResultArguments,
  { before, after, isLast }: Progress,
): Promise<void> {
  const counts = countsOf(after)
  if (counts.length === 0) return
  const source = name ? `${name} (${format})` : `A file (${format})`
  const repeated = after.unchanged > 0 ? `; ${after.unchanged} recorded before` : ''
  const end = isLast ? unrecordedText(after) : '; the rest is being recorded'
  const text = `${source}: ${counts.join(', ')}${repeated}${end}`
  if (isLast || countsOf(before).length === 0) await logText(tx, id, text)
  else await tell(tx, id, text)
}

const countsOf = ({ recorded }: ResultRecord): string[] =>
  Object.entries(recorded).flatMap(([outcome, count]) => (count > 0 ? [`${count} ${outcome}`] : []))

/** Of one payment, by a person. */
export async function logOutcome(tx: WriteTx, item: Item, outcome: Outcome): Promise<void> {
  await logText(tx, item.run_id, `By hand: payment ${item.reference} ${outcome}`)
}

/** Of one payment that is returned because of its payout. */
export async function logReturn(tx: WriteTx, item: Item, why: string): Promise<void> {
  await logText(tx, item.run_id, `By hand: payment ${item.reference} returned, since ${why}`)
}

async function logText(tx: WriteTx, runId: number, last_results: string): Promise<void> {
  await tell(tx, runId, last_results)
  tx.log('payout_run.record', runId, { after: { last_results } })
}

async function tell(tx: WriteTx, runId: number, last_results: string): Promise<void> {
  await store.runs.set(tx, runId, { last_results, updated_at: now() })
}
