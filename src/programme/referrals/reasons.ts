/** Why the service has made a referral a draft, or rejected it, in words that follow "because". Pure. */
import { type DraftReason, draftReasons, ENDED } from '../commission/engine.ts'
import { missingRateText } from '../commission/explanation.ts'
import type { Referral } from './referral.ts'

type Reasoned = Pick<Referral, 'status' | 'reason' | 'original_currency' | 'created_at'>

/** The reason of a referral that is rejected because nothing is left of its sale. */
export const REFUNDED = 'refunded'
/** The reason of a referral that is rejected because its sale was reported twice, and the other report earns. */
export const DUPLICATE = 'duplicate'

/** The reason of a refund that balances an amount that a person has set. */
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

/** Whether reports of its payment have rejected it, not a person. */
export const isTakenBack = ({ status, reason }: Pick<Referral, 'status' | 'reason'>): boolean =>
  status === 'rejected' && (reason === REFUNDED || reason === DUPLICATE)

/** Why a referral is a draft, or was one before a person rejected it. */
export const draftReasonOf = ({ reason }: Pick<Referral, 'reason'>): DraftReason | undefined =>
  draftReasons.find(known => known === reason)

/** The same in words; undefined if it is not, and was not, a draft. */
export function whyDraft(referral: Reasoned): string | undefined {
  const reason = draftReasonOf(referral)
  return reason && ofDrafts[reason](referral)
}

/** Why a referral has its status, in words; undefined if a person has decided it. The reason of a refund is not about its status. */
export function becauseOf(referral: Reasoned & Pick<Referral, 'type'>): string | undefined {
  if (referral.status === 'draft') return whyDraft(referral)
  return referral.status === 'rejected' && referral.type !== 'refund'
    ? ofRejections[referral.reason]
    : undefined
}
