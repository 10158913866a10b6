/** The reason that a person has given for a rejection. It is about the affiliate. */
import type { Referral } from './referral.ts'

/** Removes the reason with the end of the rejection, and when the referral is moved to another affiliate without a new reason. */
export function endOfRejection(
  before: Pick<Referral, 'status' | 'affiliate_id'>,
  {
    status = before.status,
    affiliate_id = before.affiliate_id,
    rejection_reason,
  }: Partial<Pick<Referral, 'status' | 'affiliate_id' | 'rejection_reason'>>,
) {
  const isOver = before.status === 'rejected' && status !== 'rejected'
  const isOfAnother = affiliate_id !== before.affiliate_id && rejection_reason === undefined
  return isOver || isOfAnother ? { rejection_reason: '' } : {}
}
