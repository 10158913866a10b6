/** The possible outcomes of a payment. */
export const outcomes = ['paid', 'failed', 'returned', 'unknown'] as const

export type Outcome = (typeof outcomes)[number]

/** The formats of files that outcomes are read from. */
export const resultFormats = ['csv', 'paypal', 'pain.002', 'nacha'] as const

export type ResultFormat = (typeof resultFormats)[number]

/** The outcome of one payment, as a file or a person reports it. */
export interface ReportedOutcome {
  readonly outcome: Outcome
  readonly note: string
}
