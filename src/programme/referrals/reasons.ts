/** Why the service has made a referral a draft, or rejected it, behind "because". Pure. */
import { type DraftReason, draftReasons, ENDED } from '../commission/engine.ts'
import { missingRateText } from '../commission/explanation.ts'
import type { Referral } from './referral.ts'

type Reasoned = Pick<Referral, 'status' | 'reason' | 'original_currency' | 'created_at'>

/** Of a referral that is rejected because nothing is left of its sale. */
export const REFUNDED = 'refunded'

const ofDrafts: Readonly<Record<DraftReason, (referral: Reasoned) => string>> = {
  no_rule: () => 'no rule says what it earns',
  no_exchange_rate: ({ original_currency, created_at }) =>
    `there is ${missingRateText(original_currency, created_at)}`,
}

const ofRejections: Readonly<Record<string, string>> = {
  [REFUNDED]: 'nothing is left of the sale',
  [ENDED]: 'the rule pays for no more orders of this customer',
}

/** The reason of a draft, or of one that a person has rejected since, which is not that of the rejection. */
export const draftReasonOf = ({ reason }: Pick<Referral, 'reason'>): DraftReason | undefined =>
  draftReasons.find(known => known === reason)

export function whyDraft(referral: Reasoned): string | undefined {
  const reason = draftReasonOf(referral)
  return reason && ofDrafts[reason](referral)
}

/** Undefined where a person has decided so. */
export function becauseOf(referral: Reasoned): string | undefined {
  if (referral.status === 'draft') return whyDraft(referral)
  return referral.status === 'rejected' ? ofRejections[referral.reason] : undefined
}
