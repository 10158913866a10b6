/**
 * What is true of conversions: each is reported once, under whatever name of the payment; the fact, the customer, who is
 * credited, what they earn and the event are one transaction.
 * See docs/decisions/conversions.md.
 */
import { Failure, type Problems, refuseInvalid } from '../../base/errors.ts'
import type { Settings } from '../../base/settings.ts'
import { foldCase } from '../../base/text.ts'
import { now } from '../../base/time.ts'
import { type Context, type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { existing, readingOf } from '../../records/rules.ts'
import type { Db } from '../../storage/database.ts'
import { attribute, buyerOf, type Candidate } from './attribution.ts'
import { claimsOf } from './claims.ts'
import { type Conversion, conversion, isEarning, isPaid } from './conversion.ts'
import { findCustomer, own, saveCustomer } from './customers.ts'
import { earnBy, saleOf, settle } from './earning.ts'
import type { Story } from './explanation.ts'
import { type Fact, factOf, problemsOf } from './fact.ts'
import type { CreateArguments } from './schema.ts'
import * as store from './store.ts'

/** Of one payment: what follows from it is computed from all of it, each time. */
const MOST_MEMBERS = 500

export interface Created extends Story {
  /** It was there already: the same was sent before. */
  readonly replayed: boolean
}

/** @throws Failure invalid_argument, conversion_exists, conversion_conflict, reference_taken */
export async function create(context: RequestContext, args: CreateArguments, sourceId = 0): Promise<Created> {
  return write(context, async tx => {
    const settings = await context.settings.hold(tx)
    refuseInvalid(problemsOf(args, settings))
    const fact = factOf(args, settings)
    const { context: shop, reference, references } = fact
    const paymentId = await store.namePayment(tx, { context: shop, names: [reference, ...references] })
    const payment = paymentId === undefined ? [] : await store.membersOf(tx, paymentId, MOST_MEMBERS)
    const same = sameAs(fact, payment, args)
    if (same) return { ...(await storyOf(tx, same, payment)), replayed: true }
    refuseMisfits(fact, payment)
    const report = { tx, args, fact, payment, settings, sourceId }
    return { ...(await recorded(report)), replayed: false }
  })
}

interface Report {
  readonly tx: WriteTx
  readonly args: CreateArguments
  readonly fact: Fact
  /** What was reported of the payment before. */
  readonly payment: readonly Conversion[]
  readonly settings: Settings
  readonly sourceId: number
}

function recorded(report: Report): Promise<Story> {
  const { kind } = report.fact
  if (isEarning(kind)) return recordSale(report)
  return kind === 'attribution' ? recordAttribution(report) : recordTaking(report)
}

/** The same that was reported before, under this name of the payment or another. @throws Failure conversion_exists */
function sameAs(
  fact: Fact,
  payment: readonly Conversion[],
  { affiliate_id }: CreateArguments,
): Conversion | undefined {
  const isSameKind = ({ kind }: Conversion) => kind === fact.kind || (isPaid(kind) && isPaid(fact.kind))
  const others = payment.filter(one => isSameKind(one) && one.part === fact.part)
  const same = others.find(({ reference }) => reference === fact.reference) ?? others[0]
  if (!same) return undefined
  const isOther = fact.kind === 'attribution' && same.affiliate_id !== affiliate_id
  if (same.amount === fact.amount && same.currency === fact.currency && !isOther) return same
  throw new Failure('conversion_exists', {
    message: `Conversion ${same.id} is the ${same.kind} of this payment, and is not what was sent.`,
    data: { conversion_id: same.id },
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
  const isTaking = !isEarning(fact.kind) && fact.kind !== 'attribution'
  if (sale && isTaking && isPaid(sale.kind) && sale.currency !== fact.currency) {
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
  const sent = args.customer ?? {}
  const known = await findCustomer(tx, fact.context, sent)
  const origins = await claimsOf(tx, args, fact, known?.affiliate_id ?? null, settings)
  // Credited by hand before it was reported.
  const later = payment
    .filter(({ kind }) => kind === 'attribution')
    .map(({ affiliate_id }) => ({ by: 'attribution' as const, affiliateId: affiliate_id }))
  const claims = [...origins.claims, ...later]
  const claimants = await store.claimantsOf(
    tx,
    claims.map(({ affiliateId }) => affiliateId),
  )
  const { affiliateId, candidates } = attribute(claims, claimants, buyerOf(known, sent.email ?? ''))
  const history =
    known && isPaid(fact.kind) ? await store.historyOf(tx, known.id) : { orders: 0, first: null }
  const customerId = await saveCustomer(tx, fact, { sent, known, affiliateId, settings })
  const row = await insert(report, {
    customer_id: customerId,
    affiliate_id: affiliateId,
    campaign: origins.campaign,
    candidates: JSON.stringify(candidates),
  })
  const all = [...payment, row]
  const claimant = claimants.get(affiliateId)
  if (claimant) await earnBy(tx, row, claimant, { payment: all, history, settings })
  await creditMembers(tx, payment, affiliateId)
  log(report, row, affiliateId === 0 ? 'conversion.unattributed' : 'conversion.create')
  return storyOf(tx, row, all)
}

/** A refund or a dispute, or its end. */
async function recordTaking(report: Report): Promise<Story> {
  const { tx, payment, settings } = report
  const sale = saleOf(payment)
  const row = await insert(report, {
    customer_id: sale?.customer_id ?? 0,
    affiliate_id: sale?.affiliate_id ?? 0,
    campaign: '',
    candidates: '',
  })
  const all = [...payment, row]
  await settle(tx, all, row, settings)
  log(report, row, 'conversion.create')
  return storyOf(tx, row, all)
}

/** Credits, later, what nobody was credited for. */
async function recordAttribution(report: Report): Promise<Story> {
  const { tx, args, payment, settings } = report
  const affiliateId = args.affiliate_id!
  const sales = payment.filter(({ kind, affiliate_id }) => isEarning(kind) && affiliate_id === 0)
  const claimants = await store.claimantsOf(tx, [affiliateId])
  const customer = await customerOf(tx, sales)
  const claim = { by: 'affiliate' as const, affiliateId }
  const { candidates } = attribute([claim], claimants, buyerOf(customer, ''))
  refuseClaim(candidates[0]!)
  const row = await insert(report, {
    customer_id: customer?.id ?? 0,
    affiliate_id: affiliateId,
    campaign: '',
    candidates: JSON.stringify(candidates),
  })
  await creditMembers(tx, payment, affiliateId)
  const all = [...payment, row].map(one => ({ ...one, affiliate_id: affiliateId }))
  for (const sale of sales) {
    const history = await historyBefore(tx, sale)
    await earnBy(tx, sale, claimants.get(affiliateId)!, { payment: all, history, settings })
    tx.log('conversion.attribute', sale.id, {
      before: { affiliate_id: 0 },
      after: { affiliate_id: affiliateId },
    })
  }
  if (customer) await own(tx, customer, affiliateId)
  log(report, row, 'conversion.create')
  return storyOf(tx, row, all)
}

/** @throws Failure invalid_argument when the affiliate can't be credited */
function refuseClaim({ reason }: Candidate): void {
  if (reason === 'unknown_affiliate') {
    refuseInvalid({ affiliate_id: 'must be the identifier of an existing affiliate.' })
  }
  if (reason === 'inactive') refuseInvalid({ affiliate_id: 'must be of an affiliate who is active.' })
  if (reason === 'self_referral') refuseInvalid({ affiliate_id: 'must not be of the customer.' })
}

async function customerOf(tx: WriteTx, sales: readonly Conversion[]): Promise<store.CustomerRow | undefined> {
  const id = sales.find(({ customer_id }) => customer_id !== 0)?.customer_id
  return id === undefined ? undefined : store.customerById(tx, id)
}

const historyBefore = async (tx: WriteTx, { id, customer_id }: Conversion) =>
  customer_id === 0 ? { orders: 0, first: null } : store.historyOf(tx, customer_id, id)

type Decided = Pick<Conversion, 'customer_id' | 'affiliate_id' | 'campaign' | 'candidates'>

function insert({ tx, args, fact, sourceId }: Report, decided: Decided): Promise<Conversion> {
  const { reference, references, lines, cumulative, occurredAt, ...rest } = fact
  const { customer, metadata, coupon = '', visit_id = 0 } = args
  const time = now()
  return store.insert(tx, {
    ...rest,
    ...decided,
    reference,
    reference_key: foldCase(reference),
    aliases: references.length === 0 ? '' : JSON.stringify(references),
    lines: lines.length === 0 ? '' : JSON.stringify(lines),
    cumulative: cumulative ? 1 : 0,
    country: customer?.country?.toUpperCase() ?? '',
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

/** Refunds that came before their sale, and sales that are credited later. */
async function creditMembers(
  tx: WriteTx,
  payment: readonly Conversion[],
  affiliateId: number,
): Promise<void> {
  const ids = payment.filter(({ affiliate_id }) => affiliate_id === 0).map(({ id }) => id)
  if (affiliateId !== 0 && ids.length > 0) await store.credit(tx, ids, affiliateId, now())
}

function log(
  { tx, settings }: Report,
  row: Conversion,
  action: 'conversion.create' | 'conversion.unattributed',
): void {
  tx.log(action, row.id, { after: conversion.logged(row, settings) })
}

async function storyOf(db: Db, of: Conversion, payment: readonly Conversion[]): Promise<Story> {
  const referrals = await store.referralsOf(
    db,
    payment.map(({ id }) => id),
  )
  return { conversion: of, payment, referrals }
}

/** The whole story of a conversion. @throws Failure no_conversion */
export async function story({ database }: Context, id: number): Promise<Story> {
  const db = database.replica
  const found = existing(conversion, await store.conversionById(db, id))
  const paymentId = await store.paymentOf(db, found)
  const payment = paymentId === undefined ? [found] : await store.membersOf(db, paymentId, MOST_MEMBERS)
  return storyOf(db, found, payment)
}

/** What is wrong with arguments beyond what the schemas say. */
export async function problems({ settings }: Context, args: Partial<CreateArguments>): Promise<Problems> {
  return problemsOf(args, await settings.current())
}

export const reading = readingOf(conversion, store.conversions)
