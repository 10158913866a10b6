import type { RaRecord } from 'react-admin'

export interface Payout extends RaRecord<number> {
  payout_id: number
  affiliate_id: number
  referrals: string
  amount: number
  payout_method: string
  status: 'paid' | 'failed'
  date: string
  owner: number
}

export interface PayoutTotals {
  count: number
  sum: number
  paid: { count: number; sum: number }
  failed: { count: number; sum: number }
}

export const statusChoices = [
  { id: 'paid', name: 'Paid' },
  { id: 'failed', name: 'Failed' },
]
