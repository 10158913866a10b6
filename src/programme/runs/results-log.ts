/** Says in the history of a run, in words, what was recorded of its payments, and from what. */
import { now } from '../../base/time.ts'
import { type RequestContext, type WriteTx, write } from '../../events/write.ts'
import type { Item } from './item.ts'
import type { Outcome } from './outcome.ts'
import type { ResultArguments, ResultRecord } from './schema.ts'
import * as store from './store.ts'

/** A file that has recorded nothing leaves no trace. */
export async function logResults(
  context: RequestContext,
  { payout_run_id: id, format = 'csv', file_name: name }: ResultArguments,
  { recorded, unchanged, conflicts, unknown_references: unknown }: ResultRecord,
): Promise<void> {
  const counts = Object.entries(recorded).flatMap(([outcome, count]) =>
    count > 0 ? [`${count} ${outcome}`] : [],
  )
  if (counts.length === 0) return
  const before = unchanged > 0 ? `; ${unchanged} recorded before` : ''
  const lines = conflicts.length + unknown.length
  const nothing = lines > 0 ? `; nothing of ${lines === 1 ? 'one other line' : `${lines} other lines`}` : ''
  const source = name ? `${name} (${format})` : `A file (${format})`
  await write(context, async tx => logText(tx, id, `${source}: ${counts.join(', ')}${before}${nothing}`))
}

/** Of one payment, by a person. */
export async function logOutcome(tx: WriteTx, item: Item, outcome: Outcome): Promise<void> {
  await logText(tx, item.run_id, `By hand: payment ${item.reference} ${outcome}`)
}

async function logText(tx: WriteTx, runId: number, last_results: string): Promise<void> {
  await store.runs.update(tx, runId, { last_results, updated_at: now() })
  tx.log('payout_run.record', runId, { after: { last_results } })
}
