/** What every kind of payment file has in common. Pure: items go in, text comes out, and the same each time. */
import type { PayoutSettings } from '../../../base/settings.ts'
import type { Account } from '../../details/details.ts'
import type { ItemRow } from '../item.ts'
import type { Method, RunRow } from '../run.ts'

/** What is paid to one payee. */
export type Line = Pick<
  ItemRow,
  'id' | 'affiliate_id' | 'amount' | 'reference' | 'payee_name' | 'payee_account'
> & { readonly account: Account }

/** The payer, as the settings have them when the run is approved. */
export type Payer = Pick<PayoutSettings, 'name' | 'iban' | 'bic' | 'bank' | 'routing' | 'companyId'>

/** What is the same for the whole file. */
export interface Frame {
  readonly run: Pick<RunRow, 'id' | 'note' | 'method'>
  /** When the run was approved, in seconds: files say so, and not when they are written. */
  readonly at: number
  readonly payer: Payer
  readonly currency: string
  readonly decimals: number
  /** From 1. */
  readonly part: number
  /** How many there are in this file, and what they come to in minor units. */
  readonly count: number
  readonly sum: bigint
  readonly columns: readonly string[]
}

/** The payees of a file, as often as a format goes through them. */
export type Lines = () => AsyncIterable<readonly Line[]>

export interface Format {
  readonly name: string
  readonly extension: string
  readonly contentType: string
  /** Runs of which method it is for; any when omitted. */
  readonly method?: Method
  /** The currency that it is for; any when omitted. */
  readonly currency?: string
  /** How many payees a file may have. */
  readonly most?: number
  /** The most that one payee may be paid, in minor units. */
  readonly mostAmount?: bigint
  /** What is wrong with the payer's own details and the note of a run: sentences. */
  problemsOfPayer?(payer: Payer, note: string): string[]
  /** Why a payee can't be in such a file: what is not allowed is never left out silently. */
  problemOfName?(name: string): string | undefined
  write(frame: Frame, lines: Lines): AsyncIterable<string>
}

/** A formula to a spreadsheet, which payment files are often opened with: it must neither run nor be altered. */
const FORMULA = /^(?:[\t\r\n]|[\s"\u200b]*[=+\-@＝＋－＠])|[;|][\s"\u200b]*[=+\-@＝＋－＠]/

export function isFormula(text: string): boolean {
  return FORMULA.test(text)
}

/** The characters of a text that are not among those that a format has, for the sentence that names them. */
export function strange(text: string, allowed: RegExp): string {
  return [...new Set([...text].filter(character => !allowed.test(character)))].join(' ')
}
