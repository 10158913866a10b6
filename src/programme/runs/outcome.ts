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

/** An amount in a file of results. */
export interface ReportedAmount {
  /** As the file writes it; '' where it names only the currency. */
  readonly text: string
  /**
   * What it may mean, as decimal text with a point and without a sign: none where that cannot be told, two where a separator
   * may be of thousands or of decimals.
   */
  readonly values: readonly string[]
  /** Codes and symbols of its currency, in capital letters; none where the file does not say. */
  readonly currencies: readonly string[]
}
