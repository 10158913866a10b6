import { crud, listingOf } from '../../records/crud.ts'
import { feature } from '../../records/feature.ts'
import { checkTotals } from './check.ts'
import { rules } from './rules.ts'
import { visitDaysTable, visitRemovalsTable, visitTotalsTable } from './table.ts'
import { visit } from './visit.ts'

export const visits = feature(visit, {
  tables: [visit.table, visitDaysTable, visitTotalsTable, visitRemovalsTable],
  resource: crud(visit, rules),
  listing: listingOf(visit, rules),
  checks: [checkTotals],
  // The event of the referral names the visit that led to it.
  unlogged: () => ['referral_id'],
})
