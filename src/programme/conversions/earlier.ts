/** What the earlier reports of a payment say of the next one: whether it is the same again, its currency, whether it fits. Pure. */
import { decimalsOf } from '../../base/currencies.ts'
import { Failure, refuseInvalid } from '../../base/errors.ts'
import { decimalText } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { strangeText } from '../referrals/reversals.ts'
import { type Conversion, isPaid, isReversal } from './conversion.ts'
import type { Fact } from './fact.ts'
import { MOST_MEMBERS, MOST_WITH_PARTS } from './payments.ts'
import type { CreateArguments } from './schema.ts'
import { duplicatesIn, saleOf } from './sold.ts'

/** Where none is sent: that of the same refund or dispute, else that of the sale, as far as it is known. */
export function currencyOf(
  { kind, part }: Pick<CreateArguments, 'kind' | 'part'>,
  payment: readonly Conversion[],
  settings: Settings,
): string {
  const same = isReversal(kind) ? payment.find(one => one.kind === kind && one.part === part) : undefined
  const of = same ?? (isReversal(kind) ? saleOf(payment) : undefined)
  return of?.currency ?? settings.currency
}

/** Whether a currency that is not sent is that of a sale which is yet to be reported. */
export const isCurrencyAssumed = (
  { kind, currency }: Pick<CreateArguments, 'kind' | 'currency'>,
  payment: readonly Conversion[],
): boolean => isReversal(kind) && !currency && !payment.some(one => isPaid(one.kind))

/** The earlier report of the same, under this name of the payment or another. @throws Failure conversion_exists */
export function sameAs(
  fact: Fact,
  payment: readonly Conversion[],
  { affiliate_id }: CreateArguments,
): Conversion | undefined {
  const isSameKind = ({ kind }: Conversion) => kind === fact.kind || (isPaid(kind) && isPaid(fact.kind))
  const candidates = payment.filter(member => isSameKind(member) && member.part === fact.part)
  const duplicates = new Set(duplicatesIn(payment))
  const duplicate =
    candidates.find(({ reference }) => reference === fact.reference) ??
    candidates.find(one => !duplicates.has(one))
  if (duplicate && fact.kind === 'attribution' && duplicate.affiliate_id !== affiliate_id) {
    throw credited('conversion_exists', duplicate)
  }
  return duplicate
}

/** That a report is of another amount or currency than the earlier one of the same. */
export function differenceFrom(
  same: Conversion,
  fact: Fact,
  payment: readonly Conversion[],
): Failure | undefined {
  if (same.amount === fact.amount && same.currency === fact.currency) return undefined
  const sale = isReversal(same.kind) ? saleOf(payment) : undefined
  const isStrange = sale !== undefined && sale.currency !== same.currency
  return new Failure('conversion_exists', {
    message: `Conversion ${same.id} is the ${same.kind} of this payment: it is of ${sumOf(same)}, and ${sumOf(fact)} was sent.${isStrange ? ` It ${strangeText(sale.currency)}` : ''}`,
    data: { conversion_id: same.id },
  })
}

const sumOf = ({ amount, currency }: Pick<Fact, 'amount' | 'currency'>) =>
  `${decimalText(amount, decimalsOf(currency)!)} ${currency}`

/** @param conversion what names who is credited: the sale, or an attribution, which may wait for it */
function credited(
  name: 'conversion_exists' | 'conversion_conflict',
  { id, affiliate_id }: Conversion,
): Failure {
  return new Failure(name, {
    message: `Conversion ${id} credits affiliate ${affiliate_id} for this payment already.`,
    data: { conversion_id: id, affiliate_id },
  })
}

/** @throws Failure invalid_argument, conversion_conflict */
export function refuseMisfits(fact: Fact, payment: readonly Conversion[]): void {
  refuseTooMany(fact, payment.length)
  const sale = saleOf(payment)
  if (sale && isReversal(fact.kind) && isPaid(sale.kind) && sale.currency !== fact.currency) {
    refuseInvalid({ currency: `must be ${sale.currency}, the currency of the sale.` })
  }
  // Before there is a sale, an attribution waits for it, whomever a lead is credited to.
  if (fact.kind === 'attribution' && sale && isPaid(sale.kind) && sale.affiliate_id !== 0) {
    throw credited('conversion_conflict', sale)
  }
}

/** A way to take back the rest has to stay where there are too many refunds in parts. */
function refuseTooMany({ kind, cumulative }: Fact, count: number): void {
  if (count >= MOST_MEMBERS) {
    throw new Failure('conversion_conflict', {
      message: `A payment has at most ${MOST_MEMBERS} conversions: correct its referral by hand instead.`,
    })
  }
  if (kind === 'refund' && !cumulative && count >= MOST_WITH_PARTS) {
    throw new Failure('conversion_conflict', {
      message: `From ${MOST_WITH_PARTS} conversions of a payment on, refunds of it are totals: report all that was refunded so far (cumulative) instead of a part.`,
    })
  }
}
