/** What a calculation comes to. Pure. How people's decisions change it is in `decisions.ts`. */
import { decimalsOf } from '../../base/currencies.ts'
import {
  compared,
  type Fraction,
  fraction,
  ONE,
  parseFraction,
  rounded,
  times,
  whole,
} from '../../base/fraction.ts'
import { type AppliedRate, type Calculation, coveredOf } from './calculation.ts'
import { exchangeOf, type Judgement, totalOf } from './engine.ts'

/** Earnings of the remaining part of the sale, at the original rates. */
export function earnedOf({ parts, exchange }: Calculation, left: Fraction): Judgement {
  return totalOf(parts, exchange ? factorOf(exchange) : ONE, left)
}

/** The sum that people have waived. */
export const waivedIn = ({ waivers = [] }: Calculation): bigint =>
  waivers.reduce((sum, { amount }) => sum + amount, 0n)

/** What was waived of a report; undefined if nothing was. */
export const waivedOf = ({ waivers = [] }: Calculation, conversion: number): bigint | undefined =>
  waivers.find(one => one.conversion === conversion)?.amount

/**
 * Target sum of the referral and its refunds, including people's decisions: an amount corrected by hand shrinks with the
 * sale like any other, and grows with it up to what the rules give; waived amounts stay waived.
 * @param left the part of the sale that remains
 * @returns minor units; undefined while a rate or a rule is missing
 */
export function targetOf(calculation: Calculation, left: Fraction): bigint | undefined {
  const own = withoutWaived(calculation, left)
  if (own === undefined) return undefined
  const [owed, most] = [own + waivedIn(calculation), boundOf(calculation)]
  return most !== undefined && owed > most ? most : owed
}

/** What is owed for the referral and its refunds together, in minor units. */
export const owedOf = (calculation: Calculation): bigint | undefined =>
  targetOf(calculation, coveredOf(calculation))

/**
 * The most that is owed, waived amounts included: what the whole sale earns, unless people have made it another sum. Without it,
 * what was waived could come on top of all that the sale earns: an amount that was set while little was left may come to that
 * before the rest is left again (`correctedAt`), and of disputes that together take more than there is, all may be waived before
 * one ends.
 */
export const boundOf = (calculation: Calculation): bigint | undefined =>
  calculation.atMost ?? mostOf(calculation)

/** What the whole sale is worth, without waived amounts; undefined while a rate or a rule is missing. */
export const mostOf = (calculation: Calculation): bigint | undefined => withoutWaived(calculation, ONE)

/** The same for a part of the sale. */
export function withoutWaived(calculation: Calculation, left: Fraction): bigint | undefined {
  const { corrected, result } = calculation
  if (corrected) return rounded(correctedAt(calculation, corrected, left))
  return result === null ? undefined : earnedOf(calculation, left).amount
}

/** What a part of the sale is worth if an amount that was set grows without bounds, as waived amounts have been measured. */
export function unboundedOf(calculation: Calculation, left: Fraction): bigint | undefined {
  const { corrected } = calculation
  if (!corrected || corrected.left.numerator === 0n) return withoutWaived(calculation, left)
  return rounded(scaledTo(corrected, left))
}

/** What was set, in proportion to what is left. */
const scaledTo = ({ amount, left: then }: NonNullable<Calculation['corrected']>, left: Fraction): Fraction =>
  times(whole(amount), fraction(left.numerator * then.denominator, left.denominator * then.numerator))

/**
 * What an amount that was set is worth when another part of the sale is left. It shrinks in proportion, and grows so up to what
 * the rules give; if it was more than that already, it stays.
 */
function correctedAt(
  calculation: Calculation,
  corrected: NonNullable<Calculation['corrected']>,
  left: Fraction,
): Fraction {
  const { amount, left: then } = corrected
  const set = whole(amount)
  // Set while nothing was left, it was a gift and stays, see `anchored`.
  if (then.numerator === 0n) return set
  const scaled = scaledTo(corrected, left)
  if (compared(left, then) <= 0) return scaled
  const earned = calculation.result === null ? set : earnedOf(calculation, left).exact
  const [least, most] = compared(set, earned) < 0 ? [set, earned] : [earned, set]
  if (compared(scaled, least) < 0) return least
  return compared(scaled, most) > 0 ? most : scaled
}

/** Value of one minor unit of the other currency. */
export function factorOf({ rate, from, to }: Pick<AppliedRate, 'rate' | 'from' | 'to'>): Fraction {
  return exchangeOf(parseFraction(rate)!, decimalsOf(from)!, decimalsOf(to)!)
}
