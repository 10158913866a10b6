/** Queries the refunds and disputes of a payment, for what explains its referrals. */
import type { Db } from '../../storage/database.ts'
import type { ReportedReversal } from '../referrals/reversals.ts'
import { type Conversion, isReversal, kinds } from './conversion.ts'
import type { Reversal } from './left.ts'
import { inCurrencyOfSale } from './sold.ts'
import type {} from './table.ts'

/** What is sold, and what is taken back of it. */
const kindsWithAmounts = kinds.filter(kind => kind !== 'attribution')

/** A sale or lead, or a refund, a dispute or its end, with amounts in the minor unit of its currency. */
export type PaymentReport = ReportedReversal &
  Reversal &
  Pick<Conversion, 'affiliate_id' | 'currency_assumed'>

/** The refunds and disputes of the payment that a conversion belongs to, in order of time. @param limit of all reports that are read */
export async function reversalsOf(db: Db, conversionId: number, limit: number): Promise<PaymentReport[]> {
  const payment = await reportsOfPayment(db, conversionId, limit)
  return payment
    .filter(({ kind }) => isReversal(kind))
    .toSorted((a, b) => a.occurred_at - b.occurred_at || a.id - b.id)
}

/** What was reported of the payment that a conversion belongs to, in order of identifier, at most `limit` reports. */
export async function reportsOfPayment(
  db: Db,
  conversionId: number,
  limit: number,
): Promise<readonly PaymentReport[]> {
  const payment = await db
    .selectFrom('conversions as own')
    .innerJoin('payment_names as known', join =>
      join.onRef('known.name', '=', 'own.reference').onRef('known.context', '=', 'own.context'),
    )
    .innerJoin('payment_names as names', 'names.payment_id', 'known.payment_id')
    .innerJoin('conversions as report', join =>
      join.onRef('report.reference', '=', 'names.name').onRef('report.context', '=', 'names.context'),
    )
    .select(['report.id', 'report.kind', 'report.amount', 'report.currency', 'report.currency_assumed'])
    .select(['report.affiliate_id', 'report.cumulative', 'report.occurred_at', 'report.part'])
    .where('own.id', '=', conversionId)
    .where('report.kind', 'in', kindsWithAmounts)
    .orderBy('report.id')
    .limit(limit)
    .execute()
  return inCurrencyOfSale(payment)
}
