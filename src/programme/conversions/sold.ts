/** What of a payment is sold, and what is left of it. Pure. */
import { type Fraction, ONE, ZERO } from '../../base/fraction.ts'
import { type Conversion, isEarning, isPaid, isTaking } from './conversion.ts'
import { leftOf } from './left.ts'

/** The part of a payment that remains after the refunds and disputes of its sale, or of its lead if there is no sale. */
export function leftIn(payment: readonly Conversion[], of: Conversion): Fraction {
  if (duplicatesIn(payment).some(({ id }) => id === of.id)) return ZERO
  if (saleOf(payment)?.id !== of.id) return ONE
  return leftOf(
    BigInt(of.amount),
    payment.filter(member => isTaking(member.kind) && member.currency === of.currency),
  )
}

/** The sale that refunds and disputes of a payment refer to. */
export function saleOf(payment: readonly Conversion[]): Conversion | undefined {
  return firstOf(payment.filter(({ kind }) => isPaid(kind))) ?? firstOf(payment)
}

/** The first credited one, or the first one. */
function firstOf(conversions: readonly Conversion[]): Conversion | undefined {
  const earning = conversions.filter(({ kind }) => isEarning(kind))
  return earning.find(({ affiliate_id }) => affiliate_id !== 0) ?? earning[0]
}

/**
 * Sales that duplicate another one of their payment, and leads that duplicate another lead: both were reported before any
 * report had both names. The payment earns once.
 */
export function duplicatesIn(payment: readonly Conversion[]): Conversion[] {
  if (payment.length < 2) return []
  const earners = new Set(earnersIn(payment))
  return payment.filter(one => isEarning(one.kind) && !earners.has(one))
}

/** The earning sale of a payment, and its earning lead. */
export const earnersIn = (payment: readonly Conversion[]): Conversion[] =>
  [true, false].flatMap(paid => firstOf(payment.filter(({ kind }) => isPaid(kind) === paid)) ?? [])
