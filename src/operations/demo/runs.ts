/** The payout runs of the demo: one that is closed, and one that waits for approval. */
import { commandLine } from '../../base/actor.ts'
import { csvLine } from '../../base/csv.ts'
import { DAY_SECONDS, formatTime } from '../../base/time.ts'
import { edit } from '../../programme/affiliates/rules.ts'
import { rules as groups } from '../../programme/groups/rules.ts'
import { approve, close, file, handOver, prepare, recordResults } from '../../programme/runs/rules.ts'
import { firstItems } from '../../programme/runs/store.ts'
import { onBehalfOf } from '../../settings/rules.ts'
import type { Database } from '../../storage/database.ts'
import { type Making, SETTLED_DAYS } from './history.ts'

/** The first affiliates are a group, and paid by a run of their own. */
export async function addRuns(database: Database, { founders, owner, until }: Making): Promise<void> {
  const context = onBehalfOf({ ...commandLine, actor: { ...commandLine.actor, userId: owner } }, database)
  const { id: group_id } = await groups.create(context, { name: 'Founders' })
  for (const affiliate_id of founders) await edit(context, { affiliate_id, group_id })
  const cut_off = formatTime(until - SETTLED_DAYS * DAY_SECONDS)
  const { id, hash } = await prepare(context, { cut_off, group_id, note: 'Commission' })
  const run = { payout_run_id: id }
  await approve(context, { ...run, hash })
  await file(context, 'csv', run)
  await handOver(context, 'csv', run)
  const items = await firstItems(database.reader, id, 'reserved', founders.length)
  const lines = items.map(({ reference }, place) =>
    place === 1 ? [reference, 'failed', 'The account is closed.'] : [reference, 'paid', ''],
  )
  const content = [['reference', 'status', 'note'], ...lines].map(csvLine).join('')
  await recordResults(context, { ...run, content, file_name: 'results.csv' })
  await close(context, id)
  await prepare(context, {})
}
