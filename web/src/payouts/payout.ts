import type { RaRecord } from 'react-admin'
import type { PayoutRecord } from '../../../src/programme/payouts/payout.ts'

export type Payout = PayoutRecord & RaRecord<number>

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
