import type { Outcome } from '../outcome.ts'

/** What a file says of one payment. */
export interface Entry {
  readonly reference: string
  /** Undefined when nothing final is said, such as that it was accepted. */
  readonly outcome: Outcome | undefined
  readonly note: string
}

const MOST_NOTE = 500

/** One line of what may be any text. */
export function noteOf(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]+/gu, ' ')
    .trim()
    .slice(0, MOST_NOTE)
    .toWellFormed()
}
