import type { Call } from '../../http/endpoint.ts'
import { feature, sheetColumns } from '../../records/feature.ts'
import { type AffiliateRow, payeesOf } from '../affiliates/rules.ts'
import { namesOf } from '../customers/rules.ts'
import { checks } from '../ledger/check/rules.ts'
import { balancesTable, transfersTable } from '../ledger/table.ts'
import { type Referral, referral } from './referral.ts'
import { listing, referralsInArea, referrals as resource } from './routes.ts'

/** A referral with its affiliate, unless deleted, and the name of its customer. */
type NamedRow = Referral & { affiliate?: AffiliateRow | undefined; customer: string }

async function rowsOf(call: Call, rows: Referral[]): Promise<NamedRow[]> {
  const affiliates = await payeesOf(call, new Set(rows.map(row => row.affiliate_id)))
  const names = await namesOf(call, new Set(rows.map(row => row.customer_id)))
  return rows.map(row => ({
    ...row,
    affiliate: affiliates.get(row.affiliate_id),
    customer: names.get(row.customer_id) ?? '',
  }))
}

const columns = {
  ...sheetColumns(referral),
  affiliate_name: ({ affiliate }: NamedRow) =>
    affiliate?.account_display_name || affiliate?.account_login || '',
  customer_name: ({ customer }: NamedRow) => customer,
}

export const referrals = feature(referral, {
  tables: [referral.table, transfersTable, balancesTable],
  resource,
  inArea: referralsInArea,
  listing,
  sheet: { columns, rowsOf },
  checks,
  // Payout runs pay thousands of referrals without an event for each; the check of the ledger covers those.
  unlogged: ({ status, run_item_id }) =>
    status === 'paid' || run_item_id ? ['run_item_id', 'status', 'payout_id'] : ['run_item_id'],
})
