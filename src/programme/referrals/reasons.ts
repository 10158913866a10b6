/** Why the service has made a referral a draft, or rejected it, behind "because". Pure. */
import { type DraftReason, draftReasons, ENDED } from '../commission/engine.ts'
import { missingRateText } from '../commission/explanation.ts'
import type { Referral } from './referral.ts'

type Reasoned = Pick<Referral, 'status' | 'reason' | 'original_currency' | 'created_at'>

/** Of a referral that is rejected because nothing is left of its sale. */
export const REFUNDED = 'refunded'
/** Of a referral that is rejected because another report of its payment earns. */
export const DUPLICATE = 'duplicate'

/** Of a refund that follows from an amount that a person has set for its sale. */
export const CORRECTED = 'corrected'

const ofDrafts: Readonly<Record<DraftReason, (referral: Reasoned) => string>> = {
  no_rule: () => 'no rule says what it earns',
  no_exchange_rate: ({ original_currency, created_at }) =>
    `there is ${missingRateText(original_currency, created_at)}`,
  too_large: () => 'what is earned, or what the customer has paid, is larger than an amount can be',
}

const ofRejections: Readonly<Record<string, string>> = {
  [REFUNDED]: 'nothing is left of the sale',
  [DUPLICATE]: 'the sale was reported twice, and its payment earns once',
  [ENDED]: 'the rule pays for no more orders of this customer',
}

/** Whether the reports of its payment have rejected it, and no person. */
export const isTakenBack = ({ status, reason }: Pick<Referral, 'status' | 'reason'>): boolean =>
  status === 'rejected' && (reason === REFUNDED || reason === DUPLICATE)

/** The reason of a draft, or of one that a person has rejected since, which is not that of the rejection. */
export const draftReasonOf = ({ reason }: Pick<Referral, 'reason'>): DraftReason | undefined =>
  draftReasons.find(known => known === reason)

/** Why a referral is a draft, to stand behind "because"; undefined if the service has not made it one. */
export function whyDraft(referral: Reasoned): string | undefined {
  const reason = draftReasonOf(referral)
  return reason && ofDrafts[reason](referral)
}

/** Undefined where a person has decided so: the reason of a refund is that of its record. */
export function becauseOf(referral: Reasoned & Pick<Referral, 'type'>): string | undefined {
  if (referral.status === 'draft') return whyDraft(referral)
  return referral.status === 'rejected' && referral.type !== 'refund'
    ? ofRejections[referral.reason]
    : undefined
}
