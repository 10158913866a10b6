/** Finds the claims to a sale, and credits whom they name. */
import type { Settings } from '../../base/settings.ts'
import { DAY_SECONDS } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { findByCode } from '../coupons/store.ts'
import { readToken } from '../tracking/keys.ts'
import { idByNonce } from '../visits/store.ts'
import { attribute, type Buyer, buyerOf, type Candidate, type Claim, candidatesOf } from './attribution.ts'
import { type Conversion, isEarning } from './conversion.ts'
import { type Purchase, saveCustomer } from './customers.ts'
import { customerById } from './customers-store.ts'
import type { Fact } from './fact.ts'
import type { Payment } from './payments.ts'
import type { CreateArguments } from './schema.ts'
import * as store from './store.ts'

/** The claims to a sale, and the visits they come from. */
export interface Origins {
  /** In order of precedence. */
  readonly claims: readonly Claim[]
  /** By affiliate: the campaign of one affiliate's click has not led to what another one is credited for. */
  readonly campaigns: ReadonlyMap<number, string>
  /** Visits of the clicks, by affiliate. */
  readonly visits: ReadonlyMap<number, number>
}

/** What led to a sale: that of whoever is credited; where nobody is, the first visit. */
export function creditedOrigin(
  { campaigns, visits }: Origins,
  affiliateId: number,
): Pick<Conversion, 'campaign' | 'visit_id'> {
  const [first = 0] = visits.values()
  return {
    campaign: campaigns.get(affiliateId) ?? '',
    visit_id: affiliateId === 0 ? first : (visits.get(affiliateId) ?? 0),
  }
}

type Evidence = Pick<CreateArguments, 'affiliate_id' | 'coupon' | 'click' | 'visit_id'>

/** Whether a report says by itself who is to be credited. */
export const hasEvidence = ({ affiliate_id, coupon, click, visit_id }: Evidence): boolean =>
  affiliate_id !== undefined || visit_id !== undefined || Boolean(coupon || click?.first || click?.last)

/** How far the clocks of a shop and of this service may differ: a click this much later than its sale still counts. */
const CLOCK_SKEW_SECONDS = 300

/** When clicks have to have come for a sale. */
interface Window {
  readonly since: number
  readonly until: number
}

/** Midnight stands for the whole day: a sale may be reported with its date alone. */
function windowOf(occurredAt: number, days: number): Window {
  const isDay = occurredAt % DAY_SECONDS === 0
  const last = isDay ? occurredAt + DAY_SECONDS - 1 : occurredAt
  return { since: occurredAt - days * DAY_SECONDS, until: last + CLOCK_SKEW_SECONDS }
}

/** Why a click or visit at this time does not count. */
function untimely(time: number, { since, until }: Window): 'expired' | 'after_sale' | undefined {
  if (time < since) return 'expired'
  return time > until ? 'after_sale' : undefined
}

const COOKIE = /^([\w-]+)\.([\w-]+)$/

/** The script's cookie has both, FIRST.LAST; a server that reads it may send it as it is. */
function tokensOf({ first = '', last = '' }: Evidence['click'] = {}): Record<'first' | 'last', string> {
  const sent = { first: first.trim(), last: last.trim() }
  const [, ofCookie, lastOfCookie] = COOKIE.exec(sent.last || sent.first) ?? []
  return ofCookie === undefined ? sent : { first: ofCookie, last: lastOfCookie! }
}

/** @param owner the affiliate that the customer belongs to */
export async function claimsOf(
  tx: Tx,
  evidence: Evidence,
  { occurredAt }: Pick<Fact, 'occurredAt'>,
  owner: number | null,
  { tracking: { attribution, attributionDays } }: Settings,
): Promise<Origins> {
  const window = windowOf(occurredAt, attributionDays)
  const { first, last } = tokensOf(evidence.click)
  const clicks: Clicked[] = []
  for (const token of new Set([first, last].filter(token => token !== '')))
    clicks.push(await claimOfClick(tx, token, window))
  // A shop may have mixed them up: which came first is signed.
  clicks.sort((a, b) => (a.time && b.time ? a.time - b.time : 0))
  if (attribution === 'last') clicks.reverse()
  const claims: Claim[] = []
  const visits = new Map<number, number>()
  const campaigns = new Map<number, string>()
  const add = ({ claim, campaign, visitId }: Clicked) => {
    claims.push(claim)
    if (campaign !== '' && !campaigns.has(claim.affiliateId)) campaigns.set(claim.affiliateId, campaign)
    if (visitId && !visits.has(claim.affiliateId)) visits.set(claim.affiliateId, visitId)
  }
  if (evidence.affiliate_id !== undefined)
    claims.push({ by: 'affiliate', affiliateId: evidence.affiliate_id })
  if (owner !== null) claims.push({ by: 'customer', affiliateId: owner })
  if (evidence.coupon) add(await claimOfCoupon(tx, evidence.coupon))
  for (const click of clicks) add(click)
  if (evidence.visit_id !== undefined) add(await claimOfVisit(tx, evidence.visit_id, window))
  return { claims, campaigns, visits }
}

interface Clicked {
  readonly claim: Claim
  readonly campaign: string
  /** 0 if unknown. */
  readonly visitId?: number
  /** Of a click whose token is genuine. */
  readonly time?: number
}

async function claimOfClick(tx: Tx, token: string, window: Window): Promise<Clicked> {
  const { click, refusal } = await readToken(tx, token, window.since)
  if (!click) {
    return { claim: { by: 'click', affiliateId: 0, reason: `${refusal}_click` }, campaign: '' }
  }
  const { affiliateId, campaign, time } = click
  const reason = untimely(time, window)
  if (reason) return { claim: { by: 'click', affiliateId, reason }, campaign: '', time }
  // The visit's row may be written after the sale.
  const visitId = (await idByNonce(tx, click.nonce)) ?? 0
  return { claim: { by: 'click', affiliateId }, campaign, visitId, time }
}

async function claimOfVisit(tx: Tx, id: number, window: Window): Promise<Clicked> {
  const visit = await store.visitOf(tx, id)
  if (!visit) return { claim: { by: 'visit', affiliateId: 0, reason: 'unknown_visit' }, campaign: '' }
  const { affiliate_id: affiliateId, created_at, campaign } = visit
  const reason = untimely(created_at, window)
  if (reason) return { claim: { by: 'visit', affiliateId, reason }, campaign: '', visitId: id }
  return { claim: { by: 'visit', affiliateId }, campaign, visitId: id }
}

async function claimOfCoupon(db: Db, code: string): Promise<Clicked> {
  const coupon = await findByCode(db, code)
  if (!coupon) return { claim: { by: 'coupon', affiliateId: 0, reason: 'unknown_coupon' }, campaign: '' }
  const { affiliate_id: affiliateId, status, campaign } = coupon
  if (status === 'active') return { claim: { by: 'coupon', affiliateId }, campaign }
  return { claim: { by: 'coupon', affiliateId, reason: 'inactive_coupon' }, campaign: '' }
}

/**
 * Who is credited by the claims, and the customer, who belongs to them from now on.
 * @param earlier who has bought by an earlier report of the same sale
 */
export async function creditBy(
  tx: WriteTx,
  fact: Fact,
  claims: readonly Claim[],
  buyer: Omit<Purchase, 'affiliateId'>,
  earlier: readonly Buyer[] = [],
) {
  const { knownCustomer, sentCustomer } = buyer
  const claimants = await store.claimantsOf(
    tx,
    claims.map(({ affiliateId }) => affiliateId),
  )
  const buyers = [buyerOf(knownCustomer, sentCustomer.email), ...earlier]
  const { affiliateId, candidates } = attribute(claims, claimants, buyers)
  const customerId = await saveCustomer(tx, fact, { ...buyer, affiliateId })
  return { affiliateId, candidates, customerId, claimant: claimants.get(affiliateId) }
}

/** The attributions among the reports of a payment. */
export const attributionsIn = (payment: readonly Conversion[]): Conversion[] =>
  payment.filter(({ kind }) => kind === 'attribution')

/** The claim to a sale that an attribution makes. */
export const claimOfAttribution = ({ affiliate_id }: Conversion): Claim => ({
  by: 'attribution',
  affiliateId: affiliate_id,
})

/** Attributions that were not weighed when the sale was reported: they came to be of its payment later. */
export function laterClaimsTo(sale: Conversion, attributions: readonly Conversion[]): Claim[] {
  const judged = new Set(
    candidatesOf(sale)
      .filter(({ by }) => by === 'attribution')
      .map(({ affiliate_id }) => affiliate_id),
  )
  return attributions.filter(({ affiliate_id }) => !judged.has(affiliate_id)).map(claimOfAttribution)
}

/** The attributions of its payment that a sale was not credited by, and why: none of the reports says so. */
export async function refusedFor(
  db: Db,
  sale: Conversion,
  payment: Payment['members'],
): Promise<readonly Candidate[]> {
  const attributions = isEarning(sale.kind) ? attributionsIn(payment) : []
  // Most sales have none.
  if (attributions.length === 0) return []
  const claims = laterClaimsTo(sale, attributions)
  const others = claims.filter(({ affiliateId }) => affiliateId !== sale.affiliate_id)
  if (others.length === 0) return []
  if (sale.affiliate_id !== 0) {
    return others.map(({ by, affiliateId }) => ({ by, affiliate_id: affiliateId, reason: 'earlier_claim' }))
  }
  const ids = others.map(({ affiliateId }) => affiliateId)
  const claimants = await store.claimantsNow(db, ids)
  const customer = sale.customer_id === 0 ? undefined : await customerById(db, sale.customer_id)
  const { candidates } = attribute(others, claimants, [buyerOf(customer, emailIn(sale))])
  // Who could be credited by now is, with the next report of the payment.
  return candidates.filter(({ reason }) => reason !== '')
}

/** The address that was sent with a sale. */
export function emailIn({ customer }: Conversion): string | undefined {
  const sent: CreateArguments['customer'] = customer === '' ? {} : JSON.parse(customer)
  return sent?.email
}
