import { decimalText, formatRate } from '../../base/money.ts'
import { formatTime } from '../../base/time.ts'
import { feature, type SheetColumns, sheetOf } from '../../records/feature.ts'
import { affiliate } from './affiliate.ts'
import { affiliatesInArea, listing, affiliates as resource } from './routes.ts'
import type { AffiliateRow } from './rules.ts'

const columns: SheetColumns<AffiliateRow> = {
  affiliate_id: row => row.id,
  user_id: row => row.user_id,
  login: row => row.account_login!,
  account_email: row => row.account_email!,
  display_name: row => row.account_display_name!,
  status: row => row.status,
  rate: row => formatRate(row.rate),
  rate_type: row => row.rate_type ?? '',
  effective_rate: (row, { defaultRate }) => formatRate(row.rate ?? defaultRate),
  effective_rate_type: (row, { defaultRateType }) => row.rate_type ?? defaultRateType,
  payment_email: row => row.payment_email,
  earnings: (row, { decimals }) => decimalText(row.earnings, decimals),
  unpaid_earnings: (row, { decimals }) => decimalText(row.unpaid_earnings, decimals),
  currency: (_row, { currency }) => currency,
  referrals: row => row.referrals,
  visits: row => row.visits,
  date_registered: row => formatTime(row.registered_at),
}

export const affiliates = feature(affiliate, {
  resource,
  inArea: affiliatesInArea,
  listing,
  sheet: { ...sheetOf(columns), always: { user: true, effective: true } },
})
