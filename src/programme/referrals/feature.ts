import { feature } from '../../records/feature.ts'
import { checks } from '../ledger/check/rules.ts'
import { balancesTable, transfersTable } from '../ledger/table.ts'
import { referral } from './referral.ts'
import { listing, referralsInArea, referrals as resource } from './routes.ts'

export const referrals = feature(referral, {
  tables: [referral.table, transfersTable, balancesTable],
  resource,
  inArea: referralsInArea,
  listing,
  checks,
  // Payout runs pay thousands of referrals without an event for each; the check of the ledger covers paid ones.
  unlogged: ({ status, run_item_id }) =>
    status === 'paid' || run_item_id ? ['run_item_id', 'status', 'payout_id'] : ['run_item_id'],
})
