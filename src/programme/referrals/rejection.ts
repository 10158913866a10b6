/** What a person has said of why a referral is rejected: it is about the affiliate, and ends with the rejection. */
import type { Referral } from './referral.ts'

/** It ends with the rejection, and where another affiliate has earned it, of whom nothing was said yet. */
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
