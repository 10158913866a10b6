/**
 * Money and rates. Money is a whole number of the currency's minor unit, a rate is a whole number of
 * ten-thousandths. A JavaScript number holds each of them exactly, so nothing that is added or compared is ever a fraction.
 */

export const MAX_AMOUNT = 999_999_999_999.99
export const MAX_RATE = 999_999_999
export const RATE_DECIMALS = 4

/** What adding up some hundreds of doubles can leave behind, as a part of their sum. */
const NOISE = 1e-13
/** Of one unit: nothing that is larger is noise, however large the number is. */
const MOST_NOISE = 1e-6

/**
 * Turns a decimal number into a whole number of its smallest units.
 *
 * A double holds 15 significant decimal digits exactly; what stands behind the 15th is float noise
 * (0.1 + 0.2, 27.869999999999997) and is dropped, and so is what a sum of many has gathered (39 times 2.40 is
 * 93.60000000000005). Digits before it were written on purpose.
 *
 * @param decimals how many decimals one unit stands for: 2 for cents
 * @returns undefined when the number has more decimals than that
 */
export function toUnits(value: number, decimals: number): number | undefined {
  const scale = 10 ** decimals
  const units = Math.round(value * scale)
  if (!Number.isSafeInteger(units)) return undefined
  const isExact =
    Number((units / scale).toPrecision(15)) === Number(value.toPrecision(15)) ||
    Math.abs(value * scale - units) <= Math.min(MOST_NOISE, Math.abs(units) * NOISE)
  return isExact ? units + 0 : undefined
}

/** The largest amount, in minor units. */
export const mostUnits = (decimals: number): bigint => BigInt(Math.floor(MAX_AMOUNT * 10 ** decimals))

/** The plain number that a count of units stands for: the nearest double, which prints as that decimal. */
export function fromUnits(units: number, decimals: number): number {
  return units / 10 ** decimals
}

/** Like `fromUnits`, of a sum. A sum that a JavaScript number does not hold comes as text, and stands in JSON with every digit. */
export function sumFromUnits(units: number | string, decimals: number): number | object {
  return typeof units === 'number' ? fromUnits(units, decimals) : exactNumber(BigInt(units), decimals)
}

/** Exact decimal text with all its decimals: '27.80'. For files and pages, where columns should line up. */
export function decimalText(units: number | bigint, decimals: number): string {
  if (decimals === 0) return String(units)
  const digits = String(units)
    .replace('-', '')
    .padStart(decimals + 1, '0')
  return `${units < 0 ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

declare global {
  interface JSON {
    /** ECMAScript 2026; the type declarations do not know it yet. */
    rawJSON(text: string): object
  }
}

/**
 * A sum as JSON shows it: a plain number with every digit that it has. A sum may have more of them than a double, so
 * it is kept as a bigint and written as it is.
 */
export function exactNumber(units: bigint, decimals: number): object {
  const text = decimalText(units, decimals)
  return JSON.rawJSON(decimals === 0 ? text : text.replace(/\.?0+$/, ''))
}

/** @returns ten-thousandths, or null for "not set" */
export function parseRate(value: number | ''): number | null {
  return value === '' ? null : (toUnits(value, RATE_DECIMALS) ?? null)
}

/** Canonical decimal text: '20', '7.5', '0', or '' for "not set". */
export function formatRate(tenThousandths: number | null): string {
  return tenThousandths === null ? '' : String(fromUnits(tenThousandths, RATE_DECIMALS))
}

/** What is wrong with an amount that `toUnits` does not take. */
export function decimalsReason({ currency, decimals }: { currency: string; decimals: number }): string {
  return `must have at most ${decimals} decimals, as ${currency} has.`
}
