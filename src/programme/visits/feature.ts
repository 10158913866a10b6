import { crud, listingOf } from '../../records/crud.ts'
import { feature } from '../../records/feature.ts'
import { rules } from './rules.ts'
import { visitDaysTable } from './table.ts'
import { visit } from './visit.ts'

export const visits = feature(visit, {
  tables: [visit.table, visitDaysTable],
  resource: crud(visit, rules),
  listing: listingOf(visit, rules),
  // The event of the referral names the visit that led to it.
  unlogged: () => ['referral_id'],
})
