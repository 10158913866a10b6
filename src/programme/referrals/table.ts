import { identity, integer, neither, nullable, type RowsOf, type Table, text } from '../../storage/table.ts'

const statuses = ['draft', 'pending', 'unpaid', 'paid', 'rejected'] as const
const types = ['sale', 'lead', 'opt-in', 'refund', 'write_off'] as const

const columns = {
  id: identity,
  /** No foreign key: referrals outlive the affiliate who earned them. */
  affiliate_id: integer({ ...neither, references: { table: 'affiliates', person: true, outlives: true } }),
  /** 0 when there is none, as for the next ones. */
  visit_id: integer(neither),
  /** Where it is known on another site, as `site:id`. */
  rest_id: text(neither),
  customer_id: integer(neither),
  parent_id: integer(neither),
  description: text(neither),
  status: text<(typeof statuses)[number]>(neither),
  /** Negative in refunds and write-offs only. */
  amount: integer({ personal: false, money: true }),
  currency: text(neither),
  /** JSON, or '' when nothing was sent. */
  custom: text(neither),
  context: text(neither),
  campaign: text(neither),
  reference: text(neither),
  /** JSON, or ''. */
  products: text(neither),
  created_at: integer(neither),
  type: text<(typeof types)[number]>(neither),
  /** The payout that paid it; 0 as long as none has, also when it was paid by hand. */
  payout_id: integer(neither),
  /** The item of an approved payout run that it is reserved in; 0 when it is in none. */
  run_item_id: integer(neither),
  /** What the customer paid, in minor units. */
  order_total: nullable(integer({ personal: false, money: true })),
  /** When a pending one becomes unpaid by itself; null waits for somebody's review. */
  hold_until: nullable(integer(neither)),
  /** Why it is what it is, where the service decided so. */
  reason: text(neither),
  /** 1 when no other may have its context, reference, affiliate and type. */
  unique_reference: integer<0 | 1>(neither),
  /** SHA-256 of what was sent when it was created, to tell a request that is sent again. */
  request_hash: text(neither),
  updated_at: integer(neither),
} as const

export const referralsTable = {
  name: 'referrals',
  key: ['id'],
  columns,
  copied: 'rows',
} as const satisfies Table

export interface ReferralsTable extends RowsOf<typeof columns> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    referrals: ReferralsTable
  }
}
