/** Exact rational numbers. Shares of money stay fractions until they are rounded, once. */

export interface Fraction {
  readonly numerator: bigint
  /** Positive. */
  readonly denominator: bigint
}

export const ZERO: Fraction = { numerator: 0n, denominator: 1n }
export const ONE: Fraction = { numerator: 1n, denominator: 1n }

export const whole = (value: bigint | number): Fraction => ({ numerator: BigInt(value), denominator: 1n })

/** @param denominator not 0 */
export function fraction(numerator: bigint, denominator: bigint): Fraction {
  const divisor = greatestDivisor(numerator, denominator) * (denominator < 0n ? -1n : 1n)
  return { numerator: numerator / divisor, denominator: denominator / divisor }
}

export function times(a: Fraction, b: Fraction): Fraction {
  return fraction(a.numerator * b.numerator, a.denominator * b.denominator)
}

export function plus(a: Fraction, b: Fraction): Fraction {
  return fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator)
}

/** @returns negative if a < b, positive if a > b */
export function compared(a: Fraction, b: Fraction): number {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator
  if (difference === 0n) return 0
  return difference < 0n ? -1 : 1
}

/** Rounds to the nearest integer, ties to even. */
export function rounded({ numerator, denominator }: Fraction): bigint {
  const below = floored(numerator, denominator)
  const twice = 2n * (numerator - below * denominator)
  if (twice < denominator) return below
  if (twice > denominator) return below + 1n
  return below % 2n === 0n ? below : below + 1n
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/

/**
 * Parses plain decimal text, such as '1.0842'.
 * @returns undefined if it is anything else
 */
export function parseFraction(text: string): Fraction | undefined {
  const [, sign, units, decimals = ''] = DECIMAL.exec(text) ?? []
  if (units === undefined) return undefined
  const value = BigInt(units + decimals)
  return fraction(sign === '-' ? -value : value, 10n ** BigInt(decimals.length))
}

/** Decimal text, cut off with `…` after the given number of decimals: '12.345', '0.3333333333…'. */
export function fractionText({ numerator, denominator }: Fraction, mostDecimals = 10): string {
  const size = numerator < 0n ? -numerator : numerator
  let rest = size % denominator
  let decimals = ''
  while (rest !== 0n && decimals.length < mostDecimals) {
    rest *= 10n
    decimals += rest / denominator
    rest %= denominator
  }
  const text = `${numerator < 0n ? '-' : ''}${size / denominator}${decimals && `.${decimals}`}`
  return rest === 0n ? text : `${text}…`
}

function floored(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator
  return numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient
}

function greatestDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b]
  while (y !== 0n) [x, y] = [y, x % y]
  return x
}
