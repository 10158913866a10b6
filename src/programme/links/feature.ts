import { crud, listingOf } from '../../records/crud.ts'
import { feature } from '../../records/feature.ts'
import type { Db } from '../../storage/database.ts'
import { isDefault, link } from './link.ts'
import { rules } from './rules.ts'
import { foreignDefaults } from './store.ts'

/** What the log cannot tell: their creation has no event of its own. */
async function* checkDefaults(db: Db): AsyncGenerator<string> {
  for (const { id, code, affiliate_id } of await foreignDefaults(db)) {
    if (isDefault(code))
      yield `links ${id}: it is the default link of affiliate ${code}, and credits affiliate ${affiliate_id}; it was changed beside the service.`
  }
}

export const links = feature(link, {
  resource: crud(link, rules, { create: ['code_taken'], edit: ['code_taken'] }),
  listing: listingOf(link, rules),
  checks: [checkDefaults],
  // An affiliate's default link is created with the affiliate.
  implied: ({ code, affiliate_id }) => code === String(affiliate_id),
})
