/** What a calculation comes to, and how people's decisions change that. Pure. */
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
import { type AppliedRate, type Calculation, coveredOf, type Waiver } from './calculation.ts'
import { exchangeOf, type Judgement, totalOf } from './engine.ts'

/** Earnings of the remaining part of the sale, at the original rates. */
export function earnedOf({ parts, exchange }: Calculation, left: Fraction): Judgement {
  return totalOf(parts, exchange ? factorOf(exchange) : ONE, left)
}

/** The sum that people have waived. */
export const waivedIn = ({ waivers = [] }: Calculation): bigint =>
  waivers.reduce((sum, { amount }) => sum + amount, 0n)

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

/**
 * The most that is owed including waived amounts: what the whole sale earns, if people have not made it more. An amount that was
 * set grows when a dispute is won, and may stand for the whole sale before all of it is left; and if disputes take more than is
 * left together, all of them may be waived before only some end.
 */
const boundOf = (calculation: Calculation): bigint | undefined => calculation.atMost ?? mostOf(calculation)

/**
 * The calculation with a higher bound, if more is owed already: people have changed refunds, and their decisions stand.
 * @param owed sum of the referral and its refunds, in minor units
 */
export function raisedTo(calculation: Calculation, owed: bigint): Calculation {
  const most = boundOf(calculation)
  return most === undefined || owed <= most ? calculation : { ...calculation, atMost: owed }
}

/** What the whole sale is worth, without waived amounts; undefined while a rate or a rule is missing. */
export const mostOf = (calculation: Calculation): bigint | undefined => withoutWaived(calculation, ONE)

/** The same for a part of the sale. */
export function withoutWaived(calculation: Calculation, left: Fraction): bigint | undefined {
  const { corrected, result } = calculation
  if (corrected) return rounded(correctedAt(calculation, corrected, left))
  return result === null ? undefined : earnedOf(calculation, left).amount
}

/** What a part of the sale is worth if an amount that was set grows without bounds: waived amounts are measured in this. */
export function unboundedOf(calculation: Calculation, left: Fraction): bigint | undefined {
  const { corrected } = calculation
  if (!corrected || corrected.left.numerator === 0n) return withoutWaived(calculation, left)
  return rounded(scaledTo(corrected, left))
}

const scaledTo = ({ amount, left: then }: NonNullable<Calculation['corrected']>, left: Fraction): Fraction =>
  times(whole(amount), fraction(left.numerator * then.denominator, left.denominator * then.numerator))

function correctedAt(
  calculation: Calculation,
  corrected: NonNullable<Calculation['corrected']>,
  left: Fraction,
): Fraction {
  const { amount, left: then } = corrected
  const set = whole(amount)
  // With nothing left, the corrected amount was a gift and stays, see `anchored`.
  if (then.numerator === 0n) return set
  const scaled = scaledTo(corrected, left)
  if (compared(left, then) <= 0) return scaled
  // What was set when little was left may stand for all of the sale already.
  const earned = calculation.result === null ? set : earnedOf(calculation, left).exact
  const [least, most] = compared(set, earned) < 0 ? [set, earned] : [earned, set]
  if (compared(scaled, least) < 0) return least
  return compared(scaled, most) > 0 ? most : scaled
}

/**
 * The calculation from which referrals are adjusted to a report. An amount that was set while nothing was left stays as it is
 * when a dispute is won. The next report that takes something back shrinks it in proportion to what was left before.
 * @param left the part of the sale that remains
 */
export function anchored(calculation: Calculation, left: Fraction): Calculation {
  const { corrected } = calculation
  const before = coveredOf(calculation)
  if (corrected?.left.numerator !== 0n || compared(left, before) >= 0) return calculation
  return { ...calculation, corrected: { ...corrected, left: before } }
}

interface Correction {
  /** The amount of the referral before and after, in minor units. */
  readonly from: number
  readonly to: number
  /** Sum of its refunds, in minor units. */
  readonly refunds: number
}

/**
 * The calculation after a person has set the amount. If the referral has refunds, the amount is that of the sale before them:
 * they, and what was waived of them, shrink or grow in proportion, as if the amount had been set first.
 */
export function correctedBy(before: Calculation, correction: Correction): Calculation {
  const { from, to, refunds } = correction
  const calculation = before.corrected ? raisedTo(before, BigInt(from + refunds)) : withoutBound(before)
  const { waivers = [], atMost, ...rest } = calculation
  const covered = coveredOf(calculation)
  const share = shareBeside(calculation, correction)
  if (!share) return { ...rest, corrected: { amount: BigInt(to + refunds), left: covered } }
  const scaled = (amount: bigint) => rounded(fraction(amount * BigInt(to), BigInt(from)))
  const after = {
    ...rest,
    corrected: { amount: BigInt(to), left: share },
    ...(waivers.length > 0 && { waivers: waivers.map(one => ({ ...one, amount: scaled(one.amount) })) }),
    ...(atMost !== undefined && { atMost: scaled(atMost) }),
  }
  const sum = BigInt(to) + scaled(BigInt(refunds))
  if (compared(covered, share) <= 0)
    return withRest(after, sum - withoutWaived(after, covered)! - waivedIn(after))
  const difference = sum - targetOf(after, covered)!
  if (difference > 0n) return withLessTaken(after, difference)
  return refunds === 0 && difference < 0n ? { ...after, atMost: sum } : after
}

const withoutBound = ({ atMost: _atMost, ...calculation }: Calculation): Calculation => calculation

/** Adds the difference that rounding leaves to the first waived amount, so that all of them come to the sum. */
function withRest(calculation: Calculation, difference: bigint): Calculation {
  const [first, ...others] = calculation.waivers ?? []
  if (!first) return calculation
  return { ...calculation, waivers: [{ ...first, amount: first.amount + difference }, ...others] }
}

/**
 * If more of the sale is left than the amount that was set stands for, because a person has taken back the rest, no more stays
 * taken back than the sum requires. Any difference of its refunds from their share is balanced by a refund.
 */
function withLessTaken(calculation: Calculation, difference: bigint): Calculation {
  const { waivers = [] } = calculation
  const taken = waivers.find(({ amount }) => amount < 0n)
  if (!taken) return calculation
  const sum = taken.amount + difference
  const amount = sum < 0n ? sum : 0n
  return { ...calculation, waivers: waivers.map(one => (one === taken ? { ...one, amount } : one)) }
}

/** What was waived of a report; undefined if nothing was. */
export const waivedOf = ({ waivers = [] }: Calculation, conversion: number): bigint | undefined =>
  waivers.find(one => one.conversion === conversion)?.amount

/** The part of the sale that a referral stands for, if it has refunds or some were waived. */
function shareBeside(calculation: Calculation, { from, refunds }: Correction): Fraction | undefined {
  return refunds === 0 && !calculation.waivers?.length ? undefined : shareOf(calculation, BigInt(from))
}

/** The part of the sale that a referral stands for without its refunds; undefined if it stands for none. */
function shareOf(calculation: Calculation, amount: bigint): Fraction | undefined {
  const { left, corrected, result } = calculation
  if (amount === 0n) return undefined
  if (withoutWaived(calculation, left) === amount) return left.numerator === 0n ? undefined : left
  if (corrected && amount > corrected.amount && amount === mostOf(calculation)) return ONE
  const of = corrected
    ? { exact: whole(corrected.amount), left: corrected.left }
    : result && wholeOf(calculation)
  if (!of || of.exact.numerator <= 0n || of.left.numerator === 0n) return undefined
  const share = times(of.left, fraction(amount * of.exact.denominator, of.exact.numerator))
  return compared(share, ONE) > 0 ? ONE : share
}

const wholeOf = (calculation: Calculation) => ({ exact: earnedOf(calculation, ONE).exact, left: ONE })

/** The calculation after a person has waived something more of a report. */
export function waivedBy(calculation: Calculation, { conversion, amount }: Waiver): Calculation {
  const { waivers = [] } = calculation
  const others = waivers.filter(one => one.conversion !== conversion)
  const sum = amount + (waivedOf(calculation, conversion) ?? 0n)
  return {
    ...calculation,
    waivers: sum === 0n ? others : [...others, { conversion, amount: sum }],
  }
}

/**
 * The same, so that what is owed changes by exactly the waived amount. What was waived beyond all that the sale earns adds
 * nothing to what is owed: if a refund of that is reinstated, it takes back too much.
 * @param of `isAddition`: whether it concerns a referral that adds to that of the sale; `isSet`: whether its amount was changed
 * @returns `missing`: what a further referral has to add, so that all of them come to what is owed
 */
export function waivedAsOwed(
  before: Calculation,
  decision: Waiver,
  of: { readonly isAddition: boolean; readonly isSet: boolean },
): { waived: Calculation; missing: bigint } {
  const given = of.isSet && decision.amount > 0n ? decision.amount : 0n
  const [was, waived] = [owedOf(before), waivedBy(withGiven(before, given), decision)]
  if (was === undefined) return { waived, missing: 0n }
  const owed = was + decision.amount
  const missing = owedOf(waived)! - owed
  if (missing === 0n || (missing > 0n && !of.isAddition)) return { waived, missing }
  return { waived: { ...waived, atMost: owed }, missing: 0n }
}

/** If no amount was set, what a person gives by changing a refund is owed, whatever else is taken back at the time. */
function withGiven(calculation: Calculation, amount: bigint): Calculation {
  const most = boundOf(calculation)
  if (calculation.corrected || most === undefined || amount === 0n) return calculation
  return { ...calculation, atMost: most + amount }
}

/** What is owed for the referral and its refunds together, in minor units. */
export const owedOf = (calculation: Calculation): bigint | undefined =>
  targetOf(calculation, coveredOf(calculation))

/**
 * The calculation without what was waived of reports that no longer take back as much.
 * @param isOver whether a report, by the identifier of its conversion, is one of them
 * @param most how much of their waived amounts stays waived
 */
export function withoutWaivers(
  calculation: Calculation,
  isOver: (conversion: number) => boolean,
  most = 0n,
): Calculation {
  const { waivers = [] } = calculation
  if (!waivers.some(({ conversion }) => isOver(conversion))) return calculation
  let rest = most
  const after = waivers.map(one => {
    if (!isOver(one.conversion)) return one
    const least = one.amount < rest ? one.amount : rest
    const amount = least > 0n ? least : 0n
    rest -= amount
    return { ...one, amount }
  })
  return { ...calculation, waivers: after.filter(({ amount }) => amount !== 0n) }
}

/** Value of one minor unit of the other currency. */
export function factorOf({ rate, from, to }: Pick<AppliedRate, 'rate' | 'from' | 'to'>): Fraction {
  return exchangeOf(parseFraction(rate)!, decimalsOf(from)!, decimalsOf(to)!)
}
