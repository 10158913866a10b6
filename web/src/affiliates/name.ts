import type { RaRecord } from 'react-admin'
import type { AffiliateRecord } from '../../../src/programme/affiliates/affiliate.ts'
import type { AffiliateExtras } from '../../../src/programme/affiliates/schema.ts'

/** As the pages request it: with its account, the effective values and, on its own page, the notes. */
export type Affiliate = AffiliateRecord & Required<AffiliateExtras> & RaRecord<number> & { notes?: string }

export const nameOf = (affiliate: Pick<Affiliate, 'id' | 'user'>) =>
  affiliate.user?.display_name || affiliate.user?.user_login || `Affiliate ${affiliate.id}`
