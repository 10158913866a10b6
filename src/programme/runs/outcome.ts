/** What may become of a payment. */
export const outcomes = ['paid', 'failed', 'returned', 'unknown'] as const

export type Outcome = (typeof outcomes)[number]

/** The kinds of file that outcomes are read from. */
export const resultFormats = ['csv', 'paypal', 'pain.002', 'nacha'] as const

export type ResultFormat = (typeof resultFormats)[number]

/** What is said of one payment, by a file or a person. */
export interface ReportedOutcome {
  readonly outcome: Outcome
  readonly note: string
}
