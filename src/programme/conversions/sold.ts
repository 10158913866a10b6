/** What of a payment is sold, and what is left of it. Pure. */
import { decimalsOf } from '../../base/currencies.ts'
import { type Fraction, ONE, ZERO } from '../../base/fraction.ts'
import { fromUnits, toUnits } from '../../base/money.ts'
import { type Conversion, isEarning, isPaid, isReversal } from './conversion.ts'
import { leftOf } from './left.ts'

/** The part of a payment that remains after the refunds and disputes of its sale, or of its lead if there is no sale. */
export function leftIn(payment: readonly Conversion[], of: Conversion): Fraction {
  if (duplicatesIn(payment).some(({ id }) => id === of.id)) return ZERO
  if (saleOf(payment)?.id !== of.id) return ONE
  return leftOf(BigInt(of.amount), reversalsIn(payment, of))
}

/** The refunds and disputes of a payment that are in the currency of its sale: others take nothing back. */
export const reversalsIn = <C extends Member & Sum>(
  payment: readonly C[],
  { currency }: Pick<C, 'currency'>,
): C[] => inCurrencyOfSale(payment).filter(one => isReversal(one.kind) && one.currency === currency)

type Member = Pick<Conversion, 'kind' | 'affiliate_id'>
type Sum = Pick<Conversion, 'amount' | 'currency' | 'currency_assumed'>

/**
 * The payment, where what was reported without a currency, before its sale was, is in that of the sale: the same number of
 * it. Where the currency has no such amount, it stays in the one that was assumed.
 */
export function inCurrencyOfSale<C extends Member & Sum>(payment: readonly C[]): readonly C[] {
  const currency = saleOf(payment)?.currency
  return currency === undefined ? payment : payment.map(one => inCurrency(one, currency))
}

function inCurrency<S extends Sum>(sum: S, currency: string): S {
  if (sum.currency_assumed === 0 || sum.currency === currency) return sum
  const amount = toUnits(fromUnits(sum.amount, decimalsOf(sum.currency)!), decimalsOf(currency)!)
  return amount === undefined ? sum : { ...sum, amount, currency }
}

/** The sale that refunds and disputes of a payment refer to. */
export function saleOf<C extends Member>(payment: readonly C[]): C | undefined {
  return firstOf(payment.filter(({ kind }) => isPaid(kind))) ?? firstOf(payment)
}

/** The first credited one, or the first one. */
function firstOf<C extends Member>(conversions: readonly C[]): C | undefined {
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
