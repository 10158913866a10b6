/** What all formats of payment files share. Pure: the same items always give the same text. */
import type { PayoutSettings } from '../../../base/settings.ts'
import type { Account } from '../../details/details.ts'
import type { ItemRow } from '../item.ts'
import type { RunRow } from '../run.ts'

/** What is paid to one payee. */
export type Line = Pick<
  ItemRow,
  'id' | 'affiliate_id' | 'amount' | 'reference' | 'payee_name' | 'payee_account'
> & { readonly account: Account }

/** The payer, as the settings had them when the run was prepared. */
export type Payer = Pick<PayoutSettings, 'name' | 'iban' | 'bic' | 'bank' | 'routing' | 'companyId'>

/** What is the same for the whole file. */
export interface Frame {
  readonly run: Pick<RunRow, 'id' | 'reference' | 'note' | 'method' | 'execution_date'>
  /**
   * When the run was approved, in seconds. Files name this time, not the one of writing, so that they can be written
   * again.
   */
  readonly at: number
  readonly payer: Payer
  readonly currency: string
  readonly decimals: number
  /** From 1. */
  readonly part: number
  /** The count and the sum, in minor units, of the payments in this file. */
  readonly count: number
  readonly sum: bigint
  readonly columns: readonly string[]
}

/** The payees of a file; a format may go through them several times. */
export type Lines = () => AsyncIterable<readonly Line[]>

export interface Format {
  readonly name: string
  readonly extension: string
  readonly contentType: string
  /** The most payees of a file. */
  readonly most?: number
  /** The most characters of a payment's reference. */
  readonly mostReference?: number
  /** The largest payment, in minor units. */
  readonly mostAmount?: bigint
  /** What the payments of a file may come to, in minor units, where that has a limit as well. */
  readonly mostSum?: bigint
  /** What is wrong with the payer's details, as sentences that name settings. */
  problemsOfPayer?(payer: Payer): string[]
  /** Why payees cannot read a note beside the payment. */
  problemOfNote?(note: string): string | undefined
  /** Why an amount, in minor units, cannot be in such a file: none is rounded. */
  problemOfAmount?(amount: bigint, money: Pick<Frame, 'currency' | 'decimals'>): string | undefined
  /** Why a payee cannot be in such a file: characters are never dropped silently. */
  problemOfName?(name: string): string | undefined
  /** Why such a file cannot pay to an account, of which the readable part is known. */
  problemOfAccount?(account: string): string | undefined
  write(frame: Frame, lines: Lines): AsyncIterable<string>
}

/** What the number of files follows from. */
export type Size = Pick<RunRow, 'payees' | 'amount'>

/**
 * The most payees of a file. Where the run comes to more than one file may, each has so few that the largest payments fit: so
 * parts follow from the run alone, and are the same on every download.
 */
export function mostPayees({ most, mostSum, mostAmount }: Format, { amount }: Size): number | undefined {
  if (mostSum === undefined || mostAmount === undefined || BigInt(amount) <= mostSum) return most
  return Number(mostSum / mostAmount)
}

/** In how many files a run is paid: at least one. */
export function partCount(format: Format, run: Size): number {
  const most = mostPayees(format, run)
  return most === undefined ? 1 : Math.max(1, Math.ceil(run.payees / most))
}

/**
 * Text that a spreadsheet would run as a formula. Payment files are often opened with one, and must not be altered, so
 * it is refused.
 */
const FORMULA = /^(?:[\t\r\n]|[\s"\u200b]*[=+\-@＝＋－＠])|[;|][\s"\u200b]*[=+\-@＝＋－＠]/

/** Whether a spreadsheet would take a text for a formula. */
export function isFormula(text: string): boolean {
  return FORMULA.test(text)
}
