import { crud, listingOf } from '../../records/crud.ts'
import { feature } from '../../records/feature.ts'
import { group } from './group.ts'
import { rules } from './rules.ts'

export const groups = feature(group, {
  resource: crud(group, rules, {
    create: ['group_exists'],
    edit: ['group_exists'],
    delete: ['group_in_use'],
  }),
  listing: listingOf(group, rules),
})
