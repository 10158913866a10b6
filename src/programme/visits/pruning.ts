/** Visits are stored one by one for as many days as the settings say; after that only daily sums remain. */
import { now } from '../../base/time.ts'
import { loadSettings } from '../../settings/rules.ts'
import type { Tx } from '../../storage/database.ts'
import * as store from './store.ts'
import type { VisitDaysTable } from './table.ts'

const DAY_SECONDS = 86_400
const AT_ONCE = 500

/** The figures of affiliates and links stay as they are. @returns whether there may be more */
export async function pruneVisits(tx: Tx): Promise<boolean> {
  const { tracking } = await loadSettings(tx)
  const today = Math.floor(now() / DAY_SECONDS)
  const old = await store.holdBefore(tx, (today - tracking.visitDays) * DAY_SECONDS, AT_ONCE)
  if (old.length === 0) return false
  await store.addToDays(tx, sumsOf(old))
  await store.removeVisits(
    tx,
    old.map(({ id }) => id),
  )
  return old.length === AT_ONCE
}

/** In order of their key, so that transactions which add at the same time do not deadlock. */
function sumsOf(visits: readonly store.PrunedVisit[]): VisitDaysTable[] {
  const groups = Map.groupBy(visits, ({ created_at, affiliate_id, campaign }) =>
    JSON.stringify([Math.floor(created_at / DAY_SECONDS), affiliate_id, campaign]),
  )
  return [...groups.values()]
    .map(group => {
      const { created_at, affiliate_id, campaign } = group[0]!
      return {
        day: Math.floor(created_at / DAY_SECONDS),
        affiliate_id,
        campaign,
        visits: group.length,
        unique_visits: group.filter(({ repeated }) => repeated === 0).length,
        converted: group.filter(({ referral_id }) => referral_id !== 0).length,
      }
    })
    .sort((a, b) => a.day - b.day || a.affiliate_id - b.affiliate_id || (a.campaign < b.campaign ? -1 : 1))
}
