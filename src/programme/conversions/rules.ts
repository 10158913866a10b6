/**
 * Rules for conversions. Each is reported once, under any name of the payment. The fact, the customer, the credit, the
 * referrals and the event are one transaction.
 * See docs/decisions/conversions.md.
 */
import { type Failure, type Problems, refuseInvalid } from '../../base/errors.ts'
import type { Settings } from '../../base/settings.ts'
import { type Context, type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { readingOf } from '../../records/rules.ts'
import { noSuch } from '../../records/store.ts'
import { lockSales } from '../commission/judging.ts'
import { attribute, type Candidate, candidatesOf, isClaim, sentenceOf } from './attribution.ts'
import {
  attributionsIn,
  claimOfAttribution,
  claimsOf,
  creditBy,
  creditedOrigin,
  hasEvidence,
} from './claims.ts'
import { type Conversion, conversion, isEarning } from './conversion.ts'
import {
  applyReports,
  creditFollowing,
  creditLater,
  creditWaiting,
  historyBefore,
  insert,
  lockBuyer,
  log,
  ownerOfReversals,
  type Recorded,
  type Report,
  uncreditedSale,
  withConversion,
  withReferral,
} from './crediting.ts'
import { assignOwner, findCustomer, type KnownCustomer } from './customers.ts'
import { currencyOf, differenceFrom, isCurrencyAssumed, refuseMisfits, sameAs } from './earlier.ts'
import { earnBy } from './earning.ts'
import type { Story } from './explanation.ts'
import { type Fact, factOf, namesOf, problemsOf, refuseWrong } from './fact.ts'
import { type Payment, Payments, UNKNOWN } from './payments.ts'
import type { CreateArguments } from './schema.ts'
import { inCurrencyOfSale, saleOf } from './sold.ts'
import * as store from './store.ts'

export interface Created extends Story {
  /** Whether it had been reported before. */
  readonly replayed: boolean
  /** What a source has reported otherwise this time. */
  readonly difference?: Failure
}

interface Circumstances {
  readonly sourceId?: number
  /** Its names were stored a moment ago, and none was known. */
  readonly isNew?: boolean
  /** Payments already read by other reports in the same transaction. */
  readonly payments?: Payments
  /** See `Recording`. */
  readonly place?: number
}

/** @throws Failure invalid_argument, conversion_exists, conversion_conflict, reference_taken */
export async function create(
  context: RequestContext,
  sent: CreateArguments,
  circumstances: Circumstances = {},
): Promise<Created> {
  return write(context, async tx => {
    const settings = await context.settings.lock(tx)
    await lockSales(tx, settings)
    return createIn(tx, settings, sent, circumstances)
  })
}

/** The same within a transaction. */
export async function createIn(
  tx: WriteTx,
  settings: Settings,
  sent: CreateArguments,
  { sourceId = 0, isNew = false, payments = new Payments(), place }: Circumstances,
): Promise<Created> {
  const payment = isNew ? UNKNOWN : await payments.name(tx, namesOf(sent))
  const members = inCurrencyOfSale(payment.members)
  const args = { ...sent, currency: sent.currency || currencyOf(sent, members, settings) }
  refuseWrong(args, settings)
  const reported = factOf(args, settings, isCurrencyAssumed(sent, members))
  const same = sameAs(reported, members, args)
  const difference = same && differenceFrom(same, reported, members)
  // Nobody reads what a source is told: the amount that was reported first counts, and whatever else this one says.
  if (difference && !(sourceId !== 0 && isEarning(reported.kind))) throw difference
  const fact: Fact = same ? { ...reported, amount: same.amount, currency: same.currency } : reported
  const names = namesOf(sent)
  const report = { tx, args, fact, payment, payments, settings, sourceId, names, place }
  if (!same) refuseMisfits(fact, members)
  const recorded = same ? await recordAgain(report, same) : await record(report)
  payments.keep(recorded.payment, namesOf(sent))
  const { conversion, payment: after } = recorded
  const referrals = after.referrals ?? (await store.referralsOf(tx, after.id))
  const replayed = same !== undefined
  return { conversion, payment: after.members, referrals, replayed, ...(difference && { difference }) }
}

/** Handles a repeated report, under the same or another name. */
async function recordAgain(report: Report, same: Conversion): Promise<Recorded> {
  const { fact, args } = report
  const isAlias = same.reference !== fact.reference
  const isClaimed = same.affiliate_id !== 0 || candidatesOf(same).some(isClaim)
  const says = isAlias || (!isClaimed && hasEvidence(args))
  const payment = isEarning(fact.kind) && says ? await recordAlias(report, same) : report.payment
  const after = await applyReports(report, payment)
  return { conversion: after.members.find(({ id }) => id === same.id)!, payment: after }
}

function record(report: Report): Promise<Recorded> {
  const { kind } = report.fact
  if (isEarning(kind)) return recordSale(report)
  return kind === 'attribution' ? recordAttribution(report) : recordReversal(report)
}

/** A lead, sale or renewal, which may be credited. */
async function recordSale(report: Report): Promise<Recorded> {
  const { tx, args, fact, payment, settings } = report
  const sentCustomer = args.customer ?? {}
  const knownCustomer = await findCustomer(tx, fact.context, sentCustomer)
  const origins = await claimsOf(tx, args, fact, knownCustomer?.affiliate_id ?? null, settings)
  // Credited by hand before the sale was reported.
  const later = attributionsIn(payment.members).map(claimOfAttribution)
  const claims = [...origins.claims, ...later]
  const buyer = { sentCustomer, knownCustomer, settings }
  const { affiliateId, candidates, customerId, claimant } = await creditBy(tx, fact, claims, buyer)
  const row = await insert(report, {
    customer_id: customerId,
    affiliate_id: affiliateId,
    candidates: JSON.stringify(candidates),
    ...creditedOrigin(origins, affiliateId),
  })
  const withSale = withConversion(payment, row)
  const after = claimant ? await earnNow(report, withSale, { row, claimant, knownCustomer }) : withSale
  const adjustedPayment = await applyReports(report, after)
  log(report, row, affiliateId === 0 ? 'conversion.unattributed' : 'conversion.create')
  return { conversion: row, payment: adjustedPayment }
}

interface Credited {
  readonly row: Conversion
  readonly claimant: store.Earning
  readonly knownCustomer: KnownCustomer | undefined
}

/** Records the earnings of a sale whose affiliate is known, and of what the customer has bought since. */
async function earnNow(
  report: Report,
  payment: Payment,
  { row, claimant, knownCustomer }: Credited,
): Promise<Payment> {
  const { tx, settings, place } = report
  // A new customer has no earlier orders.
  const history = knownCustomer ? await historyBefore(tx, row) : { orders: 0, first: null }
  const earned = await earnBy(tx, row, claimant, { payment: payment.members, history, settings, place })
  const after = withReferral(payment, earned)
  return knownCustomer?.affiliate_id === null ? creditFollowing(report, after, row, claimant) : after
}

/** Records a refund, a dispute, or its end. */
async function recordReversal(report: Report): Promise<Recorded> {
  // A reversal belongs to the affiliate of the sale, whom this report may make known by joining names.
  const payment = await creditWaiting(report, report.payment)
  const sale = saleOf(payment.members)
  const row = await insert(report, {
    customer_id: sale?.customer_id ?? 0,
    affiliate_id: ownerOfReversals(payment.members),
    campaign: '',
    candidates: '',
  })
  const after = await applyReports(report, withConversion(payment, row))
  log(report, row, 'conversion.create')
  return { conversion: row, payment: after }
}

/** Credits an unattributed sale later. @throws Failure invalid_argument */
async function recordAttribution(report: Report): Promise<Recorded> {
  const { tx, args, payment } = report
  const sale = uncreditedSale(payment.members)
  const { customer, buyer } = await lockBuyer(tx, sale)
  const claims = [{ by: 'affiliate' as const, affiliateId: args.affiliate_id! }]
  const claimants = await store.claimantsOf(tx, [args.affiliate_id!])
  const { affiliateId, candidates } = attribute(claims, claimants, [buyer])
  refuseClaim(candidates[0]!)
  const claimant = claimants.get(affiliateId)!
  if (customer) await assignOwner(tx, customer, affiliateId)
  const credited = await creditLater(report, claimant, candidates)
  if (!sale || customer?.affiliate_id !== null) return credited
  return { ...credited, payment: await creditFollowing(report, credited.payment, sale, claimant) }
}

/**
 * Records the same sale again, under another name or with the claim that the first report lacked, and further names of the
 * customer.
 */
async function recordAlias(report: Report, duplicate: Conversion): Promise<Payment> {
  const { tx, args, fact, payment, settings } = report
  const sentCustomer = args.customer ?? {}
  const found = await findCustomer(tx, fact.context, sentCustomer)
  const { affiliate_id: affiliateId } = duplicate
  const isUncredited = affiliateId === 0
  const { customer, buyer: earlier } = await lockBuyer(tx, isUncredited ? duplicate : undefined)
  const isUnnamed = !sentCustomer.id && !sentCustomer.email
  const knownCustomer = isUnnamed && customer ? { ...customer, named: true } : found
  // The second report may have been sent later, without the time of the sale.
  const of = { occurredAt: Math.min(fact.occurredAt, duplicate.occurred_at) }
  // The owner of the sale's own customer came later, or was weighed with it: what was bought since is credited by itself.
  const owner = knownCustomer?.id === customer?.id ? null : (knownCustomer?.affiliate_id ?? null)
  const origins = isUncredited ? await claimsOf(tx, args, of, owner, settings) : undefined
  const claims = origins?.claims ?? [{ by: 'affiliate', affiliateId }]
  const buyer = { sentCustomer, knownCustomer, settings }
  const { candidates, customerId: customer_id, claimant } = await creditBy(tx, fact, claims, buyer, [earlier])
  if (!claimant) return explainRefusal(report, payment, duplicate, candidates)
  const origin = origins && {
    ...creditedOrigin(origins, claimant.id),
    coupon: duplicate.coupon || (args.coupon ?? ''),
  }
  const after = origin ? (await creditLater(report, claimant, candidates, origin)).payment : payment
  const { occurred_at } = duplicate
  if (knownCustomer?.affiliate_id !== null) return after
  return creditFollowing(report, after, { customer_id, occurred_at }, claimant)
}

/** Keeps why the claims of a later report credit nobody, where no report before it made one. */
async function explainRefusal(
  { tx, settings }: Report,
  payment: Payment,
  sale: Conversion,
  refused: readonly Candidate[],
): Promise<Payment> {
  const weighed = candidatesOf(sale)
  const isFirst = weighed.length === 0 || (!weighed.some(isClaim) && refused.some(isClaim))
  if (sale.affiliate_id !== 0 || refused.length === 0 || !isFirst) return payment
  const known = new Set(weighed.map(sentenceOf))
  const added = refused.filter(one => !known.has(sentenceOf(one)))
  const candidates = JSON.stringify([...weighed, ...added])
  await store.keepCandidates(tx, sale.id, candidates)
  const before = conversion.logged(sale, settings)
  const sentences = new Set(added.map(sentenceOf))
  tx.log('conversion.claim', sale.id, { before, after: { ...before, refused: [...sentences].join(' ') } })
  const members = payment.members.map(one => (one.id === sale.id ? { ...one, candidates } : one))
  return { ...payment, members }
}

/** @throws Failure invalid_argument if the affiliate cannot be credited */
function refuseClaim({ reason }: Candidate): void {
  if (reason === 'unknown_affiliate') {
    refuseInvalid({ affiliate_id: noSuch('affiliate') })
  }
  if (reason === 'inactive') refuseInvalid({ affiliate_id: 'must be of an affiliate who is active.' })
  if (reason === 'self_referral') refuseInvalid({ affiliate_id: 'must not be of the customer.' })
}

/** Joins names of one payment that no report has together: everything reported under any of them then belongs together. */
export async function join(context: RequestContext, shop: string, names: readonly string[]): Promise<void> {
  await write(context, async tx => {
    const settings = await context.settings.lock(tx)
    await lockSales(tx, settings)
    const payments = new Payments()
    const [reference = '', ...references] = names
    const named = namesOf({ context: shop, reference, references })
    const payment = await payments.name(tx, named)
    await applyReports({ tx, settings, payments, sourceId: 0, names: named }, payment)
  })
}

/** Validation beyond the schemas. */
export async function problems({ settings }: Context, args: Partial<CreateArguments>): Promise<Problems> {
  return problemsOf(args, await settings.current())
}

export const reading = readingOf(conversion, store.conversions)
