/**
 * Referrals of a payment: one for each credited sale, and what refunds and disputes leave of it. The referrals are
 * compared with their target, so the order of reports makes no difference.
 * See docs/decisions/conversions.md.
 */
import { decimalsOf } from '../../base/currencies.ts'
import { compared, type Fraction, ONE, ZERO } from '../../base/fraction.ts'
import { derivedUnits } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import { earnedOf, targetOf, unboundedOf } from '../commission/amounts.ts'
import { type Calculation, calculationText, coveredOf, parseCalculation } from '../commission/calculation.ts'
import { anchored, raisedTo, withoutWaivers } from '../commission/decisions.ts'
import { ENDED, isEnded, type Judgement, monthsSince } from '../commission/engine.ts'
import {
  columnsOf,
  commissionOf,
  commissionTooLarge,
  holdUntil,
  judgedInTurn,
  remainderOf,
} from '../commission/judging.ts'
import { type Line, lineFrom, type Sale } from '../commission/sale.ts'
import type { Reason } from '../ledger/because.ts'
import { adjust, earn } from '../referrals/changing.ts'
import { coverAnew, standsIn } from '../referrals/decisions.ts'
import { DUPLICATE, isTakenBack, REFUNDED } from '../referrals/reasons.ts'
import { type Referral, referral } from '../referrals/referral.ts'
import { type Cause, recordRefund } from '../referrals/refunds.ts'
import { type Conversion, isEarning, isPaid, isReversal, type SentLine } from './conversion.ts'
import { isOver } from './left.ts'
import { lockReferrals, type Payment } from './payments.ts'
import { duplicatesIn, leftIn, reversalsIn } from './sold.ts'
import type { Earning } from './store.ts'

/** The earlier orders of the customer. */
interface History {
  readonly orders: number
  readonly first: number | null
}

/** What the commission of a sale follows from, in its report. */
const CAUSES = { commission: 'amount', orderTotal: 'amount' }

interface Story {
  readonly payment: readonly Conversion[]
  readonly history: History
  readonly settings: Settings
  /** See `Recording`. */
  readonly place?: number | undefined
}

/** Creates the referral of a credited sale. @throws Failure invalid_argument if it would earn more than an amount can be */
export function earnBy(
  tx: WriteTx,
  conversion: Conversion,
  earner: Earning,
  story: Story,
): Promise<Referral> {
  const { settings, place } = story
  const of = { affiliateId: earner.id, terms: earner, place }
  return judgedInTurn(tx, settings, of, () => createReferral(tx, conversion, earner, story))
}

async function createReferral(
  tx: WriteTx,
  conversion: Conversion,
  earner: Earning,
  { payment, history, settings }: Story,
): Promise<Referral> {
  const sale = saleFrom(conversion, history)
  const orderTotal = isPaid(conversion.kind) ? conversion.amount : null
  const question = { sale, affiliateId: earner.id, terms: earner, orderTotal }
  const whole = await commissionOf(tx, settings, question, CAUSES)
  const remaining = leftIn(payment, conversion)
  const commission = remainderOf(whole, remaining)
  const { judgement } = commission
  const target = { status: null, holdUntil: null, byHold: true } as const
  const newRow = {
    ...referral.newRow({ campaign: conversion.campaign }, settings, { time: now(), actor: 0 }),
    affiliate_id: earner.id,
    visit_id: conversion.visit_id,
    customer_id: conversion.customer_id,
    ...columnsOf(commission, { sale, wanted: target, left: remaining }),
    ...standingOf(judgement, conversion, remaining.numerator === 0n),
    amount: commission.amount,
    currency: settings.currency,
    context: conversion.context,
    reference: conversion.reference,
    reference_key: conversion.reference_key,
    products: conversion.lines,
    created_at: conversion.occurred_at,
    type: conversion.kind === 'lead' ? ('lead' as const) : ('sale' as const),
    order_total: commission.orderTotal,
    conversion_id: conversion.id,
  }
  return earn(tx, newRow, settings)
}

type Beginning = Pick<Referral, 'status' | 'hold_until' | 'reason'>

/** First status of a referral. */
function standingOf(
  { reason, holdDays, parts }: Pick<Judgement, 'reason' | 'holdDays' | 'parts'>,
  { occurred_at }: Conversion,
  isTakenBack: boolean,
): Beginning {
  if (reason !== '') return { status: 'draft', hold_until: null, reason }
  if (isEnded(parts)) return { status: 'rejected', hold_until: null, reason: ENDED }
  const until = holdDays ? holdUntil({ holdDays }, occurred_at) : null
  if (isTakenBack) return { status: 'rejected', hold_until: until, reason: REFUNDED }
  return until !== null && until > now()
    ? { status: 'pending', hold_until: until, reason: '' }
    : { status: 'unpaid', hold_until: null, reason: '' }
}

function saleFrom(conversion: Conversion, { orders, first }: History): Sale {
  const { kind, currency, occurred_at: occurredAt, customer_id } = conversion
  if (!isEarning(kind)) throw new TypeError(`a ${kind} earns nothing`)
  const isKnown = customer_id !== 0
  return {
    kind,
    amount: BigInt(conversion.amount),
    tax: BigInt(conversion.tax),
    shipping: BigInt(conversion.shipping),
    currency,
    decimals: decimalsOf(currency)!,
    lines: linesOf(conversion),
    country: conversion.country,
    coupon: conversion.coupon,
    campaign: conversion.campaign,
    occurredAt,
    order: isKnown ? orders + 1 : null,
    months: isKnown ? monthsSince(first ?? occurredAt, occurredAt) : null,
  }
}

function linesOf({ lines, currency }: Conversion): Line[] {
  const decimals = decimalsOf(currency)!
  const sent: SentLine[] = lines === '' ? [] : JSON.parse(lines)
  return sent.map(line => lineFrom(line, decimals))
}

/**
 * Adjusts the referrals of a payment to what is left of it, which is nothing of a duplicate. An open referral is lowered
 * or raised; where it is paid, reserved or not enough, a refund is recorded, which the next payout deducts. What a person
 * has rejected stays rejected.
 * @returns the payment with its referrals as they are now
 */
export async function adjustReferrals(tx: WriteTx, payment: Payment, settings: Settings): Promise<Payment> {
  const { members } = payment
  const reversal = members.findLast(({ kind }) => isReversal(kind))
  const duplicates = new Set(duplicatesIn(members).map(({ id }) => id))
  const referrals = new Map((await lockReferrals(tx, payment)).map(row => [row.id, row]))
  const byParent = Map.groupBy(referrals.values(), ({ parent_id }) => parent_id)
  const own = new Map(byParent.get(0)?.map(row => [row.conversion_id, row]))
  for (const conversion of members.filter(({ kind }) => isEarning(kind))) {
    const referralOfSale = own.get(conversion.id)
    const isDuplicate = duplicates.has(conversion.id)
    const cause = isDuplicate ? conversion : reversal
    // A person has deleted it.
    if (!cause || !referralOfSale || referralOfSale.calculation === '') continue
    const children = byParent.get(referralOfSale.id) ?? []
    const left = isDuplicate ? ZERO : leftIn(members, conversion)
    const changes = await adjustReferral(tx, {
      own: referralOfSale,
      children,
      left,
      leftBut: isOne =>
        leftIn(
          members.filter(one => one.kind !== 'dispute' || !isOne(one)),
          conversion,
        ),
      cause,
      reversals: reversalsIn(members, conversion),
      settings,
    })
    for (const row of changes) referrals.set(row.id, row)
  }
  return { ...payment, referrals: [...referrals.values()] }
}

interface Standing {
  readonly own: Referral
  readonly children: readonly Referral[]
  readonly left: Fraction
  /** What would be left without some of the disputes. */
  readonly leftBut: (isOne: (dispute: Conversion) => boolean) => Fraction
  readonly cause: Conversion
  readonly reversals: readonly Conversion[]
  readonly settings: Settings
}

const isOpen = ({ status, run_item_id }: Referral) =>
  (status === 'pending' || status === 'unpaid') && run_item_id === 0

async function adjustReferral(tx: WriteTx, standing: Standing): Promise<Referral[]> {
  const { own, left } = standing
  const stored = parseCalculation(own.calculation)
  if (!stored) return []
  const calculation = anchored(released(raisedTo(stored, BigInt(standsIn(standing))), standing), left)
  // A draft (or former draft) without an amount is computed from what is left, once there is a rate or a rule.
  const target = own.status === 'draft' ? undefined : targetOf(calculation, left)
  const changes =
    target === undefined ? [] : await approach(tx, standing, calculation, amountOf(target, standing))
  if (compared(coveredOf(calculation), left) !== 0 && !changes.some(({ id }) => id === own.id)) {
    // Its own amount stays that of what was left before its refunds: only what all of them stand for together has changed.
    const hasRefunds = target !== undefined && standing.children.length + changes.length > 0
    const after = hasRefunds ? withCovered(calculation, standing) : withLeft(calculation, standing)
    return [...changes, await coverAnew(tx, own, after)]
  }
  return changes
}

/**
 * Ends what was waived of disputes that are over, as what they have taken back has ended. Shops report disputes one by one, as
 * totals, or both ways, so as much of it stays waived as another report still says to be disputed:
 * - of single disputes, what totals take besides the single ones that are open;
 * - of totals, what all disputes take.
 * From either, what is waived of disputes that stand goes off first.
 */
function released(calculation: Calculation, { left, leftBut, reversals }: Standing): Calculation {
  if (!calculation.waivers?.length || compared(left, coveredOf(calculation)) <= 0) return calculation
  const amongDisputes = (is: (dispute: Conversion) => boolean) => {
    const ids = reversals.filter(one => one.kind === 'dispute' && is(one)).map(({ id }) => id)
    return (conversion: number) => ids.includes(conversion)
  }
  const isTotal = (one: Conversion) => one.cumulative === 1
  const isSingle = (one: Conversion) => !isTotal(one)
  /** @param isStillTaking disputes of which what they take now may stay waived */
  const ended = (of: Calculation, isOfKind: typeof isTotal, isStillTaking: typeof isTotal): Calculation => {
    const hasEnded = (one: Conversion) => isOfKind(one) && isOver(one, reversals)
    const isStanding = amongDisputes(one => isStillTaking(one) && !hasEnded(one))
    const taken = (unboundedOf(of, leftBut(isStillTaking)) ?? 0n) - (unboundedOf(of, left) ?? 0n)
    const waivers = of.waivers?.filter(({ conversion }) => isStanding(conversion)) ?? []
    const most = waivers.reduce((rest, { amount }) => rest - amount, taken)
    return withoutWaivers(of, amongDisputes(hasEnded), most)
  }
  return ended(ended(calculation, isSingle, isTotal), isTotal, () => true)
}

/**
 * The target as an amount of a referral.
 * @throws Failure invalid_argument if it is too large, as one that was set may become with what is left of its sale
 */
function amountOf(target: bigint, { settings }: Standing): number {
  const amount = derivedUnits(target, settings.decimals)
  if (amount === undefined) throw commissionTooLarge(CAUSES.commission)
  return amount
}

/** Brings a sale's referral and its refunds to their target. */
async function approach(
  tx: WriteTx,
  standing: Standing,
  calculation: Calculation,
  target: number,
): Promise<Referral[]> {
  const { own, cause, settings } = standing
  const wasTakenBack = isTakenBack(own)
  if (own.status === 'rejected' && !wasTakenBack) {
    // It stays rejected. Whoever reinstates it gets the right amount.
    const change = { amount: target, calculation: calculationText(withLeft(calculation, standing)) }
    return own.amount === target ? [] : [await adjust(tx, own, change, settings, postingReason(cause))]
  }
  // While nothing is left of the sale, an amount that was set since does not reinstate it.
  if (wasTakenBack && standing.left.numerator === 0n) return []
  const difference = target - standsIn(standing)
  if (difference === 0) return isStatusLate(standing) ? [await adjustTo(tx, standing, calculation, 0)] : []
  if (!isOpen(own) && !wasTakenBack) return [await refund(tx, standing, calculation, difference)]
  const openAmount = wasTakenBack ? 0 : own.amount
  const fullAmount = Number(targetOf(calculation, ONE))
  const amount = Math.min(Math.max(openAmount + difference, 0), Math.max(fullAmount, openAmount))
  const uncovered = difference - (amount - openAmount)
  const isRight = amount === openAmount && !isStatusLate(standing)
  const adjustments = isRight ? [] : [await adjustTo(tx, standing, calculation, amount)]
  return uncovered === 0 ? adjustments : [...adjustments, await refund(tx, standing, calculation, uncovered)]
}

/** Whether its status has to change though its amount is right: one of 0 is rejected and reinstated when others are. */
function isStatusLate({ own, left }: Standing): boolean {
  const wasTakenBack = isTakenBack(own)
  const isGone = left.numerator === 0n
  return own.amount === 0 && (isOpen(own) || wasTakenBack) && wasTakenBack !== isGone
}

function adjustTo(
  tx: WriteTx,
  standing: Standing,
  calculation: Calculation,
  amount: number,
): Promise<Referral> {
  const { own, cause, settings } = standing
  const change = changeTo(own, amount, withLeft(calculation, standing))
  return adjust(tx, own, change, settings, postingReason(cause))
}

function postingReason({ kind }: Conversion): Reason {
  return kind === 'refund' || kind === 'dispute' || kind === 'dispute_won'
    ? `conversion.${kind}`
    : 'conversion.duplicate'
}

/** With what the referral and its refunds stand for together. */
function withCovered(
  { duplicate: _duplicate, ...calculation }: Calculation,
  { left: covered, cause }: Pick<Standing, 'left' | 'cause'>,
): Calculation {
  return { ...calculation, covered, ...duplicateBy(cause) }
}

const duplicateBy = ({ kind }: Conversion) => !isReversal(kind) && { duplicate: true as const }

function withLeft(
  { covered: _covered, duplicate: _duplicate, ...calculation }: Calculation,
  { left, cause }: Pick<Standing, 'left' | 'cause'>,
): Calculation {
  const remaining = { left, ...duplicateBy(cause) }
  if (calculation.result === null) return { ...calculation, ...remaining }
  const { exact, amount } = earnedOf(calculation, left)
  return { ...calculation, ...remaining, result: { exact, amount } }
}

/**
 * A referral that refunds lower to nothing is rejected, as is that of a duplicate. If a dispute is won it is raised again,
 * to its former status, except for a hold that has ended.
 */
function changeTo(own: Referral, amount: number, calculation: Calculation) {
  const { status, hold_until: holdUntil } = own
  if (amount === 0 && calculation.left.numerator === 0n) {
    const wanted = { status: status === 'draft' ? null : status, holdUntil }
    const text = calculationText({ ...calculation, wanted })
    const reason = calculation.duplicate ? DUPLICATE : REFUNDED
    return { amount, calculation: text, status: 'rejected' as const, reason }
  }
  if (status !== 'rejected') return { amount, calculation: calculationText(calculation) }
  const { wanted } = calculation
  const waitsForReview = wanted?.status === 'pending' && wanted.holdUntil === null
  const isHeld = wanted?.status !== 'unpaid' && holdUntil !== null && holdUntil > now()
  return {
    amount,
    calculation: calculationText({ ...calculation, wanted: null }),
    status: waitsForReview || isHeld ? ('pending' as const) : ('unpaid' as const),
    reason: '',
  }
}

function refund(
  tx: WriteTx,
  standing: Standing,
  calculation: Calculation,
  amount: number,
): Promise<Referral> {
  const { own, cause, settings } = standing
  const of = amount < 0 ? causeOf(reversalBehind(standing, calculation)) : causeOf(cause)
  const because = { ...of, created_at: cause.occurred_at }
  return recordRefund(tx, own, amount, { cause: because, reason: postingReason(cause), settings })
}

/**
 * The report that a referral belongs to which takes something back. That is the one that came, unless a dispute has ended by it,
 * of which more was waived than comes back: then others take the rest by now. Of these it is a dispute that stands, so that it ends
 * with that, or else a refund.
 */
function reversalBehind({ cause, reversals, left }: Standing, calculation: Calculation): Conversion {
  if (compared(left, coveredOf(calculation)) <= 0) return cause
  const taking = reversals.filter(({ amount }) => amount > 0)
  const dispute = taking.findLast(one => one.kind === 'dispute' && !isOver(one, reversals))
  return dispute ?? taking.findLast(({ kind }) => kind === 'refund') ?? cause
}

const causeOf = ({ id, kind, reference, reference_key, occurred_at }: Conversion): Cause => ({
  reference,
  reference_key,
  created_at: occurred_at,
  reason: isReversal(kind) ? kind : DUPLICATE,
  conversion_id: id,
})
