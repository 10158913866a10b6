/** Queries specific to exchange rates: which one applies. */
import { storeOf } from '../../records/store.ts'
import type { Db } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import { type ExchangeRate, exchangeRate } from './exchange-rate.ts'

export const exchangeRates = storeOf(exchangeRate)

const newest = prepared((db: Db, { from, to, at }: { from: string; to: string; at: number }) =>
  db
    .selectFrom('exchange_rates')
    .selectAll()
    .where('from_currency', '=', from)
    .where('to_currency', '=', to)
    .where('valid_from', '<=', at)
    .orderBy('valid_from', 'desc')
    .limit(1),
)

/** The latest rate that is not after a time. */
export async function rateAt(
  db: Db,
  of: { readonly from: string; readonly to: string; readonly at: number },
): Promise<ExchangeRate | undefined> {
  return (await newest(db, of))[0]
}
