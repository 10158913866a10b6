/**
 * Credits sales that nobody was credited for: by an attribution, by one that has waited for its sale, or because the
 * customer has an affiliate now.
 * See docs/decisions/conversions.md.
 */
import { attempted, Failure } from '../../base/errors.ts'
import type { Settings } from '../../base/settings.ts'
import { foldCase } from '../../base/text.ts'
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import { customers } from '../customers/store.ts'
import type { Referral } from '../referrals/referral.ts'
import { attribute, buyerOf, type Candidate, hasBought } from './attribution.ts'
import { attributionsIn, emailIn, laterClaimsTo } from './claims.ts'
import { type Conversion, conversion, isEarning, isPaid, isReversal } from './conversion.ts'
import { assignOwner } from './customers.ts'
import { customerById } from './customers-store.ts'
import { adjustReferrals, earnBy } from './earning.ts'
import type { Fact } from './fact.ts'
import { continueFrom, endFollowing, type Following, uncreditedOf } from './following-store.ts'
import type { Names } from './names-store.ts'
import type { Payment, Payments } from './payments.ts'
import type { CreateArguments } from './schema.ts'
import { duplicatesIn, saleOf } from './sold.ts'
import * as store from './store.ts'

/** What crediting needs to know of a report. */
export interface Recording {
  readonly tx: WriteTx
  readonly settings: Settings
  readonly payments: Payments
  readonly sourceId: number
  /** Those of the reported payment. */
  readonly names: Names
  /**
   * Its place among others that are recorded in the transaction meanwhile: what fails fails them as well, and each is recorded again
   * by itself. Absent where it is the only one.
   */
  readonly place?: number | undefined
}

export interface Report extends Recording {
  readonly args: CreateArguments
  readonly fact: Fact
  /** The payment before this report. */
  readonly payment: Payment
}

/** The recorded conversion, and its payment. */
export interface Recorded {
  readonly conversion: Conversion
  readonly payment: Payment
}

/** The payment with one more report. */
export const withConversion = (payment: Payment, row: Conversion): Payment => ({
  ...payment,
  members: [...payment.members, row],
})

/** The payment with one more referral, if its referrals were read. */
export const withReferral = ({ referrals, ...payment }: Payment, row: Referral): Payment => ({
  ...payment,
  ...(referrals && { referrals: [...referrals, row] }),
})

const uncredited = (payment: readonly Conversion[]) => {
  const duplicates = new Set(duplicatesIn(payment))
  return payment.filter(one => isEarning(one.kind) && one.affiliate_id === 0 && !duplicates.has(one))
}

/** The sale that an attribution would credit, or else the lead. */
export function uncreditedSale(payment: readonly Conversion[]): Conversion | undefined {
  const sales = uncredited(payment)
  return sales.find(({ kind }) => isPaid(kind)) ?? sales[0]
}

/** Locks the customer of a sale until the transaction ends. @returns the customer, and who has bought: also by the address that was sent */
export async function lockBuyer(tx: WriteTx, sale: Conversion | undefined) {
  const customer = sale?.customer_id ? await customers.lock(tx, sale.customer_id) : undefined
  return { customer, buyer: buyerOf(customer, sale && emailIn(sale)) }
}

/** A lead is no order: it earns the same whether it is credited at once or later. */
export const historyBefore = async (tx: WriteTx, sale: Conversion) =>
  sale.customer_id === 0 || !isPaid(sale.kind) ? { orders: 0, first: null } : store.historyOf(tx, sale)

type Decided = Pick<Conversion, 'customer_id' | 'affiliate_id' | 'campaign' | 'candidates'> &
  Partial<Pick<Conversion, 'visit_id'>>

/** Inserts the conversion that a report is about. @param decided what the service has decided about it */
export function insert({ tx, args, fact, sourceId }: Report, decided: Decided): Promise<Conversion> {
  const { reference, references, lines, cumulative, occurredAt, ...rest } = fact
  const { customer, metadata, coupon = '', visit_id = 0 } = args
  const time = now()
  return store.insert(tx, {
    ...rest,
    visit_id,
    ...decided,
    reference,
    reference_key: foldCase(reference),
    aliases: references.length === 0 ? '' : JSON.stringify(references),
    lines: lines.length === 0 ? '' : JSON.stringify(lines),
    cumulative: cumulative ? 1 : 0,
    country: (customer?.country || args.country || '').toUpperCase(),
    coupon,
    source_id: sourceId,
    occurred_at: occurredAt,
    created_at: time,
    updated_at: time,
    // Where no customer stands for it, nobody could have it erased.
    customer: customer && decided.customer_id !== 0 ? JSON.stringify(customer) : '',
    metadata: metadata === undefined ? '' : JSON.stringify(metadata),
  })
}

/** Credits unattributed conversions. */
async function credit(
  { tx, settings }: Recording,
  payment: Payment,
  affiliateId: number,
  isMeant: (conversion: Conversion) => boolean,
): Promise<Payment> {
  const isNobodys = (one: Conversion) => one.affiliate_id === 0 && isMeant(one)
  const before = payment.members.filter(isNobodys)
  if (affiliateId === 0 || before.length === 0) return payment
  const time = now()
  await store.credit(
    tx,
    before.map(({ id }) => id),
    affiliateId,
    time,
  )
  const credited = (one: Conversion) => ({ ...one, affiliate_id: affiliateId, updated_at: time })
  for (const one of before) {
    tx.log('conversion.attribute', one.id, {
      before: conversion.logged(one, settings),
      after: conversion.logged(credited(one), settings),
    })
  }
  return { ...payment, members: payment.members.map(one => (isNobodys(one) ? credited(one) : one)) }
}

/**
 * Refunds and disputes belong to the affiliate of the sale. Until a sale is known they belong to nobody: whom a lead is
 * credited to may be somebody else.
 */
export function ownerOfReversals(payment: readonly Conversion[]): number {
  const sale = saleOf(payment)
  return sale && isPaid(sale.kind) ? sale.affiliate_id : 0
}

const creditReversals = (recording: Recording, payment: Payment): Promise<Payment> =>
  credit(recording, payment, ownerOfReversals(payment.members), ({ kind }) => isReversal(kind))

/** What a claim says of the sale that it credits. */
type Origin = Pick<Conversion, 'campaign' | 'coupon' | 'visit_id'>

/**
 * Credits an unattributed sale, and creates its referrals.
 * @param origin the sale earns as if it had been reported with it; absent where nobody was led to it
 */
export async function creditLater(
  report: Report,
  claimant: store.Earning,
  candidates: readonly Candidate[],
  origin?: Origin,
): Promise<Recorded> {
  const { payment } = report
  const own = attributionsUnder(report.fact, payment)
  const known = own.find(({ affiliate_id }) => affiliate_id === claimant.id)
  if (known) return { conversion: known, payment: await creditSales(report, payment, claimant, origin) }
  const attribution: Fact = {
    ...report.fact,
    kind: 'attribution',
    // The name has an attribution already, which could not be applied or has come after this claim.
    part: own.length === 0 ? '' : `${claimant.id}`,
    amount: 0,
    tax: 0,
    shipping: 0,
    discount: 0,
    lines: [],
  }
  const row = await insert(
    { ...report, fact: attribution },
    {
      customer_id: uncreditedSale(payment.members)?.customer_id ?? 0,
      affiliate_id: claimant.id,
      campaign: '',
      candidates: JSON.stringify(candidates),
      ...origin,
    },
  )
  const after = await creditSales(report, withConversion(payment, row), claimant, origin)
  log(report, row, 'conversion.create')
  return { conversion: row, payment: after }
}

const attributionsUnder = ({ reference }: Fact, { members }: Payment) =>
  members.filter(one => one.kind === 'attribution' && one.reference === reference)

/** The sales and leads that an affiliate has bought: each may name another buyer. */
async function ownPurchases(
  tx: WriteTx,
  payment: readonly Conversion[],
  claimant: store.Earning,
): Promise<Set<Conversion>> {
  const own = new Set<Conversion>()
  for (const one of payment.filter(({ kind, affiliate_id }) => isEarning(kind) && affiliate_id === 0)) {
    const customer = one.customer_id === 0 ? undefined : await customerById(tx, one.customer_id)
    if (hasBought(claimant, buyerOf(customer, emailIn(one)))) own.add(one)
  }
  return own
}

/** Credits what nobody was credited for. Before there is a sale that is nothing: refunds go with their sale. */
async function creditSales(
  recording: Recording,
  payment: Payment,
  claimant: store.Earning,
  origin?: Origin,
): Promise<Payment> {
  const { tx, settings, place } = recording
  const own = await ownPurchases(tx, payment.members, claimant)
  const sales = uncredited(payment.members).filter(sale => !own.has(sale))
  if (sales.length === 0) return payment
  let after = await credit(recording, payment, claimant.id, one => !isReversal(one.kind) && !own.has(one))
  for (const sale of sales) {
    const history = await historyBefore(tx, sale)
    const story = { payment: after.members, history, settings, place }
    const earned = await earnBy(tx, { ...sale, ...origin }, claimant, story)
    after = withReferral(after, earned)
  }
  return creditReversals(recording, after)
}

/** Credits a sale by an attribution that was reported before it was known to be of the same payment. */
export async function creditWaiting(recording: Recording, payment: Payment): Promise<Payment> {
  const attributions = attributionsIn(payment.members)
  const sale = attributions.length === 0 ? undefined : uncreditedSale(payment.members)
  if (!sale) return payment
  const claims = laterClaimsTo(sale, attributions)
  const { tx } = recording
  const claimants = await store.claimantsOf(
    tx,
    claims.map(({ affiliateId }) => affiliateId),
  )
  const { customer, buyer } = await lockBuyer(tx, sale)
  const claimant = claimants.get(attribute(claims, claimants, [buyer]).affiliateId)
  if (!claimant) return payment
  const creditWith = async () => {
    if (customer) await assignOwner(tx, customer, claimant.id)
    const after = await creditSales(recording, payment, claimant)
    return customer?.affiliate_id === null ? creditFollowing(recording, after, sale, claimant) : after
  }
  const credited = await tryCrediting(recording, creditWith)
  // It waits on: what is reported of the payment is so all the same.
  return credited instanceof Failure ? payment : credited
}

/** What fails is undone, and refuses no report of something else; if this one is of many, it fails them, see `place`. */
const tryCrediting = <T>({ tx, place }: Recording, credit: () => Promise<T>): Promise<T | Failure> =>
  place === undefined ? attempted(() => tx.attempt(credit)) : credit()

/** Number of a customer's sales credited at once when the affiliate becomes known. */
export const MOST_FOLLOWING = 100

/**
 * Renewals may be reported before the sale that identifies the affiliate. They are then credited as if they had come
 * after it: the first of them at once, others in the background (`following.ts`). One that cannot be credited refuses no
 * report of another purchase: it is left to the background, which passes over it and says so.
 * @param own the payment being reported
 * @param most how many
 * @returns the same payment, in which something may have been credited, too
 */
export async function creditFollowing(
  recording: Recording,
  own: Payment,
  { customer_id, occurred_at, conversion_id }: Following,
  claimant: store.Earning,
  most = MOST_FOLLOWING,
): Promise<Payment> {
  const { tx, payments } = recording
  if (customer_id === 0) return own
  payments.keep(own, recording.names)
  const sales = await uncreditedOf(tx, { customer_id, occurred_at, conversion_id }, most)
  const last = sales.at(-1)
  if (last && sales.length === most) {
    await continueFrom(tx, { customer_id, occurred_at: last.occurred_at, conversion_id: last.id })
  } else if (conversion_id !== undefined) await endFollowing(tx, customer_id)
  const isInBackground = conversion_id !== undefined
  let payment = own
  let done = { customer_id, occurred_at, conversion_id: conversion_id ?? 0 }
  for (const sale of sales) {
    const creditNext = () => creditOne(recording, sale, claimant)
    const credited = await (isInBackground ? creditNext() : tryCrediting(recording, creditNext))
    if (credited instanceof Failure) {
      await continueFrom(tx, done)
      return payment
    }
    if (credited?.id === own.id) payment = credited
    done = { customer_id, occurred_at: sale.occurred_at, conversion_id: sale.id }
  }
  return payment
}

async function creditOne(
  recording: Recording,
  { context, reference }: Conversion,
  claimant: store.Earning,
): Promise<Payment | undefined> {
  const { tx, payments } = recording
  const names = { context, names: [reference] }
  const payment = await payments.name(tx, names)
  if (payment.members.some(({ kind }) => kind === 'attribution')) return undefined
  const own = await ownPurchases(tx, payment.members, claimant)
  const sale = uncredited(payment.members).find(one => !own.has(one))
  if (!sale) return undefined
  const candidates = [{ by: 'customer' as const, affiliate_id: claimant.id, reason: '' as const }]
  const of = { ...recording, args: NOTHING_SENT, fact: attributionOf(sale, reference), payment }
  const credited = await creditLater(of, claimant, candidates)
  payments.keep(credited.payment, names)
  return credited.payment
}

const NOTHING_SENT: CreateArguments = { kind: 'attribution', reference: '' }

const attributionOf = ({ context, currency, occurred_at }: Conversion, reference: string): Fact => ({
  kind: 'attribution',
  context,
  reference,
  references: [],
  part: '',
  cumulative: false,
  amount: 0,
  tax: 0,
  shipping: 0,
  discount: 0,
  currency,
  currency_assumed: 0,
  lines: [],
  occurredAt: occurred_at,
})

/**
 * Applies what was reported before its sale, or joined to it only now: attributions, refunds and disputes. Takes back
 * duplicates.
 */
export async function applyReports(recording: Recording, payment: Payment): Promise<Payment> {
  const { tx, settings } = recording
  const credited = await creditWaiting(recording, payment)
  const { members } = credited
  if (!members.some(({ kind }) => isReversal(kind)) && duplicatesIn(members).length === 0) return credited
  return adjustReferrals(tx, await creditReversals(recording, credited), settings)
}

/** Logs that a conversion was recorded. */
export function log(
  { tx, settings }: Report,
  row: Conversion,
  action: 'conversion.create' | 'conversion.unattributed',
): void {
  tx.log(action, row.id, { after: conversion.logged(row, settings) })
}
