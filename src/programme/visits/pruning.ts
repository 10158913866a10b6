/** Visits are stored individually for as many days as the settings say; after that only the daily sums remain. */
import { DAY_SECONDS, dayOf, now } from '../../base/time.ts'
import { loadSettings } from '../../settings/rules.ts'
import type { Tx } from '../../storage/database.ts'
import * as store from './store.ts'

const AT_ONCE = 500

/** The figures of affiliates and links stay as they are. @returns whether there may be more */
export async function pruneVisits(tx: Tx): Promise<boolean> {
  const { tracking } = await loadSettings(tx)
  const firstDay = dayOf(now()) - tracking.visitDays
  const count = await store.removeBefore(tx, firstDay * DAY_SECONDS, AT_ONCE)
  if (count > 0) await store.markRemoved(tx, firstDay)
  return count === AT_ONCE
}
