import type { Identity } from '../../storage/tables.ts'

const statuses = ['draft', 'pending', 'unpaid', 'paid', 'rejected'] as const
const types = ['sale', 'lead', 'opt-in', 'refund', 'write_off'] as const

export interface ReferralsTable {
  id: Identity
  /** No foreign key: referrals outlive the affiliate who earned them. */
  affiliate_id: number
  /** 0 when there is none, as for the next ones. */
  visit_id: number
  /** Where it is known on another site, as `site:id`. */
  rest_id: string
  customer_id: number
  parent_id: number
  description: string
  status: (typeof statuses)[number]
  /** Negative in refunds and write-offs only. */
  amount: number
  currency: string
  /** JSON, or '' when nothing was sent. */
  custom: string
  context: string
  campaign: string
  reference: string
  /** JSON, or ''. */
  products: string
  created_at: number
  type: (typeof types)[number]
  /** The payout that paid it; 0 as long as none has, also when it was paid by hand. */
  payout_id: number
  /** The item of an approved payout run that it is reserved in; 0 when it is in none. */
  run_item_id: number
  /** What the customer paid, in minor units. */
  order_total: number | null
  /** When a pending one becomes unpaid by itself; null waits for somebody's review. */
  hold_until: number | null
  /** Why it is what it is, where the service decided so. */
  reason: string
  /** 1 when no other may have its context, reference, affiliate and type. */
  unique_reference: 0 | 1
  /** SHA-256 of what was sent when it was created, to tell a request that is sent again. */
  request_hash: string
  updated_at: number
}

declare module '../../storage/tables.ts' {
  interface Tables {
    referrals: ReferralsTable
  }
}
