/** What may become of a payment. */
export const outcomes = ['paid', 'failed', 'returned', 'unknown'] as const

export type Outcome = (typeof outcomes)[number]

/** What is said of one payment, by a file or a person. */
export interface Said {
  readonly outcome: Outcome
  readonly note: string
}
