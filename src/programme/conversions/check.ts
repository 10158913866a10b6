/**
 * Checks that a fully refunded sale earns nothing, in however many parts and whatever order, and that all names of a
 * conversion still lead to one payment: what is reported under a name without one is credited again.
 */
import { ZERO } from '../../base/fraction.ts'
import { decimalText } from '../../base/money.ts'
import type { Check } from '../../records/feature.ts'
import { loadSettings } from '../../settings/rules.ts'
import type { Db } from '../../storage/database.ts'
import { targetOf } from '../commission/amounts.ts'
import { parseCalculation } from '../commission/calculation.ts'
import { isTakenBack } from '../referrals/reasons.ts'
import { namesAfter, paymentByName } from './names-store.ts'
import { readPayment } from './payments.ts'
import { leftIn, saleOf } from './sold.ts'
import * as store from './store.ts'

const CONVERSIONS_AT_ONCE = 500
const REVERSALS_AT_ONCE = 500

async function* checkNames(db: Db): AsyncGenerator<string> {
  for (let after = 0; ; ) {
    const conversions = await namesAfter(db, after, CONVERSIONS_AT_ONCE)
    for (const [context, named] of Map.groupBy(conversions, conversion => conversion.context)) {
      const names = [...new Set(named.flatMap(conversion => conversion.names))]
      const payments = await paymentByName(db, { context, names })
      for (const { id, names } of named) {
        const [payment, ...others] = new Set(names.map(name => payments.get(name)))
        if (payment === undefined || others.length > 0)
          yield `conversions ${id}: its names are not all of one payment in the index payment_names; restore a backup.`
      }
    }
    if (conversions.length < CONVERSIONS_AT_ONCE) return
    after = conversions.at(-1)!.id
  }
}

async function* checkRefunds(db: Db): AsyncGenerator<string> {
  const { decimals } = await loadSettings(db)
  for (let after = 0; ; ) {
    const reversals = await store.reversalsAfter(db, after, REVERSALS_AT_ONCE)
    for (const paymentId of new Set(reversals.map(({ payment_id }) => payment_id))) {
      const problem = await problemOf(db, paymentId, decimals)
      if (problem !== undefined) yield problem
    }
    if (reversals.length < REVERSALS_AT_ONCE) return
    after = reversals.at(-1)!.id
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

export const checks: readonly Check[] = [checkNames, checkRefunds]
