/**
 * Money and rates as integers: money in the currency's minor unit, rates in ten-thousandths. A JavaScript number holds
 * each exactly, so sums and comparisons never involve fractions.
 */

export const MAX_AMOUNT = 999_999_999_999.99
export const MAX_RATE = 999_999_999
export const RATE_DECIMALS = 4

/** Relative error that adding up some hundreds of doubles can leave. */
const NOISE = 1e-13
/** Absolute limit, in units: a larger difference is never noise, however large the number is. */
const MOST_NOISE = 1e-6

/**
 * Converts a decimal number to an integer number of its smallest units.
 *
 * A double holds 15 significant decimal digits; anything after them is floating-point noise (0.1 + 0.2,
 * 27.869999999999997) and dropped, as is the error that a long sum accumulates (39 times 2.40 is
 * 93.60000000000005). Digits within the 15 are taken as meant.
 *
 * @param decimals decimals of one unit: 2 for cents
 * @returns undefined if the number has more decimals than that
 */
export function toUnits(value: number, decimals: number): number | undefined {
  const scale = 10 ** decimals
  const units = Math.round(value * scale)
  if (!Number.isSafeInteger(units)) return undefined
  const isExact =
    units / scale === value ||
    Number((units / scale).toPrecision(15)) === Number(value.toPrecision(15)) ||
    Math.abs(value * scale - units) <= Math.min(MOST_NOISE, Math.abs(units) * NOISE)
  return isExact ? units + 0 : undefined
}

/** Digits of a number after its first: as many as `toUnits` takes as meant. */
const MEANT = 14

/**
 * The number with at most so many decimals, rounded half up, without regard to its sign: 1.005 becomes 1.01, although its
 * double is a little less. One that has no more, and one that is too large for it, stay as they are.
 */
export function roundedTo(value: number, decimals: number): number {
  if (toUnits(value, decimals) !== undefined) return value
  const [digits, exponent] = Math.abs(value).toExponential(MEANT).split('e')
  const units = Math.round(Number(`${digits}e${Number(exponent) + decimals}`))
  return Number.isSafeInteger(units) ? fromUnits(Math.sign(value) * units, decimals) + 0 : value
}

/** The largest of several amounts, but at least 0. */
export function largest(amounts: Iterable<bigint>): bigint {
  let most = 0n
  for (const amount of amounts) if (amount > most) most = amount
  return most
}

/** The largest amount, in minor units. */
export const mostUnits = (decimals: number): bigint => BigInt(Math.floor(MAX_AMOUNT * 10 ** decimals))

/**
 * What follows from other amounts, in minor units, as it is stored.
 * @returns undefined if it is larger than an amount can be
 */
export function derivedUnits(units: bigint, decimals: number): number | undefined {
  const most = mostUnits(decimals)
  return units <= most && units >= -most ? Number(units) : undefined
}

/** Converts minor units to a decimal number: the nearest double, which prints as that decimal. */
export function fromUnits(units: number, decimals: number): number {
  return units / 10 ** decimals
}

/**
 * Like `fromUnits`, for sums. A sum too large for a JavaScript number is passed as text, and serialised to JSON with
 * every digit.
 */
export function sumFromUnits(units: number | string, decimals: number): number | object {
  return typeof units === 'number' ? fromUnits(units, decimals) : exactNumber(BigInt(units), decimals)
}

/** Exact decimal text with trailing zeros: '27.80'. For files and pages, where columns should line up. */
export function decimalText(units: number | bigint, decimals: number): string {
  if (decimals === 0) return String(units)
  const digits = String(units)
    .replace('-', '')
    .padStart(decimals + 1, '0')
  return `${units < 0 ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

/** The same with its currency: '27.80 EUR'. */
export const amountText = (
  units: number | bigint,
  { decimals, currency }: { readonly decimals: number; readonly currency: string },
): string => `${decimalText(units, decimals)} ${currency}`

/**
 * A sum for JSON: a plain number with every digit. It may have more digits than a double, so it is serialised from
 * a bigint as raw text.
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

/** Validation message for an amount that `toUnits` rejects. */
export function decimalsReason({ currency, decimals }: { currency: string; decimals: number }): string {
  return `must have at most ${decimals} decimals, as ${currency} has.`
}
