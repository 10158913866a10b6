/** Queries the refunds and disputes of a payment, for what explains its referrals. */
import type { Db } from '../../storage/database.ts'
import type { ReportedTaking } from '../referrals/takings.ts'
import { isTaking, kinds } from './conversion.ts'
import type { Taking } from './left.ts'
import { inCurrencyOfSale } from './sold.ts'
import type {} from './table.ts'

/** Those that take back, and what they take it from. */
const told = kinds.filter(kind => kind !== 'attribution')

/** The first refunds and disputes of the payment that a conversion belongs to, in order of time. */
export async function takingsOf(
  db: Db,
  conversionId: number,
  limit: number,
): Promise<(ReportedTaking & Taking)[]> {
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
    .filter(({ kind }) => isTaking(kind))
    .toSorted((a, b) => a.occurred_at - b.occurred_at || a.id - b.id)
}
