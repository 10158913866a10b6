/**
 * Sums of visits by day, affiliate and campaign. Reports read these sums alone, so that they take as long for ten million
 * visits as for ten thousand; they remain when individual visits are removed. Whoever changes visits changes their sums
 * in the same transaction.
 */
import { dayOf } from '../../base/time.ts'
import { chunksOf } from '../../storage/chunks.ts'
import type { Tx } from '../../storage/database.ts'
import * as store from './store.ts'
import type { VisitDaysTable } from './table.ts'
import type { Visit } from './visit.ts'

type Counted = Pick<Visit, 'affiliate_id' | 'campaign' | 'created_at' | 'referral_id' | 'repeated'>

export async function addToDays(
  tx: Tx,
  added: readonly Counted[],
  removed: readonly Counted[] = [],
): Promise<void> {
  for (const rows of chunksOf(sumsOf(added, removed))) await store.addToDays(tx, rows)
}

/** In order of their key, so that concurrent transactions do not deadlock. */
function sumsOf(added: readonly Counted[], removed: readonly Counted[]): VisitDaysTable[] {
  const sums = new Map<string, VisitDaysTable>()
  const count = (visits: readonly Counted[], by: 1 | -1) => {
    for (const { created_at, affiliate_id, campaign, referral_id, repeated } of visits) {
      const day = dayOf(created_at)
      const key = JSON.stringify([day, affiliate_id, campaign])
      const { visits, unique_visits, converted } = sums.get(key) ?? NOTHING
      sums.set(key, {
        day,
        affiliate_id,
        campaign,
        visits: visits + by,
        unique_visits: unique_visits + (repeated === 0 ? by : 0),
        converted: converted + (referral_id === 0 ? 0 : by),
      })
    }
  }
  count(added, 1)
  count(removed, -1)
  return [...sums.values()]
    .filter(sum => sum.visits !== 0 || sum.unique_visits !== 0 || sum.converted !== 0)
    .sort((a, b) => a.day - b.day || a.affiliate_id - b.affiliate_id || (a.campaign < b.campaign ? -1 : 1))
}

const NOTHING = { visits: 0, unique_visits: 0, converted: 0 }
