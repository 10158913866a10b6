import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { PayoutRecord } from '../../../src/programme/payouts/payout.ts'
import type { payoutTotals } from '../../../src/programme/payouts/totals.ts'

/** With its reference and the note on it where it is edited. */
export type Payout = PayoutRecord & RaRecord<number> & { reference?: string; note?: string }

/** A sum that is longer than a JavaScript number holds exactly is text. */
export type Sum = number | string

/** What the server answers, with its sums as they are read. */
export type WithSums<T> = {
  [K in keyof T]: K extends 'sum' ? Sum : T[K] extends object ? WithSums<T[K]> : T[K]
}

export type PayoutTotals = WithSums<Static<typeof payoutTotals>>

export const statusChoices = [
  { id: 'paid', name: 'Paid' },
  { id: 'failed', name: 'Failed' },
]
