/** Changes a run, or one of its items, and logs the change. */
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import type { Action } from '../../events/schema.ts'
import type { WriteTx } from '../../events/write.ts'
import { type Item, runItem } from './item.ts'
import { payoutRun, type Run } from './run.ts'
import * as store from './store.ts'

/** @param before the run, which the transaction has locked */
export async function changeRun(
  tx: WriteTx,
  action: Action,
  before: Run,
  change: Partial<Run>,
  settings: Settings,
): Promise<Run> {
  const after = await store.runs.update(tx, before, { ...change, updated_at: now() })
  tx.log(action, before.id, {
    before: payoutRun.logged(before, settings),
    after: payoutRun.logged(after, settings),
  })
  return after
}

/** @param before the item, which the transaction has locked */
export async function changeItem(
  tx: WriteTx,
  before: Item,
  change: Omit<store.ItemChange, 'updated_at'>,
  settings: Settings,
): Promise<void> {
  await store.changeItems(tx, [before.id], { ...change, updated_at: now() })
  tx.log('run_item.edit', before.id, {
    before: runItem.logged(before, settings),
    after: runItem.logged({ ...before, ...change }, settings),
  })
}
