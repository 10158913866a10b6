/** Says in the history of a run, in words, what was recorded of its payments, and from what. */
import { now } from '../../base/time.ts'
import { type RequestContext, type WriteTx, write } from '../../events/write.ts'
import type { Item } from './item.ts'
import type { Outcome } from './outcome.ts'
import type { ResultArguments, ResultRecord } from './schema.ts'
import * as store from './store.ts'
import { unrecordedText } from './words.ts'

/** A file that has recorded nothing leaves no trace. */
export async function logResults(
  context: RequestContext,
  { payout_run_id: id, format = 'csv', file_name: name }: ResultArguments,
  result: ResultRecord,
): Promise<void> {
  const { recorded, unchanged } = result
  const counts = Object.entries(recorded).flatMap(([outcome, count]) =>
    count > 0 ? [`${count} ${outcome}`] : [],
  )
  if (counts.length === 0) return
  const before = unchanged > 0 ? `; ${unchanged} recorded before` : ''
  const source = name ? `${name} (${format})` : `A file (${format})`
  const text = `${source}: ${counts.join(', ')}${before}${unrecordedText(result)}`
  await write(context, async tx => logText(tx, id, text))
}

/** Of one payment, by a person. */
export async function logOutcome(tx: WriteTx, item: Item, outcome: Outcome): Promise<void> {
  await logText(tx, item.run_id, `By hand: payment ${item.reference} ${outcome}`)
}

async function logText(tx: WriteTx, runId: number, last_results: string): Promise<void> {
  await store.runs.update(tx, runId, { last_results, updated_at: now() })
  tx.log('payout_run.record', runId, { after: { last_results } })
}
