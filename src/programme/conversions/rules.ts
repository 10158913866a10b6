/**
 * Rules for conversions. Each is reported once, under any name of the payment. The fact, the customer, the credit, the
 * referrals and the event are one transaction.
 * See docs/decisions/conversions.md.
 */
import { type Problems, refuseInvalid } from '../../base/errors.ts'
import type { Settings } from '../../base/settings.ts'
import { foldCase } from '../../base/text.ts'
import { now } from '../../base/time.ts'
import { type Context, type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { readingOf } from '../../records/rules.ts'
import type { Referral } from '../referrals/referral.ts'
import { attribute, buyerOf, type Candidate } from './attribution.ts'
import { claimsOf, creditBy } from './claims.ts'
import { type Conversion, conversion, isEarning, isPaid, isTaking } from './conversion.ts'
import { assignOwner, findCustomer, type KnownCustomer, saveCustomer } from './customers.ts'
import { currencyOf, refuseMisfits, sameAs } from './earlier.ts'
import { duplicatesIn, earnBy, saleOf, settle } from './earning.ts'
import type { Story } from './explanation.ts'
import { type Fact, factOf, namesOf, problemsOf } from './fact.ts'
import { type Payment, Payments, UNKNOWN } from './payments.ts'
import type { CreateArguments } from './schema.ts'
import * as store from './store.ts'

export interface Created extends Story {
  /** Whether it had been reported before. */
  readonly replayed: boolean
}

interface Circumstances {
  readonly sourceId?: number
  /** Its names were stored a moment ago, and none was known. */
  readonly isNew?: boolean
  /** Payments already read by other reports in the same transaction. */
  readonly payments?: Payments
}

/** @throws Failure invalid_argument, conversion_exists, conversion_conflict, reference_taken */
export async function create(
  context: RequestContext,
  sent: CreateArguments,
  circumstances: Circumstances = {},
): Promise<Created> {
  return write(context, async tx => {
    const settings = await context.settings.hold(tx)
    return createIn(tx, settings, sent, circumstances)
  })
}

/** The same within a transaction. */
export async function createIn(
  tx: WriteTx,
  settings: Settings,
  sent: CreateArguments,
  { sourceId = 0, isNew = false, payments = new Payments() }: Circumstances,
): Promise<Created> {
  const payment = isNew ? UNKNOWN : await payments.name(tx, namesOf(sent))
  const { members } = payment
  const args = { ...sent, currency: sent.currency || currencyOf(sent, members, settings) }
  refuseInvalid(problemsOf(args, settings))
  const fact = factOf(args, settings)
  const same = sameAs(fact, members, args)
  const report = { tx, args, fact, payment, payments, settings, sourceId }
  if (!same) refuseMisfits(fact, members)
  const recorded = same ? await recordAgain(report, same) : await record(report)
  payments.keep(recorded.payment, namesOf(sent))
  const { conversion, payment: after } = recorded
  const referrals = after.referrals ?? (await store.referralsOf(tx, after.id))
  return { conversion, payment: after.members, referrals, replayed: same !== undefined }
}

interface Report {
  readonly tx: WriteTx
  readonly args: CreateArguments
  readonly fact: Fact
  /** The payment before this report. */
  readonly payment: Payment
  readonly payments: Payments
  readonly settings: Settings
  readonly sourceId: number
}

/** The recorded conversion, and its payment. */
interface Recorded {
  readonly conversion: Conversion
  readonly payment: Payment
}

/** Handles a repeated report, under the same or another name. */
async function recordAgain(report: Report, same: Conversion): Promise<Recorded> {
  const isAlias = isEarning(report.fact.kind) && same.reference !== report.fact.reference
  const payment = isAlias ? await recordAlias(report, same) : report.payment
  const after = await bring(report.tx, payment, report.settings)
  return { conversion: after.members.find(({ id }) => id === same.id)!, payment: after }
}

function record(report: Report): Promise<Recorded> {
  const { kind } = report.fact
  if (isEarning(kind)) return recordSale(report)
  return kind === 'attribution' ? recordAttribution(report) : recordTaking(report)
}

/** A lead, sale or renewal, which may be credited. */
async function recordSale(report: Report): Promise<Recorded> {
  const { tx, args, fact, payment, settings } = report
  const sentCustomer = args.customer ?? {}
  const knownCustomer = await findCustomer(tx, fact.context, sentCustomer)
  const origins = await claimsOf(tx, args, fact, knownCustomer?.affiliate_id ?? null, settings)
  // Credited by hand before the sale was reported.
  const later = payment.members
    .filter(({ kind }) => kind === 'attribution')
    .map(({ affiliate_id }) => ({ by: 'attribution' as const, affiliateId: affiliate_id }))
  const claims = [...origins.claims, ...later]
  const buyer = { sentCustomer, knownCustomer, settings }
  const { affiliateId, candidates, customerId, claimant } = await creditBy(tx, fact, claims, buyer)
  const row = await insert(report, {
    customer_id: customerId,
    affiliate_id: affiliateId,
    campaign: origins.campaign,
    candidates: JSON.stringify(candidates),
    visit_id: origins.visits.get(affiliateId) ?? 0,
  })
  const withSale = withConversion(payment, row)
  const after = claimant ? await earnNow(report, withSale, { row, claimant, knownCustomer }) : withSale
  const settledPayment = await bring(tx, after, settings)
  log(report, row, affiliateId === 0 ? 'conversion.unattributed' : 'conversion.create')
  return { conversion: row, payment: settledPayment }
}

const withConversion = (payment: Payment, row: Conversion): Payment => ({
  ...payment,
  members: [...payment.members, row],
})

const withReferral = ({ referrals, ...payment }: Payment, row: Referral): Payment => ({
  ...payment,
  ...(referrals && { referrals: [...referrals, row] }),
})

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
  const { tx, settings } = report
  // A new customer has no earlier orders.
  const history =
    knownCustomer && isPaid(row.kind) ? await historyBefore(tx, row) : { orders: 0, first: null }
  const earned = await earnBy(tx, row, claimant, { payment: payment.members, history, settings })
  const after = withReferral(payment, earned)
  return knownCustomer?.affiliate_id === null ? creditFollowing(report, after, row, claimant) : after
}

/** Records a refund, a dispute, or its end. */
async function recordTaking(report: Report): Promise<Recorded> {
  const { tx, payment, settings } = report
  const sale = saleOf(payment.members)
  const row = await insert(report, {
    customer_id: sale?.customer_id ?? 0,
    affiliate_id: sale?.affiliate_id ?? 0,
    campaign: '',
    candidates: '',
  })
  const after = await settle(tx, withConversion(payment, row), settings)
  log(report, row, 'conversion.create')
  return { conversion: row, payment: after }
}

/** Credits an unattributed sale later. @throws Failure invalid_argument */
async function recordAttribution(report: Report): Promise<Recorded> {
  const { tx, args, payment } = report
  const sale = uncredited(payment.members)[0]
  const customer = sale?.customer_id ? await store.holdCustomer(tx, sale.customer_id) : undefined
  const claims = [{ by: 'affiliate' as const, affiliateId: args.affiliate_id! }]
  const claimants = await store.claimantsOf(tx, [args.affiliate_id!])
  const { affiliateId, candidates } = attribute(claims, claimants, buyerOf(customer))
  refuseClaim(candidates[0]!)
  const claimant = claimants.get(affiliateId)!
  if (customer) await assignOwner(tx, customer, affiliateId)
  const credited = await creditLater(report, claimant, candidates)
  if (!sale || customer?.affiliate_id !== null) return credited
  return { ...credited, payment: await creditFollowing(report, credited.payment, sale, claimant) }
}

/**
 * Records the same sale under another name, which may bring a claim that the first report lacked, and further names of
 * the customer.
 */
async function recordAlias(report: Report, duplicate: Conversion): Promise<Payment> {
  const { tx, args, fact, payment, settings } = report
  const sentCustomer = args.customer ?? {}
  const knownCustomer = await findCustomer(tx, fact.context, sentCustomer)
  if (duplicate.affiliate_id !== 0) {
    await saveCustomer(tx, fact, {
      sentCustomer,
      knownCustomer,
      affiliateId: duplicate.affiliate_id,
      settings,
    })
    return payment
  }
  const { claims } = await claimsOf(tx, args, fact, knownCustomer?.affiliate_id ?? null, settings)
  const buyer = { sentCustomer, knownCustomer, settings }
  const { candidates, customerId: customer_id, claimant } = await creditBy(tx, fact, claims, buyer)
  if (!claimant) return payment
  const { payment: after } = await creditLater(report, claimant, candidates)
  const { occurred_at } = duplicate
  if (knownCustomer?.affiliate_id !== null) return after
  return creditFollowing(report, after, { customer_id, occurred_at }, claimant)
}

/** Number of a customer's sales credited at once when the affiliate becomes known. */
const MOST_FOLLOWING = 100

/**
 * Renewals may be reported before the sale that identifies the affiliate. They are then credited as if they had come
 * after it.
 * @param own the payment being reported
 * @returns the same payment, in which something may have been credited, too
 */
async function creditFollowing(
  report: Report,
  own: Payment,
  { customer_id, occurred_at }: Pick<Conversion, 'customer_id' | 'occurred_at'>,
  claimant: store.Earning,
): Promise<Payment> {
  const { tx, payments } = report
  if (customer_id === 0) return own
  payments.keep(own, namesOf(report.args))
  const following = await store.uncreditedFrom(tx, { customer_id, occurred_at }, MOST_FOLLOWING)
  let after = own
  for (const { context, reference } of following) {
    const names = { context, names: [reference] }
    const payment = await payments.name(tx, names)
    const sale = uncredited(payment.members)[0]
    if (!sale || payment.members.some(({ kind }) => kind === 'attribution')) continue
    const { currency, occurred_at: occurredAt } = sale
    const fact = { ...report.fact, context, reference, references: [], currency, occurredAt }
    const candidates = [{ by: 'customer' as const, affiliate_id: claimant.id, reason: '' as const }]
    const of = { ...report, args: NOTHING_SENT, fact, payment }
    const credited = await creditLater(of, claimant, candidates)
    payments.keep(credited.payment, names)
    if (payment.id === own.id) after = credited.payment
  }
  return after
}

const NOTHING_SENT: CreateArguments = { kind: 'attribution', reference: '' }

const uncredited = (payment: readonly Conversion[]) => {
  const duplicates = new Set(duplicatesIn(payment))
  return payment.filter(one => isEarning(one.kind) && one.affiliate_id === 0 && !duplicates.has(one))
}

/** Credits an unattributed sale, and creates its referrals. */
async function creditLater(
  report: Report,
  claimant: store.Earning,
  candidates: readonly Candidate[],
): Promise<Recorded> {
  const { tx, fact, payment, settings } = report
  const { id: affiliateId } = claimant
  const sales = uncredited(payment.members)
  const attribution: Fact = {
    ...fact,
    kind: 'attribution',
    part: '',
    amount: 0,
    tax: 0,
    shipping: 0,
    discount: 0,
  }
  const row = await insert(
    { ...report, fact: { ...attribution, lines: [] } },
    {
      customer_id: sales[0]?.customer_id ?? 0,
      affiliate_id: affiliateId,
      campaign: '',
      candidates: JSON.stringify(candidates),
    },
  )
  let after = withConversion(await credit(tx, payment, affiliateId), row)
  for (const sale of sales) {
    const history = await historyBefore(tx, sale)
    const earned = await earnBy(tx, sale, claimant, { payment: after.members, history, settings })
    after = withReferral(after, earned)
    const credited = (id: number) => conversion.logged({ ...sale, affiliate_id: id }, settings)
    tx.log('conversion.attribute', sale.id, { before: credited(0), after: credited(affiliateId) })
  }
  log(report, row, 'conversion.create')
  return { conversion: row, payment: after }
}

/** @throws Failure invalid_argument if the affiliate can't be credited */
function refuseClaim({ reason }: Candidate): void {
  if (reason === 'unknown_affiliate') {
    refuseInvalid({ affiliate_id: 'must be the identifier of an existing affiliate.' })
  }
  if (reason === 'inactive') refuseInvalid({ affiliate_id: 'must be of an affiliate who is active.' })
  if (reason === 'self_referral') refuseInvalid({ affiliate_id: 'must not be of the customer.' })
}

const historyBefore = async (tx: WriteTx, sale: Conversion) =>
  sale.customer_id === 0 ? { orders: 0, first: null } : store.historyOf(tx, sale)

type Decided = Pick<Conversion, 'customer_id' | 'affiliate_id' | 'campaign' | 'candidates'> &
  Partial<Pick<Conversion, 'visit_id'>>

function insert({ tx, args, fact, sourceId }: Report, decided: Decided): Promise<Conversion> {
  const { reference, references, lines, cumulative, occurredAt, ...rest } = fact
  const { customer, metadata, coupon = '', visit_id = decided.visit_id ?? 0 } = args
  const time = now()
  return store.insert(tx, {
    ...rest,
    ...decided,
    reference,
    reference_key: foldCase(reference),
    aliases: references.length === 0 ? '' : JSON.stringify(references),
    lines: lines.length === 0 ? '' : JSON.stringify(lines),
    cumulative: cumulative ? 1 : 0,
    country: (customer?.country || args.country || '').toUpperCase(),
    coupon,
    visit_id,
    source_id: sourceId,
    occurred_at: occurredAt,
    created_at: time,
    updated_at: time,
    customer: customer ? JSON.stringify(customer) : '',
    metadata: metadata === undefined ? '' : JSON.stringify(metadata),
  })
}

/** Credits unattributed conversions. */
async function credit(
  tx: WriteTx,
  payment: Payment,
  affiliateId: number,
  isMeant: (conversion: Conversion) => boolean = () => true,
): Promise<Payment> {
  const isNobodys = (one: Conversion) => one.affiliate_id === 0 && isMeant(one)
  const ids = payment.members.filter(isNobodys).map(({ id }) => id)
  if (affiliateId === 0 || ids.length === 0) return payment
  const time = now()
  await store.credit(tx, ids, affiliateId, time)
  const credited = { affiliate_id: affiliateId, updated_at: time }
  return { ...payment, members: payment.members.map(one => (isNobodys(one) ? { ...one, ...credited } : one)) }
}

/** Applies refunds and disputes reported before their sale, or joined to it only now, and takes back duplicates. */
async function bring(tx: WriteTx, payment: Payment, settings: Settings): Promise<Payment> {
  const { members } = payment
  if (!members.some(({ kind }) => isTaking(kind)) && duplicatesIn(members).length === 0) return payment
  const affiliateId = saleOf(members)?.affiliate_id ?? 0
  return settle(tx, await credit(tx, payment, affiliateId, ({ kind }) => isTaking(kind)), settings)
}

/** Joins names of one payment that no report has together: everything reported under any of them then belongs together. */
export async function join(context: RequestContext, shop: string, names: readonly string[]): Promise<void> {
  await write(context, async tx => {
    const settings = await context.settings.hold(tx)
    await bring(tx, await new Payments().name(tx, { context: foldCase(shop), names }), settings)
  })
}

function log(
  { tx, settings }: Report,
  row: Conversion,
  action: 'conversion.create' | 'conversion.unattributed',
): void {
  tx.log(action, row.id, { after: conversion.logged(row, settings) })
}

/** Validation beyond the schemas. */
export async function problems({ settings }: Context, args: Partial<CreateArguments>): Promise<Problems> {
  return problemsOf(args, await settings.current())
}

export const reading = readingOf(conversion, store.conversions)
