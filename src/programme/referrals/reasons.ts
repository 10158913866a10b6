/** Why the service has made a referral a draft, or rejected it, behind "because". Pure. */
import { missingRateText } from '../commission/explanation.ts'
import type { Referral } from './referral.ts'

type Reasoned = Pick<Referral, 'status' | 'reason' | 'original_currency' | 'created_at'>

const ofDrafts: Readonly<Record<string, (referral: Reasoned) => string>> = {
  no_rule: () => 'no rule says what it earns',
  no_exchange_rate: ({ original_currency, created_at }) =>
    `there is ${missingRateText(original_currency, created_at)}`,
}

const ofRejections: Readonly<Record<string, string>> = {
  refunded: 'nothing is left of the sale',
  ended: 'the rule pays for no more orders of this customer',
}

/** A draft that a person has rejected keeps this reason, which is not that of the rejection. */
export const whyDraft = (referral: Reasoned): string | undefined => ofDrafts[referral.reason]?.(referral)

/** Undefined where a person has decided so. */
export function becauseOf(referral: Reasoned): string | undefined {
  if (referral.status === 'draft') return whyDraft(referral)
  return referral.status === 'rejected' ? ofRejections[referral.reason] : undefined
}
