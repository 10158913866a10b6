/** Queries the refunds and disputes of a payment, for what explains its referrals. */
import type { Db } from '../../storage/database.ts'
import type { ReportedTaking } from '../referrals/takings.ts'
import { type Conversion, isTaking, kinds } from './conversion.ts'
import type { Taking } from './left.ts'
import { inCurrencyOfSale } from './sold.ts'
import type {} from './table.ts'

/** Those that take back, and what they take it from. */
const told = kinds.filter(kind => kind !== 'attribution')

/** A sale or lead, or what takes from it. */
export type Told = ReportedTaking & Taking & Pick<Conversion, 'affiliate_id' | 'currency_assumed'>

/** The first refunds and disputes of the payment that a conversion belongs to, in order of time. */
export async function takingsOf(db: Db, conversionId: number, limit: number): Promise<Told[]> {
  const payment = await toldOf(db, conversionId, limit)
  return payment
    .filter(({ kind }) => isTaking(kind))
    .toSorted((a, b) => a.occurred_at - b.occurred_at || a.id - b.id)
}

/** What is sold by the payment that a conversion belongs to, and what is taken back of it, in order. */
export async function toldOf(db: Db, conversionId: number, limit: number): Promise<readonly Told[]> {
  const payment = await db
    .selectFrom('conversions as own')
    .innerJoin('payment_names as known', join =>
      join.onRef('known.name', '=', 'own.reference').onRef('known.context', '=', 'own.context'),
    )
    .innerJoin('payment_names as names', 'names.payment_id', 'known.payment_id')
    .innerJoin('conversions as told', join =>
      join.onRef('told.reference', '=', 'names.name').onRef('told.context', '=', 'names.context'),
    )
    .select(['told.id', 'told.kind', 'told.amount', 'told.currency', 'told.currency_assumed'])
    .select(['told.affiliate_id', 'told.cumulative', 'told.occurred_at', 'told.part'])
    .where('own.id', '=', conversionId)
    .where('told.kind', 'in', told)
    .orderBy('told.id')
    .limit(limit)
    .execute()
  return inCurrencyOfSale(payment)
}
