import { crud, listingOf } from '../../records/crud.ts'
import { feature } from '../../records/feature.ts'
import { link } from './link.ts'
import { rules } from './rules.ts'

export const links = feature(link, {
  resource: crud(link, rules, { create: ['code_taken'], edit: ['code_taken'] }),
  listing: listingOf(link, rules),
  // An affiliate's default link is created with the affiliate.
  implied: ({ code, affiliate_id }) => code === String(affiliate_id),
})
