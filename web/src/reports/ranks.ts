/** Labels and sizes of plots and rankings. */
import { methodName } from '../runs/run.ts'
import { count } from '../ui/format.ts'
import type { Rows } from './report.ts'

/** Height of a list of ten names, in pixels. */
export const BESIDE_TEN = 316
export const MOST_METHODS = 12
const LONGEST_NAME = 18

/** Counts are whole: no tick labels in between. */
export const axisLabel = (value: number) => (Number.isInteger(value) ? count(value) : '')

export const methodOf = (row: Rows['payouts-by-method']) => methodName(row.payout_method) || 'No method'
export const nameOf = (row: Pick<Rows['top-affiliates'], 'affiliate_id' | 'login' | 'display_name'>) =>
  row.display_name || row.login || `Affiliate ${row.affiliate_id}`

export function shorten(name: string): string {
  const characters = [...name]
  return characters.length > LONGEST_NAME ? `${characters.slice(0, LONGEST_NAME - 1).join('')}…` : name
}

/** Bars with the same label would be merged: zero-width spaces keep them apart. */
export function unique(names: string[]): string[] {
  return names.map(
    (name, index) => name + '\u200b'.repeat(names.slice(0, index).filter(earlier => earlier === name).length),
  )
}
