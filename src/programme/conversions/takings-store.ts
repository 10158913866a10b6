/** Queries the refunds and disputes of a payment, for what explains its referrals. */
import type { Db } from '../../storage/database.ts'
import type { ReportedTaking } from '../referrals/takings.ts'
import { isTaking, kinds } from './conversion.ts'
import type { Taking } from './left.ts'
import type {} from './table.ts'

const takings = kinds.filter(isTaking)

/** The first refunds and disputes of the payment that a conversion belongs to. */
export async function takingsOf(
  db: Db,
  conversionId: number,
  limit: number,
): Promise<(ReportedTaking & Taking)[]> {
  return db
    .selectFrom('conversions as own')
    .innerJoin('payment_names as known', join =>
      join.onRef('known.name', '=', 'own.reference').onRef('known.context', '=', 'own.context'),
    )
    .innerJoin('payment_names as names', 'names.payment_id', 'known.payment_id')
    .innerJoin('conversions as taking', join =>
      join.onRef('taking.reference', '=', 'names.name').onRef('taking.context', '=', 'names.context'),
    )
    .select(['taking.id', 'taking.kind', 'taking.amount', 'taking.currency'])
    .select(['taking.cumulative', 'taking.occurred_at', 'taking.part'])
    .where('own.id', '=', conversionId)
    .where('taking.kind', 'in', takings)
    .orderBy('taking.occurred_at')
    .orderBy('taking.id')
    .limit(limit)
    .execute()
}
