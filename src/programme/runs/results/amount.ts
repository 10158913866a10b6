/**
 * Reads the amounts that files of results name, for the comparison with the payment. Of what is written nothing is passed
 * over: an amount that is not certainly that of the payment is a conflict.
 */
import { isNameOfCurrency } from '../../../base/currencies.ts'
import { amountText, decimalText } from '../../../base/money.ts'
import type { Settings } from '../../../base/settings.ts'
import type { ReportedAmount } from '../outcome.ts'
import { type Entry, noteOf } from './entry.ts'

type Money = Pick<Settings, 'currency' | 'decimals'>

/** Characters of an amount with its currency: what is longer is none. */
const MOST_WRITTEN = 60
/** Names of one currency: a code, a symbol, and some more ways to write them. */
const MOST_CURRENCIES = 10

/** What stands before a number, the number, and what stands behind it. */
const WRITTEN = /^(\D*)(\d(?:[\d.,' \u2019]*\d)?)(\D*)$/
const SIGN = /[-+\u2212]/
/** Digits, or groups of them: also those of India, which are of two digits but for the last. No group of thousands begins with 0. */
const GROUPED = /^(?:\d+|[1-9]\d{0,2}([.,' \u2019])\d{3}(?:\1\d{3})*|[1-9]\d?(?:,\d{2})+,\d{3})$/
const WITH_DECIMALS = /^(.*)([.,])(\d+)$/
/** What ISO 20022 takes: a point, if anything, and no groups. */
const EXACT = /^\+?(?=\.?\d)(\d*)(?:\.(\d*))?$/

/**
 * The amount in a cell of a table, for an entry: none where the cells are empty. A separator may be of thousands or of
 * decimals, and a currency may stand beside the number.
 */
export function amountIn(text: string, currency = ''): Pick<Entry, 'amount'> {
  const [, before = '', number, after = ''] = WRITTEN.exec(plain(text)) ?? []
  const beside = [before.replace(SIGN, ''), after, currency]
  return number === undefined ? reported(text, [], [currency]) : reported(text, readingsOf(number), beside)
}

/** The same where there is one way to write an amount. */
export function exactAmountIn(text: string, currency: string): Pick<Entry, 'amount'> {
  const [, digits, decimals = ''] = EXACT.exec(plain(text)) ?? []
  return reported(text, digits === undefined ? [] : [`${digits || '0'}.${decimals}`], [currency])
}

/** As one line, with letters and digits as they mostly are; what is too long is nothing that can be read. */
function plain(text: string): string {
  const line = noteOf(text).normalize('NFKC').trim()
  return line.length > MOST_WRITTEN ? '' : line
}

function reported(
  text: string,
  readings: readonly string[],
  names: readonly string[],
): Pick<Entry, 'amount'> {
  const written = noteOf(text).slice(0, MOST_WRITTEN).toWellFormed()
  const currencies = new Set(
    names.map(name => noteOf(name).normalize('NFKC').trim().slice(0, MOST_WRITTEN).toUpperCase()),
  )
  currencies.delete('')
  if (written === '' && currencies.size === 0) return {}
  return { amount: { text: written, values: readings.map(canonical), currencies: [...currencies] } }
}

function readingsOf(number: string): string[] {
  const [, whole = '', separator = '', decimals] = WITH_DECIMALS.exec(number) ?? []
  const isDecimal = separator !== '' && !whole.includes(separator) && GROUPED.test(whole)
  return [
    ...(GROUPED.test(number) ? [digitsOf(number)] : []),
    ...(isDecimal ? [`${digitsOf(whole)}.${decimals}`] : []),
  ]
}

const digitsOf = (number: string) => number.replace(/\D/g, '')

/** Without zeros that say nothing, so that equal values are equal text. */
const canonical = (value: string) =>
  value.replace(/^0+(?=\d)/, '').replace(/\.\d*$/, decimals => decimals.replace(/\.?0*$/, ''))

/** @returns what two lines about one payment say together; undefined when they name different amounts */
export function bothAmounts(one: ReportedAmount, other: ReportedAmount): ReportedAmount | undefined {
  const currencies = [...new Set([...one.currencies, ...other.currencies])]
  if (currencies.length > MOST_CURRENCIES) return undefined
  if (other.text === '' || other.text === one.text) return { ...one, currencies }
  if (one.text === '') return { ...other, currencies }
  const values = one.values.filter(value => other.values.includes(value))
  return values.length > 0 ? { text: other.text, values, currencies } : undefined
}

/** Whether an amount in a file is certainly this one. @param units in minor units */
export function isAmount(
  { text, values, currencies }: ReportedAmount,
  units: number | bigint,
  { currency, decimals }: Money,
): boolean {
  const isSame = text === '' || values.includes(canonical(decimalText(units, decimals)))
  return isSame && currencies.every(name => isNameOfCurrency(name, currency))
}

/** For messages: the amount as the file names it. */
export function wordsOf(
  { text, values, currencies }: ReportedAmount,
  { currency }: Pick<Money, 'currency'>,
): string {
  if (text === '') return `an amount in ${currencies.join(' ')}`
  const unsaid = currencies.filter(name => !text.toUpperCase().includes(name))
  const meant = currencies.length === 0 && values.length > 0 ? [currency] : unsaid
  return [text, ...meant].join(' ')
}

/** Says of which other amount a file speaks: that is another payment, or a mistake. */
export function otherAmount(
  units: number,
  amount: ReportedAmount | undefined,
  settings: Money,
): string | undefined {
  if (amount === undefined || isAmount(amount, units, settings)) return undefined
  return `is of ${wordsOf(amount, settings)} in this file, and of ${amountText(units, settings)} in the run: record by hand what became of it.`
}
