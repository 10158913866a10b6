/** What a referral is for, and when it counts. Apart from the record's definition, so that the browser can load it. */

export const saleTypes = ['sale', 'lead', 'opt-in'] as const
/** May be negative, and need no unique reference, because a sale can be taken back in many parts. */
export const correctionTypes = ['refund', 'write_off'] as const
export const types = [...saleTypes, ...correctionTypes] as const
type ReferralType = (typeof types)[number]
/** Whether a referral of this type takes back or adds to others. */
export const isCorrection = (type: ReferralType): type is (typeof correctionTypes)[number] =>
  correctionTypes.some(one => one === type)

/** The statuses of what is earned. */
export const earnedStatuses = ['unpaid', 'paid'] as const
/** Whether the affiliate has earned a referral with this status. */
export const isEarned = ({ status }: { readonly status: string }): boolean =>
  earnedStatuses.some(one => one === status)
