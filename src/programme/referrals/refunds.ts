/**
 * Referrals of type refund: each takes back part of what a sale has earned, or adds to it. What is reported later is recorded as
 * one more refund; earlier ones stay as they are.
 */
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import type { Reason } from '../ledger/because.ts'
import { earn } from './changing.ts'
import { type Referral, referral } from './referral.ts'

/** What a refund takes from the report or the decision that it follows from. */
export type Cause = Pick<Referral, 'reference' | 'reference_key' | 'created_at' | 'reason' | 'conversion_id'>

/**
 * @param own the referral of the sale
 * @param amount in minor units; below 0 to take back
 */
export function recordRefund(
  tx: WriteTx,
  own: Referral,
  amount: number,
  { cause, reason, settings }: { cause: Cause; reason: Reason; settings: Settings },
): Promise<Referral> {
  const { reference, reference_key, created_at, reason: because, conversion_id } = cause
  const newRow = {
    ...referral.newRow({ campaign: own.campaign }, settings, { time: now(), actor: 0 }),
    affiliate_id: own.affiliate_id,
    visit_id: own.visit_id,
    customer_id: own.customer_id,
    parent_id: own.id,
    status: 'unpaid' as const,
    amount,
    currency: settings.currency,
    context: own.context,
    reference,
    reference_key,
    created_at,
    type: 'refund' as const,
    reason: because,
    conversion_id,
  }
  return earn(tx, newRow, settings, reason)
}
