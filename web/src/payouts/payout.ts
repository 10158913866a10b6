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

/** A sum that is longer than a JavaScript number holds exactly is text. */
export type Sum = number | string

export interface PayoutTotals {
  count: number
  sum: Sum
  paid: { count: number; sum: Sum }
  failed: { count: number; sum: Sum }
}

export const statusChoices = [
  { id: 'paid', name: 'Paid' },
  { id: 'failed', name: 'Failed' },
]
