/**
 * Attribution: decides who is credited for a sale. Pure: the claims by shop, customer, coupon and clicks are looked up
 * elsewhere.
 */
import { foldCase } from '../../base/text.ts'
import { mailboxOf } from './mailbox.ts'

/** Bases of claims, in order of precedence. */
export const bys = ['affiliate', 'customer', 'coupon', 'click', 'visit', 'attribution'] as const
type By = (typeof bys)[number]

/** Why a claim is rejected. */
type Reason =
  | 'unknown_affiliate'
  | 'inactive'
  | 'self_referral'
  | 'unknown_coupon'
  | 'inactive_coupon'
  | 'unknown_visit'
  | 'foreign_click'
  | 'cut_click'
  | 'forged_click'
  | 'expired'
  | 'after_sale'
  | 'earlier_claim'

/** An affiliate's claim, or evidence that names nobody. */
export interface Claim {
  readonly by: By
  /** 0 if it names nobody. */
  readonly affiliateId: number
  /** Rejects the claim before the affiliate is looked up. */
  readonly reason?: Reason
}

/** The columns of an affiliate that decide a claim. */
export interface Claimant {
  readonly id: number
  readonly user_id: number
  readonly status: string
  readonly payment_email_key: string
  readonly email_key: string
}

/** The customer, as far as known. */
export interface Buyer {
  readonly userId: number | null
  /** Folded. */
  readonly emails: readonly string[]
}

export interface Candidate {
  readonly by: By
  readonly affiliate_id: number
  readonly reason: Reason | ''
}

/** The claims that were weighed when the conversion was reported. */
export const candidatesOf = ({ candidates }: { readonly candidates: string }): Candidate[] =>
  candidates === '' ? [] : JSON.parse(candidates)

/** Whether it claims the sale: a click token or a visit that cannot be one names nobody, and is as good as none. */
export const isClaim = ({ by, affiliate_id }: Candidate): boolean => affiliate_id !== 0 || by === 'coupon'

/**
 * The first claim without an objection.
 * @param claims in order of precedence
 * @param buyers the customer, as each report of the sale names them
 */
export function attribute(
  claims: readonly Claim[],
  claimants: ReadonlyMap<number, Claimant>,
  buyers: readonly Buyer[],
): { readonly affiliateId: number; readonly candidates: readonly Candidate[] } {
  let credited: Claim | undefined
  const candidates = claims.map((claim): Candidate => {
    const reason = objection(claim, claimants.get(claim.affiliateId), buyers)
    const wins = reason === undefined && credited === undefined
    if (wins) credited = claim
    return {
      by: claim.by,
      affiliate_id: claim.affiliateId,
      reason: wins ? '' : (reason ?? 'earlier_claim'),
    }
  })
  return { affiliateId: credited?.affiliateId ?? 0, candidates }
}

function objection(
  claim: Claim,
  claimant: Claimant | undefined,
  buyers: readonly Buyer[],
): Reason | undefined {
  if (claim.reason) return claim.reason
  if (!claimant) return 'unknown_affiliate'
  if (claimant.status !== 'active') return 'inactive'
  return buyers.some(buyer => hasBought(claimant, buyer)) ? 'self_referral' : undefined
}

/** Whether someone has bought through their own link. */
export function hasBought(
  { user_id, payment_email_key, email_key }: Claimant,
  { userId, emails }: Buyer,
): boolean {
  if (userId !== null && userId === user_id) return true
  const mailboxes = emails.filter(email => email !== '').map(mailboxOf)
  if (mailboxes.length === 0) return false
  const own = new Set([payment_email_key, email_key].filter(email => email !== '').map(mailboxOf))
  return mailboxes.some(mailbox => own.has(mailbox))
}

/** Who has bought. @param customer the customer, if known @param email the address that was sent */
export function buyerOf(
  customer: { readonly user_id: number | null; readonly email_key: string } | undefined,
  email = '',
): Buyer {
  return { userId: customer?.user_id ?? null, emails: [foldCase(email), customer?.email_key ?? ''] }
}

const subjects: Readonly<Record<By, string>> = {
  affiliate: 'The sender has named affiliate',
  customer: 'The customer belongs to affiliate',
  coupon: 'The coupon is of affiliate',
  click: 'The click was on a link of affiliate',
  visit: 'The visit was through a link of affiliate',
  attribution: 'The attribution names affiliate',
}

const objections: Readonly<Record<Reason, string>> = {
  unknown_affiliate: 'who does not exist (any more)',
  inactive: 'who is not active',
  self_referral: 'who is the customer',
  unknown_coupon: '',
  inactive_coupon: 'and is not active',
  unknown_visit: '',
  foreign_click: '',
  cut_click: '',
  forged_click: '',
  expired: 'and is older than the window',
  after_sale: 'and came after the sale',
  earlier_claim: 'and another claim takes precedence',
}

const nothings: Partial<Record<Reason, string>> = {
  unknown_coupon: 'The coupon is not one of the programme.',
  unknown_visit: 'The visit does not exist (any more).',
  foreign_click:
    'The click token is foreign: it was not made by this service, or by a key that was taken back.',
  cut_click: 'The click token is cut: its end is missing.',
  forged_click: 'The click token is forged: it is not what this service has signed.',
  expired: 'The click is older than the window.',
}

/** A candidate as a sentence. */
export function sentenceOf({ by, affiliate_id, reason }: Candidate): string {
  if (affiliate_id === 0) return (reason && nothings[reason]) || 'It names nobody.'
  const who = `${subjects[by]} ${affiliate_id}`
  return reason === '' ? `${who}, who is credited.` : `${who}, ${objections[reason]}.`
}
