/** Whether what was taken back whole earns nothing any more, in however many parts and whichever order. */
import { decimalText } from '../../base/money.ts'
import type { Check } from '../../records/feature.ts'
import { loadSettings } from '../../settings/rules.ts'
import type { Db } from '../../storage/database.ts'
import { leftIn, MOST_MEMBERS, saleOf } from './earning.ts'
import * as store from './store.ts'

const TAKINGS_AT_ONCE = 500

async function* checkRefunds(db: Db): AsyncGenerator<string> {
  const { decimals } = await loadSettings(db)
  for (let after = 0; ; ) {
    const takings = await store.takingsAfter(db, after, TAKINGS_AT_ONCE)
    for (const paymentId of new Set(takings.map(({ payment_id }) => payment_id))) {
      const problem = await problemOf(db, paymentId, decimals)
      if (problem !== undefined) yield problem
    }
    if (takings.length < TAKINGS_AT_ONCE) return
    after = takings.at(-1)!.id
  }
}

async function problemOf(db: Db, paymentId: string, decimals: number): Promise<string | undefined> {
  const payment = await store.membersOf(db, paymentId, MOST_MEMBERS)
  const sale = saleOf(payment)
  if (!sale || leftIn(payment, sale).numerator !== 0n) return undefined
  const referrals = await store.referralsOf(
    db,
    payment.map(({ id }) => id),
  )
  const own = referrals.find(({ conversion_id, parent_id }) => conversion_id === sale.id && parent_id === 0)
  // What a person has decided about it stands.
  if (!own || own.calculation === '' || own.status === 'draft') return undefined
  if (own.status === 'rejected' && own.reason !== 'refunded') return undefined
  const sum = referrals
    .filter(({ id, parent_id, status }) => (id === own.id || parent_id === own.id) && status !== 'rejected')
    .reduce((all, { amount }) => all + amount, 0)
  if (sum === 0) return undefined
  return `conversions ${sale.id}: nothing is left of the sale, and ${decimalText(sum, decimals)} stands because of it (referral ${own.id}).`
}

export const checks: readonly Check[] = [checkRefunds]
