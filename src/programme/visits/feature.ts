import { crud, listingOf } from '../../records/crud.ts'
import { feature } from '../../records/feature.ts'
import { rules } from './rules.ts'
import { visit } from './visit.ts'

export const visits = feature(visit, {
  resource: crud(visit, rules),
  listing: listingOf(visit, rules),
})
