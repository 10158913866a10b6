/**
 * People's decisions about a referral that a sale has earned, and about its refunds: another amount or status. They are stored in
 * the calculation of the sale's referral, so that refunds and disputes that are reported later start from them.
 */
import { Failure } from '../../base/errors.ts'
import { fractionText, ONE } from '../../base/fraction.ts'
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import { targetOf, waivedOf } from '../commission/amounts.ts'
import { type Calculation, calculationText, coveredOf, parseCalculation } from '../commission/calculation.ts'
import { correctedBy, raisedTo, waivedAsOwed } from '../commission/decisions.ts'
import { addSales } from '../commission/sales.ts'
import { MOST_MEMBERS } from '../conversions/payments.ts'
import { reportsOfPayment } from '../conversions/reversals-store.ts'
import { adjust } from './changing.ts'
import { becauseOf, CORRECTED, DUPLICATE, isTakenBack, REFUNDED, whyDraft } from './reasons.ts'
import type { Referral } from './referral.ts'
import { recordRefund } from './refunds.ts'
import type { CreateArguments } from './schema.ts'
import * as store from './store.ts'
import { refuseTwice, refuseWon, winOf } from './waiving.ts'

/** The most refunds of one sale that are looked at: no payment has more conversions. */
export const MOST_REFUNDS = 1000
/** Decimals of a share in the log: enough to tell apart any two shares of the largest sale. */
const MOST_DIGITS = 40

/**
 * Records a person's decision about the referral of a sale or about one of its refunds.
 * @param after undefined if it is deleted
 * @returns further columns to change in the row
 * @throws Failure referral_conflict if refunds would remain without the referral that they take back
 */
export async function decide(
  tx: WriteTx,
  settings: Settings,
  before: Referral,
  after?: Referral,
): Promise<Partial<Pick<Referral, 'reason' | 'calculation'>>> {
  const reason = after && after.status !== before.status ? '' : before.reason
  if (before.conversion_id === 0) return { reason }
  if (after && after.parent_id !== before.parent_id) throw hasParent(before)
  if (before.parent_id !== 0) {
    await waive(tx, settings, before, after)
    return { reason }
  }
  const isRejected = after?.status === 'rejected' && before.status !== 'rejected'
  const isGone = isRejected || after?.affiliate_id !== before.affiliate_id
  const isSet = after !== undefined && isAmountSet(before, after)
  if (!isGone && !isSet) return { reason }
  const refunds = (await store.lockChildren(tx, before.id, MOST_REFUNDS)).filter(isRefund)
  if (isGone && refunds.length > 0) throw hasRefunds(refunds[0]!)
  const calculation = parseCalculation(before.calculation)
  if (!calculation || !isSet) return { reason }
  const correction = {
    from: before.amount,
    to: after.amount,
    refunds: sumOf(refunds),
    isRejected: after.status === 'rejected',
  }
  return { reason, calculation: calculationText(correctedBy(calculation, correction)) }
}

/** After a person has set the amount of a sale's referral: brings the sum of it and its refunds to what is owed then. */
export async function balance(
  tx: WriteTx,
  { before, after }: { before: Referral; after: Referral },
  settings: Settings,
): Promise<void> {
  const isOfSale = after.conversion_id !== 0 && after.parent_id === 0
  if (!isOfSale || after.amount === before.amount) return
  const children = await store.childrenOf(tx, after.id, MOST_REFUNDS)
  const refunds = children.filter(isRefund)
  for (const child of children.filter(one => one.conversion_id !== 0 && !isRefund(one)))
    await adjustRejected(tx, child, { before, after, settings })
  const last = refunds.at(-1)
  const calculation = parseCalculation(after.calculation)
  const target = calculation && targetOf(calculation, coveredOf(calculation))
  if (!last || target === undefined) return
  const difference = Number(target) - after.amount - sumOf(refunds)
  if (difference === 0) return
  const cause = { ...last, created_at: now(), reason: CORRECTED }
  await recordRefund(tx, after, difference, { cause, reason: 'referral.edit', settings })
}

/** Adjusts a rejected refund, so that it takes back its share of the new amount if it is reinstated. */
async function adjustRejected(
  tx: WriteTx,
  child: Referral,
  { before, after, settings }: { before: Referral; after: Referral; settings: Settings },
): Promise<void> {
  const [was, is] = [before, after].map(({ calculation }) => {
    const parsed = parseCalculation(calculation)
    return parsed && waivedOf(parsed, child.conversion_id)
  })
  if (is === undefined || is === was || was !== BigInt(-child.amount)) return
  await adjust(tx, child, { amount: Number(-is) }, settings, 'referral.edit')
}

/** Whether a child of a sale's referral counts towards what is left of the sale. One that a person has recorded does not. */
const isRefund = ({ status, conversion_id }: Referral) => status !== 'rejected' && conversion_id !== 0

const sumOf = (refunds: readonly Referral[]) => refunds.reduce((sum, { amount }) => sum + amount, 0)

/** The sum that the refunds of a sale take back (negative) or add. */
export const refundsIn = (children: readonly Referral[]): number => sumOf(children.filter(isRefund))

/** The sum of a sale's referral and its refunds. */
export const standsIn = ({ own, children }: { own: Referral; children: readonly Referral[] }): number =>
  (isTakenBack(own) ? 0 : own.amount) + refundsIn(children)

/** A referral that is moved to another affiliate keeps the amount that follows from the terms of the one who earned it. */
export function earnerOf(before: Referral, after: Referral): Partial<Pick<Referral, 'calculation'>> {
  if (after.affiliate_id === before.affiliate_id) return {}
  const calculation = parseCalculation(before.calculation)
  if (!calculation || calculation.parts.length === 0) return {}
  const { earner = before.affiliate_id, ...rest } = calculation
  return { calculation: calculationText(earner === after.affiliate_id ? rest : { ...rest, earner }) }
}

const isAmountSet = (before: Referral, after: Referral) =>
  before.status === 'draft' ? !isWithoutAmount(after) : after.amount !== before.amount

/** Records in the calculation of the sale's referral that a person has changed, rejected, reinstated or deleted a refund. */
async function waive(
  tx: WriteTx,
  settings: Settings,
  before: Referral,
  after: Referral | undefined,
): Promise<void> {
  if (after && after.affiliate_id !== before.affiliate_id) {
    throw new Failure('referral_conflict', {
      message: `The referral takes part of referral ${before.parent_id} back: it belongs to the same affiliate.`,
      data: { referral_id: before.parent_id },
    })
  }
  const worth = (of: Referral | undefined) => (of && of.status !== 'rejected' ? of.amount : 0)
  const difference = worth(after) - worth(before)
  if (difference === 0) return
  const isPutBack = before.status === 'rejected'
  const reports = await reportsOfPayment(tx, before.conversion_id, MOST_MEMBERS)
  if (isPutBack) refuseWon(before, reports)
  const own = await store.referrals.lock(tx, before.parent_id)
  if (isPutBack && (own === undefined || own.status === 'rejected')) throw takesNothingBack(before, own)
  const stored = own && parseCalculation(own.calculation)
  if (!stored) return
  const calculation = raisedTo(stored, await owedFor(tx, own))
  // When a dispute is won, what was waived of it ends. A later decision about its refund is about what was given back then.
  const conversion = winOf(before, reports) ?? before.conversion_id
  const decision = { conversion, amount: BigInt(difference) }
  const isSet = after !== undefined && after.amount !== before.amount
  if (difference > 0 && !isSet) refuseTwice(before, calculation, decision, reports)
  const { waived, missing } = waivedAsOwed(calculation, decision, { isAddition: before.amount > 0, isSet })
  await keep(tx, own, waived)
  if (missing === 0n) return
  const cause = { ...before, created_at: now(), reason: CORRECTED }
  await recordRefund(tx, own, Number(missing), { cause, reason: 'referral.edit', settings })
}

async function owedFor(tx: WriteTx, own: Referral): Promise<bigint> {
  return BigInt(standsIn({ own, children: await store.childrenOf(tx, own.id, MOST_REFUNDS) }))
}

async function keep(tx: WriteTx, before: Referral, calculation: Calculation): Promise<Referral> {
  const after = { ...before, calculation: calculationText(calculation) }
  await store.keepCalculation(tx, before.id, after.calculation)
  await addSales(tx, [{ before, after }])
  return after
}

/**
 * Stores a calculation that covers another part of the sale, if the amount stays the same: because it is that of a draft, or
 * rounds to the same.
 */
export async function coverAnew(tx: WriteTx, before: Referral, calculation: Calculation): Promise<Referral> {
  const after = await keep(tx, before, calculation)
  tx.log('referral.edit', before.id, { before: shareOf(before), after: shareOf(after) })
  return after
}

/** The part of the sale that is left, as shown in the log. */
function shareOf({ calculation: text }: Referral) {
  const calculation = parseCalculation(text)
  return { left: calculation ? fractionText(coveredOf(calculation), MOST_DIGITS) : '' }
}

/** Later refunds of the sale are computed from the children of its referral, so none of them may leave it. */
const hasParent = ({ parent_id }: Referral) =>
  new Failure('referral_conflict', {
    message: `The referral follows from a conversion, which says what it takes back or adds to: parent_id stays ${parent_id}.`,
    data: { parent_id },
  })

/** A referral that a person makes pending again waits for a review: a hold that is over would make it unpaid at once. */
export const endOfHold = (before: Referral, after: Referral): Partial<Pick<Referral, 'hold_until'>> =>
  after.status === 'pending' &&
  before.status !== 'pending' &&
  before.hold_until !== null &&
  before.hold_until <= now() &&
  after.hold_until === before.hold_until
    ? { hold_until: null }
    : {}

/** Without the referral of its sale, the affiliate would owe the refund. */
const takesNothingBack = ({ parent_id }: Referral, own: Referral | undefined) =>
  new Failure('referral_conflict', {
    message: `It takes part of referral ${parent_id} back, which ${own ? 'is rejected: put that back first' : 'was deleted'}.`,
    data: { referral_id: parent_id },
  })

const hasRefunds = ({ id }: Referral) =>
  new Failure('referral_conflict', {
    message: `Referral ${id} takes part of it back: reject or delete that first.`,
    data: { referral_id: id },
  })

/**
 * Refuses to reinstate a referral without an amount if reports have left nothing of its sale: nothing would be owed, and the next
 * report would reject it again.
 * @throws Failure referral_conflict
 */
export function refuseNothingLeft(before: Referral, after: Referral): void {
  if (before.status !== 'rejected' || after.status === 'rejected' || after.amount !== 0) return
  const calculation = parseCalculation(before.calculation)
  if (!calculation || coveredOf(calculation).numerator !== 0n) return
  const because = becauseOf({ ...before, reason: calculation.duplicate ? DUPLICATE : REFUNDED })
  throw new Failure('referral_conflict', {
    message: `Nothing is owed for it, because ${because}: send an amount with the status if it is to be owed all the same.`,
    data: { from: before.status, to: after.status },
  })
}

/** A hold that a person sets for a draft begins to apply when it is no longer a draft. */
export function holdOfDraft(before: Referral, after: Referral): Partial<Pick<Referral, 'calculation'>> {
  if (after.status !== 'draft' || after.hold_until === before.hold_until) return {}
  const calculation = parseCalculation(before.calculation)
  if (!calculation?.wanted) return {}
  const wanted = { ...calculation.wanted, holdUntil: after.hold_until }
  return { calculation: calculationText({ ...calculation, wanted }) }
}

/**
 * A draft has no amount, even if it was rejected: a person sends one together with the status that it is to have.
 * @throws Failure referral_conflict if only one of the two is sent
 */
export function refuseUnknownAmount(
  before: Referral,
  after: Referral,
  { amount }: Partial<CreateArguments>,
): void {
  if (before.status !== 'draft' && (before.status !== 'rejected' || !hasNoAmount(before))) return
  const isWaiting = isWithoutAmount(after)
  if (isWaiting ? amount === undefined || amount === 0 : amount !== undefined) return
  const because = whyDraft(before) ?? 'its amount is not known'
  const isSo =
    before.status === 'draft' ? `is a draft, because ${because}` : 'was rejected before its amount was known'
  const missing = isWaiting ? 'the status that it is to have with its amount' : 'its amount as well'
  throw new Failure('referral_conflict', {
    message: `The referral ${isSo}: send ${missing}.`,
    data: { reason: before.reason },
  })
}

const isWithoutAmount = ({ status }: Referral) => status === 'draft' || status === 'rejected'

function hasNoAmount({ calculation: text }: Referral): boolean {
  const calculation = parseCalculation(text)
  return calculation !== undefined && targetOf(calculation, ONE) === undefined
}
