import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { PayoutRecord } from '../../../src/programme/payouts/payout.ts'
import type { payoutTotals } from '../../../src/programme/payouts/totals.ts'
import { choicesOf } from '../ui/words.ts'

/** With its reference, note and payout run, which the edit page requests. */
export type Payout = PayoutRecord &
  RaRecord<number> & { reference?: string; note?: string; payout_run_id?: number }

/** A sum with more digits than a JavaScript number holds is text. */
export type Sum = number | string

/** An answer of the server, with its sums as the client parses them. */
export type WithSums<T> = {
  [K in keyof T]: K extends 'sum' ? Sum : T[K] extends object ? WithSums<T[K]> : T[K]
}

export type PayoutTotals = WithSums<Static<typeof payoutTotals>>

/** One that is missing does not compile. */
const statuses = Object.keys({
  paid: true,
  failed: true,
} satisfies Record<Payout['status'], true>)

export const statusChoices = choicesOf(statuses)
