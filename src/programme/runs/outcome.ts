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
  /** Of which payment it was said, where that is said. */
  readonly amount?: ReportedAmount | undefined
}

/** An amount in a file of results, without its sign. */
export interface ReportedAmount {
  /** Decimal text with a point. */
  readonly value: string
  /** In capital letters; '' where the file does not say. */
  readonly currency: string
}
