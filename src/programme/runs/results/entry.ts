import type { Outcome, ReportedAmount } from '../outcome.ts'

/** One payment in a file of results. */
export interface Entry {
  readonly reference: string
  /** Undefined when it is not final, such as that the payment was accepted. */
  readonly outcome: Outcome | undefined
  readonly note: string
  readonly amount?: ReportedAmount | undefined
  /** Why the statuses of the whole file cannot all be true. */
  readonly contradiction?: string | undefined
}

/** The name of the file that is answered: what stands in the answer to another one is about other payments. */
export interface Answered {
  readonly file: string
}

/** What a file says, one payment after another; undefined where a step says nothing, so that whoever reads can pause. */
export type Entries = Iterable<Entry | Answered | undefined>

/** Why nothing is recorded of what has two statuses that exclude each other. */
export const bothReason = (one: string, other: string) =>
  `is both ${one} and ${other} in this file: record by hand which of them is true.`

const MOST_NOTE = 500

/** Any text as a single line. */
export function noteOf(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]+/gu, ' ')
    .trim()
    .slice(0, MOST_NOTE)
    .toWellFormed()
}
