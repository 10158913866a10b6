/** How people's decisions change a calculation: an amount that they set, and what they waive of refunds and disputes. Pure. */
import { compared, type Fraction, fraction, ONE, rounded, times, whole } from '../../base/fraction.ts'
import { largest } from '../../base/money.ts'
import { boundOf, earnedOf, mostOf, owedOf, targetOf, waivedIn, waivedOf, withoutWaived } from './amounts.ts'
import { type Calculation, coveredOf, type Waiver } from './calculation.ts'

/**
 * The calculation with a higher bound, if more is owed already: people have changed refunds, and their decisions stand.
 * @param owed sum of the referral and its refunds, in minor units
 */
export function raisedTo(calculation: Calculation, owed: bigint): Calculation {
  const most = boundOf(calculation)
  return most === undefined || owed <= most ? calculation : { ...calculation, atMost: owed }
}

/**
 * The calculation from which referrals are adjusted to a report. An amount that was set while nothing was left stands for no part
 * of the sale, so it stays as it is when a dispute is won. The next report that takes something back has to shrink it all the
 * same: it then stands for what was left before that. Of 10.00, 5.00 remain when a half was left, and a quarter is now.
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
  /** Sum of its refunds, in minor units: negative where they take back, positive where won disputes have added. */
  readonly refunds: number
  readonly isRejected: boolean
}

/**
 * The calculation after a person has set the amount of the sale's referral. If it has refunds, the amount is that before them:
 * they, and what was waived of them, change in proportion, as if the amount had been set first. Where 10.00 become 20.00 beside a
 * refund of 4.00, refunds of 8.00 are due, which `balance` of `referrals/decisions.ts` records.
 */
export function correctedBy(before: Calculation, correction: Correction): Calculation {
  const { from, to, refunds } = correction
  const calculation = before.corrected ? raisedTo(before, BigInt(from + refunds)) : withoutBound(before)
  const { waivers = [], atMost, ...rest } = calculation
  const covered = coveredOf(calculation)
  const share = shareBeside(calculation, correction)
  // There is nothing that could change in proportion.
  if (!share) return { ...rest, corrected: { amount: sumBeside(calculation, correction), left: covered } }
  const scaled = (amount: bigint) => rounded(fraction(amount * BigInt(to), BigInt(from)))
  const after = {
    ...rest,
    corrected: { amount: BigInt(to), left: share },
    ...(waivers.length > 0 && { waivers: waivers.map(one => ({ ...one, amount: scaled(one.amount) })) }),
    // Small amounts were rounded; in proportion to a much larger one, the difference would be owed.
    ...(atMost !== undefined && {
      atMost: limited(scaled(atMost), largest([atMost, BigInt(to), allOf(calculation)])),
    }),
  }
  const sum = BigInt(to) + scaled(BigInt(refunds))
  // The refunds take something back.
  if (compared(covered, share) <= 0)
    return withRest(after, sum - withoutWaived(after, covered)! - waivedIn(after))
  // They add to the referral, which stands for less than is left.
  const difference = sum - targetOf(after, covered)!
  if (difference > 0n) return withLessTaken(after, difference)
  // Without a refund there is none to balance, and what was set is all that is owed.
  return refunds === 0 && difference < 0n ? { ...after, atMost: sum } : after
}

/**
 * What a referral of 0 and its refunds come to once its amount is set. If they add to it, no more than was set or all of the sale
 * earns; but what is set of a rejected referral is to be owed besides, once it is approved.
 */
function sumBeside(calculation: Calculation, { to, refunds, isRejected }: Correction): bigint {
  const sum = BigInt(to + refunds)
  const most = boundOf(calculation)
  return most === undefined || isRejected ? sum : limited(sum, largest([most, BigInt(to)]))
}

const limited = (amount: bigint, most: bigint): bigint => (amount < most ? amount : most)

/** What the whole sale earns by its rules. */
const allOf = (calculation: Calculation): bigint =>
  calculation.result === null ? 0n : earnedOf(calculation, ONE).amount

const withoutBound = ({ atMost: _atMost, ...calculation }: Calculation): Calculation => calculation

/** Adds what rounding each waived amount has left over to the first of them, so that the referral and its refunds come to the sum. */
function withRest(calculation: Calculation, difference: bigint): Calculation {
  const [first, ...others] = calculation.waivers ?? []
  if (!first) return calculation
  return { ...calculation, waivers: [{ ...first, amount: first.amount + difference }, ...others] }
}

/**
 * A person has taken back what a won dispute gave back (a negative waiver). That has changed in proportion to the amount, which
 * itself does not grow as far with what is left (`correctedAt`): what is taken back too much for the sum is taken back no more.
 * Where 6.00 of 10.00 had become 12.00 and the other 4.00 were taken back, 12.00 are owed, and not 12.00 less 8.00.
 */
function withLessTaken(calculation: Calculation, difference: bigint): Calculation {
  const { waivers = [] } = calculation
  const taken = waivers.find(({ amount }) => amount < 0n)
  if (!taken) return calculation
  const sum = taken.amount + difference
  const amount = sum < 0n ? sum : 0n
  return { ...calculation, waivers: waivers.map(one => (one === taken ? { ...one, amount } : one)) }
}

/** The part of the sale that the referral alone stands for, if it has refunds or some were waived. */
function shareBeside(calculation: Calculation, { from, refunds }: Correction): Fraction | undefined {
  return refunds === 0 && !calculation.waivers?.length ? undefined : shareOf(calculation, BigInt(from))
}

/** The part of the sale that an amount of its referral stands for; undefined if it stands for none. */
function shareOf(calculation: Calculation, amount: bigint): Fraction | undefined {
  const { left, corrected, result } = calculation
  if (amount === 0n) return undefined
  // It is what was calculated.
  if (withoutWaived(calculation, left) === amount) return left.numerator === 0n ? undefined : left
  // It has grown to all that the sale earns.
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
 * The same, so that what is owed changes by as much as the person has changed the refund: the bound is moved, where it would keep
 * more or less from being owed. Only a refund that is put back may take too much: what was waived of it beyond the bound was never
 * owed, so less is to be taken back, and another referral has to add the difference.
 * @param of `isAddition`: whether it concerns a referral that adds to that of the sale; `isSet`: whether its amount was changed
 * @returns `missing`: what the other referral has to add
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

/**
 * What a person gives by changing the amount of a refund is owed in addition, even once all that is taken back at the time is
 * left again: it raises the bound. If the amount of the sale's referral was set, that says how much is owed.
 */
function withGiven(calculation: Calculation, amount: bigint): Calculation {
  const most = boundOf(calculation)
  if (calculation.corrected || most === undefined || amount === 0n) return calculation
  return { ...calculation, atMost: most + amount }
}

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
    const stays = one.amount < rest ? one.amount : rest
    const amount = stays > 0n ? stays : 0n
    rest -= amount
    return { ...one, amount }
  })
  return { ...calculation, waivers: after.filter(({ amount }) => amount !== 0n) }
}
