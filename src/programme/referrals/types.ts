/** What a referral is for, and when it counts. Without the record, so that the administration area can load what asks for it. */

export const saleTypes = ['sale', 'lead', 'opt-in'] as const
/** May be negative, and need no references of their own: a sale can be taken back in many parts. */
export const correctionTypes = ['refund', 'write_off'] as const
export const types = [...saleTypes, ...correctionTypes] as const
type ReferralType = (typeof types)[number]
export const isCorrection = (type: ReferralType): type is (typeof correctionTypes)[number] =>
  correctionTypes.some(one => one === type)

/** The statuses of what is earned. */
export const earnedStatuses = ['unpaid', 'paid'] as const
export const isEarned = ({ status }: { readonly status: string }): boolean =>
  earnedStatuses.some(one => one === status)
