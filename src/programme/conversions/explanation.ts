/** Explains the attribution and the earnings of a conversion, as data and as sentences. Pure. */
import { decimalsOf } from '../../base/currencies.ts'
import { amountText, decimalText, fromUnits } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { becauseOf } from '../referrals/reasons.ts'
import type { Referral } from '../referrals/referral.ts'
import { sentencesOfReversals, sentencesOfStrange } from '../referrals/reversals.ts'
import { type Candidate, candidatesOf, sentenceOf } from './attribution.ts'
import { type Conversion, isEarning, isPaid, isReversal } from './conversion.ts'
import { disputed, refunded } from './left.ts'
import type { Explanation } from './schema.ts'
import { duplicatesIn, inCurrencyOfSale, saleOf } from './sold.ts'

export interface Story {
  readonly conversion: Conversion
  /** All reports of the payment. */
  readonly payment: readonly Conversion[]
  readonly referrals: readonly Referral[]
}

/** @param refused attributions that came to be of the same payment later, and were refused */
export function explain(
  { conversion, payment: reports, referrals }: Story,
  refused: readonly Candidate[],
  settings: Settings,
): Explanation {
  const candidates = [...candidatesOf(conversion), ...refused]
  const payment = inCurrencyOfSale(reports)
  const sale = saleOf(payment)
  return {
    conversion_id: conversion.id,
    affiliate_id: conversion.affiliate_id,
    candidates: candidates.map(candidate => ({
      ...candidate,
      credited: candidate.reason === '',
      text: sentenceOf(candidate),
    })),
    payment: sale ? paymentOf(sale, payment) : {},
    referrals: referrals.map(row => ({
      referral_id: row.id,
      affiliate_id: row.affiliate_id,
      conversion_id: row.conversion_id,
      parent_id: row.parent_id,
      type: row.type,
      status: row.status,
      reason: row.reason,
      amount: fromUnits(row.amount, settings.decimals),
    })),
    sentences: [
      // Of two clicks there may be the same to say.
      ...new Set(candidates.map(sentenceOf)),
      ...(isEarning(conversion.kind) ? sentencesOfCredit(conversion, candidates, payment) : []),
      ...sentencesOfPayment(conversion, sale, payment),
      ...referrals.map(row => sentenceOfReferral(row, settings)),
    ],
  }
}

function sentencesOfCredit(
  { affiliate_id }: Conversion,
  candidates: readonly Candidate[],
  payment: readonly Conversion[],
): string[] {
  const wasCredited = candidates.some(({ reason }) => reason === '')
  const later = payment.filter(one => one.kind === 'attribution' && one.affiliate_id === affiliate_id)
  const isCustomers = later.flatMap(candidatesOf).some(({ by, reason }) => by === 'customer' && reason === '')
  const because = isCustomers ? ', because the customer belongs to them by now' : ''
  return [
    ...(candidates.length === 0 ? ['Nothing that was sent names an affiliate.'] : []),
    ...(affiliate_id === 0 ? ['Nobody is credited, so nothing is earned by it.'] : []),
    ...(affiliate_id !== 0 && !wasCredited
      ? [`Affiliate ${affiliate_id} was credited later${because}.`]
      : []),
  ]
}

function paymentOf(sale: Conversion, payment: readonly Conversion[]) {
  const decimals = decimalsOf(sale.currency)!
  const ofSale = payment.filter(({ currency }) => currency === sale.currency)
  return {
    conversion_id: sale.id,
    currency: sale.currency,
    paid: fromUnits(sale.amount, decimals),
    refunded: fromUnits(Number(refunded(ofSale)), decimals),
    disputed: fromUnits(Number(disputed(ofSale)), decimals),
    left: fromUnits(Number(remainingOf(sale, ofSale)), decimals),
  }
}

function remainingOf({ amount }: Conversion, payment: readonly Conversion[]): bigint {
  const remaining = BigInt(amount) - refunded(payment) - disputed(payment)
  return remaining < 0n ? 0n : remaining
}

function sentencesOfPayment(
  { id, kind, currency_assumed }: Conversion,
  sale: Conversion | undefined,
  payment: readonly Conversion[],
): string[] {
  if (!sale) return isEarning(kind) ? [] : ['The sale that it belongs to was not reported yet.']
  const { currency } = sale
  const text = (units: bigint | number) => `${decimalText(units, decimalsOf(currency)!)} ${currency}`
  const ofSale = payment.filter(member => member.currency === currency)
  const isAssumed = currency_assumed === 1 && ofSale.some(member => member.id === id)
  const duplicates = duplicatesIn(payment)
  const [back, open] = [refunded(ofSale), disputed(ofSale)]
  return [
    ...(isAssumed ? [`It named no currency, so it is in that of the sale, ${currency}.`] : []),
    ...(isPaid(sale.kind) || sale.amount > 0 ? [`The customer paid ${text(sale.amount)}.`] : []),
    ...(back > 0n ? [`${text(back)} was refunded.`] : []),
    ...(open > 0n ? [`${text(open)} is disputed, or was lost or cancelled.`] : []),
    ...sentencesOfReversals(ofSale.filter(one => isReversal(one.kind))),
    ...(back + open > 0n ? [leftText(sale, ofSale, text)] : []),
    ...duplicates.map(
      ({ id, kind }) =>
        `Conversion ${id} is a ${kind} of the same payment, which earns once: nothing is owed for it.`,
    ),
    ...sentencesOfStrange(
      payment.filter(one => isReversal(one.kind)),
      currency,
    ),
  ]
}

function leftText(sale: Conversion, payment: readonly Conversion[], text: (units: bigint) => string): string {
  const remaining = remainingOf(sale, payment)
  return remaining === 0n ? 'Nothing of it is left.' : `${text(remaining)} is left.`
}

function sentenceOfReferral(referral: Referral, { decimals, currency }: Settings): string {
  const { id, type, status, amount, affiliate_id } = referral
  const noun = type === 'refund' ? 'Refund' : 'Referral'
  const because = becauseOf(referral)
  return `${noun} ${id} of affiliate ${affiliate_id}: ${amountText(amount, { decimals, currency })}, ${status}${because ? `, because ${because}` : ''}.`
}
