/** What a referral is for. Without the record, so that the administration area can load what asks for it. */

export const saleTypes = ['sale', 'lead', 'opt-in'] as const
/** May be negative, and need no references of their own: a sale can be taken back in many parts. */
export const correctionTypes = ['refund', 'write_off'] as const
export const types = [...saleTypes, ...correctionTypes] as const
type ReferralType = (typeof types)[number]
export const isCorrection = (type: ReferralType): type is (typeof correctionTypes)[number] =>
  correctionTypes.some(one => one === type)
