/**
 * Rules for conversions. Each is reported once, under whatever name of the payment. The fact, the customer, the
 * credit, the referrals and the event are one transaction.
 * See docs/decisions/conversions.md.
 */
import { Failure, type Problems, refuseInvalid } from '../../base/errors.ts'
import type { Settings } from '../../base/settings.ts'
import { foldCase } from '../../base/text.ts'
import { now } from '../../base/time.ts'
import { type Context, type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { readingOf } from '../../records/rules.ts'
import type { Referral } from '../referrals/referral.ts'
import { attribute, buyerOf, type Candidate } from './attribution.ts'
import { claimsOf } from './claims.ts'
import { type Conversion, conversion, isEarning, isPaid, isTaking } from './conversion.ts'
import { assignOwner, findCustomer, saveCustomer } from './customers.ts'
import { earnBy, isDuplicate, MOST_MEMBERS, saleOf, settle } from './earning.ts'
import type { Story } from './explanation.ts'
import { type Fact, factOf, namesOf, problemsOf } from './fact.ts'
import type { CreateArguments } from './schema.ts'
import * as store from './store.ts'
import { storyOf } from './story.ts'

export interface Created extends Story {
  /** Whether it was reported before. */
  readonly replayed: boolean
}

/** @throws Failure invalid_argument, conversion_exists, conversion_conflict, reference_taken */
export async function create(context: RequestContext, sent: CreateArguments, sourceId = 0): Promise<Created> {
  return write(context, async tx => {
    const settings = await context.settings.hold(tx)
    return createIn(tx, settings, sent, { sourceId })
  })
}

interface Circumstances {
  readonly sourceId?: number
  /** Its names were kept a moment ago, and none was known. */
  readonly isNew?: boolean
}

/** The same within a transaction. */
export async function createIn(
  tx: WriteTx,
  settings: Settings,
  sent: CreateArguments,
  { sourceId = 0, isNew = false }: Circumstances,
): Promise<Created> {
  const payment = isNew ? [] : await paymentOf(tx, sent)
  const args = { ...sent, currency: sent.currency || currencyOf(sent, payment, settings) }
  refuseInvalid(problemsOf(args, settings))
  const fact = factOf(args, settings)
  const same = sameAs(fact, payment, args)
  const report = { tx, args, fact, payment, settings, sourceId }
  if (same) {
    const isAlias = isEarning(fact.kind) && same.reference !== fact.reference
    const found = isAlias ? await recordAlias(report, same) : await storyOf(tx, same, payment)
    if (!(await bring(tx, payment, settings))) return { ...found, replayed: true }
    return { ...(await storyOf(tx, found.conversion, found.payment)), replayed: true }
  }
  refuseMisfits(fact, payment)
  return { ...(await recorded(report)), replayed: false }
}

/** What was reported of it before, under any of its names, which are kept. */
async function paymentOf(tx: WriteTx, sent: CreateArguments): Promise<Conversion[]> {
  const id = await store.namePayment(tx, namesOf(sent))
  return id === undefined ? [] : store.membersOf(tx, id, MOST_MEMBERS)
}

interface Report {
  readonly tx: WriteTx
  readonly args: CreateArguments
  readonly fact: Fact
  /** Earlier reports of the payment. */
  readonly payment: readonly Conversion[]
  readonly settings: Settings
  readonly sourceId: number
}

function recorded(report: Report): Promise<Story> {
  const { kind } = report.fact
  if (isEarning(kind)) return recordSale(report)
  return kind === 'attribution' ? recordAttribution(report) : recordTaking(report)
}

/** Where none is sent: that of the same refund or dispute, else that of the sale, as far as it is known. */
function currencyOf(
  { kind, part }: CreateArguments,
  payment: readonly Conversion[],
  settings: Settings,
): string {
  const same = isTaking(kind) ? payment.find(one => one.kind === kind && one.part === part) : undefined
  const of = same ?? (isTaking(kind) ? saleOf(payment) : undefined)
  return of?.currency ?? settings.currency
}

/** The earlier report of the same, under this name of the payment or another. @throws Failure conversion_exists */
function sameAs(
  fact: Fact,
  payment: readonly Conversion[],
  { affiliate_id }: CreateArguments,
): Conversion | undefined {
  const isSameKind = ({ kind }: Conversion) => kind === fact.kind || (isPaid(kind) && isPaid(fact.kind))
  const candidates = payment.filter(member => isSameKind(member) && member.part === fact.part)
  const duplicate =
    candidates.find(({ reference }) => reference === fact.reference) ??
    candidates.find(one => !isDuplicate(one, payment))
  if (!duplicate) return undefined
  const isOther = fact.kind === 'attribution' && duplicate.affiliate_id !== affiliate_id
  if (duplicate.amount === fact.amount && duplicate.currency === fact.currency && !isOther) return duplicate
  throw new Failure('conversion_exists', {
    message: `Conversion ${duplicate.id} is the ${duplicate.kind} of this payment, and is not what was sent.`,
    data: { conversion_id: duplicate.id },
  })
}

/** @throws Failure invalid_argument, conversion_conflict */
function refuseMisfits(fact: Fact, payment: readonly Conversion[]): void {
  if (payment.length >= MOST_MEMBERS) {
    throw new Failure('conversion_conflict', {
      message: `More than ${MOST_MEMBERS} conversions are of one payment: report totals (cumulative) instead of parts.`,
    })
  }
  const sale = saleOf(payment)
  if (sale && isTaking(fact.kind) && isPaid(sale.kind) && sale.currency !== fact.currency) {
    refuseInvalid({ currency: `must be ${sale.currency}, the currency of the sale.` })
  }
  if (fact.kind === 'attribution' && sale && sale.affiliate_id !== 0) {
    throw new Failure('conversion_conflict', {
      message: `Affiliate ${sale.affiliate_id} is credited for conversion ${sale.id} already.`,
      data: { conversion_id: sale.id, affiliate_id: sale.affiliate_id },
    })
  }
}

/** A lead, a sale or a renewal: somebody may be credited. */
async function recordSale(report: Report): Promise<Story> {
  const { tx, args, fact, payment, settings } = report
  const sentCustomer = args.customer ?? {}
  const knownCustomer = await findCustomer(tx, fact.context, sentCustomer)
  const origins = await claimsOf(tx, args, fact, knownCustomer?.affiliate_id ?? null, settings)
  // Credited by hand before the sale was reported.
  const later = payment
    .filter(({ kind }) => kind === 'attribution')
    .map(({ affiliate_id }) => ({ by: 'attribution' as const, affiliateId: affiliate_id }))
  const claims = [...origins.claims, ...later]
  const claimants = await store.claimantsOf(
    tx,
    claims.map(({ affiliateId }) => affiliateId),
  )
  const { affiliateId, candidates } = attribute(claims, claimants, buyerOf(knownCustomer, sentCustomer.email))
  const customerId = await saveCustomer(tx, fact, { sentCustomer, knownCustomer, affiliateId, settings })
  const row = await insert(report, {
    customer_id: customerId,
    affiliate_id: affiliateId,
    campaign: origins.campaign,
    candidates: JSON.stringify(candidates),
    visit_id: origins.visits.get(affiliateId) ?? 0,
  })
  const members = [...payment, row]
  const claimant = claimants.get(affiliateId)
  const earned: Referral[] = []
  if (claimant) {
    // A customer who was not known has no earlier orders.
    const history =
      knownCustomer && isPaid(fact.kind) ? await historyBefore(tx, row) : { orders: 0, first: null }
    earned.push(await earnBy(tx, row, claimant, { payment: members, history, settings }))
    if (knownCustomer?.affiliate_id === null) await creditFollowing(report, row, claimant)
  }
  await bring(tx, members, settings)
  log(report, row, affiliateId === 0 ? 'conversion.unattributed' : 'conversion.create')
  // Nothing else follows from a payment of which nothing was reported before.
  return payment.length === 0
    ? { conversion: row, payment: members, referrals: earned }
    : storyOf(tx, row, members)
}

/** Records a refund, a dispute, or its end. */
async function recordTaking(report: Report): Promise<Story> {
  const { tx, payment, settings } = report
  const sale = saleOf(payment)
  const row = await insert(report, {
    customer_id: sale?.customer_id ?? 0,
    affiliate_id: sale?.affiliate_id ?? 0,
    campaign: '',
    candidates: '',
  })
  const members = [...payment, row]
  await settle(tx, members, settings)
  log(report, row, 'conversion.create')
  return storyOf(tx, row, members)
}

/** Credits a sale later that nobody was credited for. @throws Failure invalid_argument */
async function recordAttribution(report: Report): Promise<Story> {
  const { tx, args, payment } = report
  const sale = uncredited(payment)[0]
  const customer = sale?.customer_id ? await store.holdCustomer(tx, sale.customer_id) : undefined
  const claims = [{ by: 'affiliate' as const, affiliateId: args.affiliate_id! }]
  const claimants = await store.claimantsOf(tx, [args.affiliate_id!])
  const { affiliateId, candidates } = attribute(claims, claimants, buyerOf(customer))
  refuseClaim(candidates[0]!)
  const claimant = claimants.get(affiliateId)!
  if (customer) await assignOwner(tx, customer, affiliateId)
  const story = await creditLater(report, claimant, candidates)
  if (sale && customer?.affiliate_id === null) await creditFollowing(report, sale, claimant)
  return story
}

/**
 * Records the same sale under another name, which may bring a claim where the first report had none, and further names
 * of the customer.
 */
async function recordAlias(report: Report, duplicate: Conversion): Promise<Story> {
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
    return storyOf(tx, duplicate, payment)
  }
  const { claims } = await claimsOf(tx, args, fact, knownCustomer?.affiliate_id ?? null, settings)
  const claimants = await store.claimantsOf(
    tx,
    claims.map(({ affiliateId }) => affiliateId),
  )
  const { affiliateId, candidates } = attribute(claims, claimants, buyerOf(knownCustomer, sentCustomer.email))
  const customer_id = await saveCustomer(tx, fact, { sentCustomer, knownCustomer, affiliateId, settings })
  const claimant = claimants.get(affiliateId)
  if (!claimant) return storyOf(tx, duplicate, payment)
  const story = await creditLater(report, claimant, candidates)
  const { occurred_at } = duplicate
  if (knownCustomer?.affiliate_id === null)
    await creditFollowing(report, { customer_id, occurred_at }, claimant)
  return { ...story, conversion: story.payment.find(({ id }) => id === duplicate.id)! }
}

/** How many sales of a customer are credited at once when the affiliate becomes known. */
const MOST_FOLLOWING = 100

/**
 * Renewals may be reported before the sale that says who brought the customer. They are then credited as if they had
 * come after it.
 */
async function creditFollowing(
  report: Report,
  { customer_id, occurred_at }: Pick<Conversion, 'customer_id' | 'occurred_at'>,
  claimant: store.Earning,
): Promise<void> {
  const { tx, settings } = report
  if (customer_id === 0) return
  const found = await store.uncreditedFrom(tx, { customer_id, occurred_at }, MOST_FOLLOWING)
  for (const { context, reference } of found) {
    const id = await store.namePayment(tx, { context, names: [reference] })
    const payment = await store.membersOf(tx, id!, MOST_MEMBERS)
    const sale = uncredited(payment)[0]
    if (!sale || payment.some(({ kind }) => kind === 'attribution')) continue
    const { currency, occurred_at: occurredAt } = sale
    const fact = { ...report.fact, context, reference, references: [], currency, occurredAt }
    const candidates = [{ by: 'customer' as const, affiliate_id: claimant.id, reason: '' as const }]
    await creditLater({ ...report, args: NOTHING_SENT, fact, payment, settings }, claimant, candidates)
  }
}

const NOTHING_SENT: CreateArguments = { kind: 'attribution', reference: '' }

const uncredited = (payment: readonly Conversion[]) =>
  payment.filter(one => isEarning(one.kind) && one.affiliate_id === 0 && !isDuplicate(one, payment))

/** Credits a sale that was not credited before, and creates its referrals. */
async function creditLater(
  report: Report,
  claimant: store.Earning,
  candidates: readonly Candidate[],
): Promise<Story> {
  const { tx, fact, payment, settings } = report
  const { id: affiliateId } = claimant
  const sales = uncredited(payment)
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
  await credit(tx, payment, affiliateId)
  const members = [...payment, row].map(member => ({ ...member, affiliate_id: affiliateId }))
  for (const sale of sales) {
    const history = await historyBefore(tx, sale)
    await earnBy(tx, sale, claimant, { payment: members, history, settings })
    const credited = (id: number) => conversion.logged({ ...sale, affiliate_id: id }, settings)
    tx.log('conversion.attribute', sale.id, { before: credited(0), after: credited(affiliateId) })
  }
  log(report, row, 'conversion.create')
  return storyOf(tx, row, members)
}

/** @throws Failure invalid_argument when the affiliate can't be credited */
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

async function credit(tx: WriteTx, members: readonly Conversion[], affiliateId: number): Promise<void> {
  const ids = members.filter(({ affiliate_id }) => affiliate_id === 0).map(({ id }) => id)
  if (affiliateId !== 0 && ids.length > 0) await store.credit(tx, ids, affiliateId, now())
}

/**
 * Applies refunds and disputes that were reported before their sale, or are joined to it only now, and takes back duplicates.
 * @returns whether there are any
 */
async function bring(tx: WriteTx, payment: readonly Conversion[], settings: Settings): Promise<boolean> {
  const takings = payment.filter(({ kind }) => isTaking(kind))
  if (takings.length === 0 && !payment.some(one => isDuplicate(one, payment))) return false
  await credit(tx, takings, saleOf(payment)?.affiliate_id ?? 0)
  await settle(tx, payment, settings)
  return true
}

/** Joins names of one payment that no report has together: what was reported under any of them belongs together. */
export async function join(context: RequestContext, shop: string, names: readonly string[]): Promise<void> {
  await write(context, async tx => {
    const settings = await context.settings.hold(tx)
    const id = await store.namePayment(tx, { context: foldCase(shop), names })
    if (id !== undefined) await bring(tx, await store.membersOf(tx, id, MOST_MEMBERS), settings)
  })
}

function log(
  { tx, settings }: Report,
  row: Conversion,
  action: 'conversion.create' | 'conversion.unattributed',
): void {
  tx.log(action, row.id, { after: conversion.logged(row, settings) })
}

/** What is wrong with arguments beyond what the schemas say. */
export async function problems({ settings }: Context, args: Partial<CreateArguments>): Promise<Problems> {
  return problemsOf(args, await settings.current())
}

export const reading = readingOf(conversion, store.conversions)
