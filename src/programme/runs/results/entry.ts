import type { Outcome, ReportedAmount } from '../outcome.ts'

/** One payment in a file of results. */
export interface Entry {
  readonly reference: string
  /** Undefined when it is not final, such as that the payment was accepted. */
  readonly outcome: Outcome | undefined
  readonly note: string
  readonly amount?: ReportedAmount | undefined
}

/** The name of the file that is answered: what stands in the answer to another one is about other payments. */
export interface Answered {
  readonly file: string
}

/** What a file says, one payment after another; undefined where a step says nothing, so that whoever reads can pause. */
export type Entries = Iterable<Entry | Answered | undefined>

const MOST_NOTE = 500

/** Any text as a single line. */
export function noteOf(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]+/gu, ' ')
    .trim()
    .slice(0, MOST_NOTE)
    .toWellFormed()
}

const GROUPED = /^(\d+|\d{1,3}(?:[.,' \u00A0\u2019]\d{3})+)(?:[.,](\d{1,2}))?$/

/**
 * The amount that a file names, for an entry: none where there is none or nothing, or where nobody can tell whether its
 * separator stands before decimals.
 */
export function amountIn(text: string, currency = ''): Pick<Entry, 'amount'> {
  const unsigned = text.trim().replace(/^[-+]\s*/, '')
  const [, whole, decimals = ''] = GROUPED.exec(unsigned) ?? []
  if (whole === undefined || (decimals === '' && /\D/.test(whole)) || !/[1-9]/.test(unsigned)) return {}
  const digits = whole.replace(/\D/g, '').replace(/^0+(?=\d)/, '')
  const value = decimals === '' ? digits : `${digits}.${decimals}`
  const code = currency.trim().toUpperCase()
  return { amount: { value, currency: /^[A-Z]{3}$/.test(code) ? code : '' } }
}
