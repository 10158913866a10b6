/** Checks that the index from referrals to payouts agrees with the payouts. */
import type { Db } from '../../storage/database.ts'
import type { PayoutRow } from './payout.ts'
import { firstAfter, referralsOf } from './store.ts'

const ROWS_AT_ONCE = 1000

/** @returns a sentence for each payout that differs from the index */
export async function* checkReferrals(db: Db): AsyncGenerator<string> {
  for (let last = 0; ; ) {
    const rows = await firstAfter(db, last, ROWS_AT_ONCE)
    if (rows.length === 0) return
    for (const id of await outOfStep(db, rows)) {
      // The payout may have been edited between the two queries.
      const [reread] = await firstAfter(db, id - 1, 1)
      const [still] = reread?.id === id ? await outOfStep(db, [reread]) : []
      if (still) yield `payouts ${id}: its referrals are not what the index payout_referrals has.`
    }
    last = rows.at(-1)!.id
  }
}

async function outOfStep(db: Db, rows: readonly Pick<PayoutRow, 'id' | 'referrals'>[]): Promise<number[]> {
  const indexed = Map.groupBy(await referralsOf(db, rows[0]!.id, rows.at(-1)!.id), row => row.payout_id)
  return rows.flatMap(({ id, referrals }) => {
    const listedIds = referrals === '' ? [] : referrals.split(',').map(Number)
    const indexedIds = (indexed.get(id) ?? []).map(row => row.referral_id)
    return listedIds.sort((a, b) => a - b).join() === indexedIds.join() ? [] : [id]
  })
}
