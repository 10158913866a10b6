/** Checks that a fully refunded sale earns nothing, in however many parts and whatever order. */
import { ZERO } from '../../base/fraction.ts'
import { decimalText } from '../../base/money.ts'
import type { Check } from '../../records/feature.ts'
import { loadSettings } from '../../settings/rules.ts'
import type { Db } from '../../storage/database.ts'
import { parseCalculation, targetOf } from '../commission/calculation.ts'
import { isTakenBack } from '../referrals/reasons.ts'
import { readPayment } from './payments.ts'
import { leftIn, saleOf } from './sold.ts'
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
  const { members: payment } = await readPayment(db, paymentId)
  const sale = saleOf(payment)
  if (!sale || leftIn(payment, sale).numerator !== 0n) return undefined
  const referrals = await store.referralsOf(db, paymentId)
  const referralOfSale = referrals.find(
    ({ conversion_id, parent_id }) => conversion_id === sale.id && parent_id === 0,
  )
  // A person's decision stands.
  if (!referralOfSale || referralOfSale.calculation === '' || referralOfSale.status === 'draft')
    return undefined
  if (referralOfSale.status === 'rejected' && !isTakenBack(referralOfSale)) return undefined
  const sum = referrals
    .filter(
      ({ id, parent_id, status }) =>
        // The amount that a rejected one has was entered by a person, and is part of the target.
        id === referralOfSale.id || (parent_id === referralOfSale.id && status !== 'rejected'),
    )
    .reduce((total, { amount }) => total + amount, 0)
  const calculation = parseCalculation(referralOfSale.calculation)!
  const target = targetOf(calculation, ZERO)
  if (target === undefined || BigInt(sum) === target) return undefined
  return `conversions ${sale.id}: nothing is left of the sale, and ${decimalText(sum, decimals)} stands because of it (referral ${referralOfSale.id}).`
}

export const checks: readonly Check[] = [checkRefunds]
