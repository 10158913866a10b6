/**
 * Sums of visits by day, affiliate and campaign, and of all affiliates by day and campaign. Reports read these sums alone, so
 * that they take as long for ten million visits as for ten thousand; they remain when individual visits are removed. Whoever
 * changes visits changes their sums in the same transaction.
 */
import { dayOf } from '../../base/time.ts'
import { chunksOf } from '../../storage/chunks.ts'
import type { Tx } from '../../storage/database.ts'
import * as store from './store.ts'
import type { VisitCounts, VisitDaysTable } from './table.ts'
import type { Visit } from './visit.ts'

type Counted = Pick<Visit, 'affiliate_id' | 'campaign' | 'created_at' | 'referral_id' | 'repeated'>
type Total = Omit<VisitDaysTable, 'affiliate_id'>

export async function addToDays(
  tx: Tx,
  added: readonly Counted[],
  removed: readonly Counted[] = [],
): Promise<void> {
  const days = daysOf(added, removed)
  for (const rows of chunksOf(days)) await store.addToDays(tx, rows)
  for (const rows of chunksOf(totalsOf(days))) await store.addToTotals(tx, rows)
}

/** In order of their key, so that concurrent transactions do not deadlock. */
function daysOf(added: readonly Counted[], removed: readonly Counted[]): VisitDaysTable[] {
  const days = new Map<string, VisitDaysTable>()
  const count = (visits: readonly Counted[], by: 1 | -1) => {
    for (const { created_at, affiliate_id, campaign, referral_id, repeated } of visits) {
      const day = dayOf(created_at)
      const counts = {
        visits: by,
        unique_visits: repeated === 0 ? by : 0,
        converted: referral_id === 0 ? 0 : by,
      }
      addTo(days, `${day} ${affiliate_id} ${campaign}`, { day, affiliate_id, campaign, ...counts })
    }
  }
  count(added, 1)
  count(removed, -1)
  return [...days.values()]
    .filter(isAny)
    .sort((a, b) => a.day - b.day || a.affiliate_id - b.affiliate_id || (a.campaign < b.campaign ? -1 : 1))
}

/** Of all affiliates. Nobody else writes these rows at the same moment, see `partIn`, so they need no order. */
function totalsOf(days: readonly VisitDaysTable[]): Total[] {
  const totals = new Map<string, Total>()
  for (const { affiliate_id: _, ...total } of days) addTo(totals, `${total.day} ${total.campaign}`, total)
  return [...totals.values()].filter(isAny)
}

function addTo<S extends VisitCounts>(sums: Map<string, S>, key: string, sum: S): void {
  const before = sums.get(key)
  sums.set(key, before ? { ...before, ...both(before, sum) } : sum)
}

const both = (a: VisitCounts, b: VisitCounts): VisitCounts => ({
  visits: a.visits + b.visits,
  unique_visits: a.unique_visits + b.unique_visits,
  converted: a.converted + b.converted,
})

const isAny = ({ visits, unique_visits, converted }: VisitCounts) =>
  visits !== 0 || unique_visits !== 0 || converted !== 0
