/** What every kind of payment file has in common. Pure: items go in, text comes out, and the same each time. */
import type { ShownItem } from '../item.ts'
import type { Method, ShownRun } from '../run.ts'

/** What is paid to one payee. */
export type Line = Pick<
  ShownItem,
  'id' | 'affiliate_id' | 'amount' | 'reference' | 'payee_name' | 'payee_account'
>

/** What is the same for the whole file. */
export interface Frame {
  readonly run: Pick<ShownRun, 'id' | 'note' | 'payees' | 'amount' | 'approved_at' | 'method'>
  readonly currency: string
  readonly decimals: number
  /** From 1. */
  readonly part: number
  /** How many there are in this file, and what they come to in minor units. */
  readonly count: number
  readonly sum: bigint
  readonly columns: readonly string[]
}

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
  write(frame: Frame, lines: AsyncIterable<readonly Line[]>): AsyncIterable<string>
}

/** A formula to a spreadsheet, which payment files are often opened with: it must neither run nor be altered. */
const FORMULA = /^(?:[\t\r\n]|[\s"\u200b]*[=+\-@＝＋－＠])|[;|][\s"\u200b]*[=+\-@＝＋－＠]/

export function isFormula(text: string): boolean {
  return FORMULA.test(text)
}
