import { decimalText } from '../../base/money.ts'
import { formatTime } from '../../base/time.ts'
import type { Call } from '../../http/endpoint.ts'
import { feature, type SheetColumns } from '../../records/feature.ts'
import { type AffiliateRow, payeesOf } from '../affiliates/rules.ts'
import { checkReferrals } from './check.ts'
import { type PayoutRow, payout, payoutReferralsTable } from './payout.ts'
import { listing, payoutsInArea, payouts as resource } from './routes.ts'
import { notesOf } from './rules.ts'

/** A payout with its payee, unless the affiliate was deleted. */
type PaidRow = PayoutRow & { payee?: AffiliateRow | undefined; reference: string; note: string }

const columns: SheetColumns<PaidRow> = {
  payout_id: row => row.id,
  affiliate_id: row => row.affiliate_id,
  amount: (row, { decimals }) => decimalText(row.amount, decimals),
  currency: (_row, { currency }) => currency,
  status: row => row.status,
  payout_method: row => row.payout_method,
  referrals: row => row.referrals,
  date: row => formatTime(row.created_at),
  owner: row => row.owner,
  affiliate_name: ({ payee }) => payee?.account_display_name || payee?.account_login || '',
  payment_email: ({ payee }) => payee?.payment_email || payee?.account_email || '',
  reference: row => row.reference,
  note: row => row.note,
}

async function rowsOf(call: Call, rows: PayoutRow[]): Promise<PaidRow[]> {
  const payees = await payeesOf(call, new Set(rows.map(row => row.affiliate_id)))
  const ids = rows.map(row => row.id)
  const notes = await notesOf(call, ids)
  return rows.map(row => {
    const { reference = '', note = '' } = notes.get(row.id) ?? {}
    return { ...row, payee: payees.get(row.affiliate_id), reference, note }
  })
}

export const payouts = feature(payout, {
  tables: [payout.table, payoutReferralsTable],
  resource,
  inArea: payoutsInArea,
  listing,
  sheet: { columns, rowsOf },
  checks: [checkReferrals],
})
