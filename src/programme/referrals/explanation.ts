/** Explains amount and status of a referral, as data and as sentences that can be sent to the affiliate. */
import { type Static, Type } from 'typebox'
import { decimalsOf } from '../../base/currencies.ts'
import { compared, ONE, whole } from '../../base/fraction.ts'
import { amountText, decimalText } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { formatDay, formatOptionalTime, formatTime } from '../../base/time.ts'
import type { Context } from '../../events/write.ts'
import { existing } from '../../records/rules.ts'
import { earnedOf, waivedIn } from '../commission/amounts.ts'
import { type Calculation, coveredOf, parseCalculation } from '../commission/calculation.ts'
import { dataOf, type EarningStory, earningSchema, sentencesOf } from '../commission/explanation.ts'
import { MOST_MEMBERS } from '../conversions/payments.ts'
import { reversalsOf } from '../conversions/reversals-store.ts'
import { runOf } from '../runs/store.ts'
import { MOST_REFUNDS, refundsIn } from './decisions.ts'
import { becauseOf, CORRECTED, DUPLICATE, draftReasonOf } from './reasons.ts'
import { type Referral, referral } from './referral.ts'
import { type ReportedReversal, reversalText, sentencesOfReversals, sentencesOfStrange } from './reversals.ts'
import * as store from './store.ts'

/** The most refunds that are listed. */
const MOST_CHILDREN = 100

export const explanationSchema = Type.Object({
  referral_id: Type.Integer({ description: 'The referral.' }),
  conversion_id: Type.Integer({ description: 'The conversion that it comes from; 0 if there is none.' }),
  status: Type.String({ description: 'Its status.' }),
  payout_run_id: Type.Integer({
    description: 'The approved payout run that has reserved it; 0 if there is none.',
  }),
  amount: Type.String({ description: 'Current amount.' }),
  currency: Type.String({ description: "The programme's currency." }),
  reason: Type.String({ description: 'Why the service has given it this status; empty if it has not.' }),
  rejection_reason: Type.String({
    description: 'Reason for the rejection that a person has given; empty if there is none.',
  }),
  original_amount: Type.String({
    description: 'Amount in the other currency in which it was earned; empty if there is none.',
  }),
  original_currency: Type.String({ description: 'That currency.' }),
  ...earningSchema,
  hold_until: Type.String({
    description: 'Until when it is pending; empty if it is not, or waits for a review.',
  }),
  refunds: Type.Array(
    Type.Object({
      referral_id: Type.Integer(),
      type: Type.String(),
      status: Type.String(),
      amount: Type.String(),
      date: Type.String(),
    }),
    { description: 'Referrals that take it back or add to it.' },
  ),
  sentences: Type.Array(Type.String(), { description: 'The same in words.' }),
})

type Explanation = Static<typeof explanationSchema>

/** @throws Failure no_referral */
export async function explain({ database, settings }: Context, id: number): Promise<Explanation> {
  const row = existing(referral, await store.findWhole(database.replica, id))
  const children = await store.childrenOf(database.replica, id, MOST_REFUNDS)
  const reversals =
    row.conversion_id === 0 ? [] : await reversalsOf(database.replica, row.conversion_id, MOST_MEMBERS)
  const runId = await runOf(database.replica, row.run_item_id)
  return explanationOf(row, { children, reversals, runId }, await settings.current())
}

interface Refunds {
  /** Referrals that take back or add to it. */
  readonly children: readonly Referral[]
  readonly reversals: readonly ReportedReversal[]
}

interface Surroundings extends Refunds {
  /** The payout run that has reserved it; 0 for none. */
  readonly runId: number
}

function explanationOf(
  row: Referral,
  { children, reversals, runId }: Surroundings,
  settings: Settings,
): Explanation {
  const { decimals, currency } = settings
  const listed = children.slice(0, MOST_CHILDREN)
  const calculation = parseCalculation(row.calculation)
  const shared = calculation && sharedWith(children, row, calculation)
  const story = storyOf(row, shared ?? calculation, settings)
  const money = (units: number) => decimalText(units, decimals)
  return {
    referral_id: row.id,
    conversion_id: row.conversion_id,
    status: row.status,
    payout_run_id: runId,
    amount: money(row.amount),
    currency,
    reason: row.reason,
    rejection_reason: row.rejection_reason,
    original_amount: originalOf(row),
    original_currency: row.original_currency,
    ...dataOf(story, settings),
    hold_until: row.status === 'pending' ? formatOptionalTime(row.hold_until) : '',
    refunds: listed.map(({ id, type, status, amount, created_at }) => ({
      referral_id: id,
      type,
      status,
      amount: money(amount),
      date: formatTime(created_at),
    })),
    sentences: [
      ...(row.parent_id === 0 || row.calculation !== ''
        ? [
            ...beginning(row, story, settings),
            ...(shared
              ? sentencesOfShare(row, children, shared, settings)
              : sentencesOfHand(row, children, calculation, settings)),
            ...sentencesOfMove(row, story),
          ]
        : [`It ${sentenceOfRefund(row, reversals, settings)}`]),
      ...(row.parent_id === 0 ? sentencesOfReversals(reversals) : []),
      ...(row.parent_id === 0 ? sentencesOfStrange(reversals, story.currency) : []),
      ...(runId === 0
        ? standing(row)
        : [`It is reserved by payout run ${runId}, which is to ${row.amount < 0 ? 'deduct' : 'pay'} it.`]),
      ...listed.flatMap(child => [
        `Referral ${child.id} ${sentenceOfRefund(child, reversals, settings)}`,
        ...(child.status === 'rejected' ? [`Referral ${child.id} was rejected, so it does not.`] : []),
      ]),
    ],
  }
}

function originalOf({ original_amount: amount, original_currency: currency }: Referral): string {
  return amount === null ? '' : decimalText(amount, decimalsOf(currency)!)
}

/** What a refund of a referral takes back or adds, and because of what. */
function sentenceOfRefund(
  { amount, status, created_at, conversion_id, parent_id, reason }: Referral,
  reversals: readonly ReportedReversal[],
  { decimals, currency }: Settings,
): string {
  const [takes, adds] = status === 'rejected' ? ['would take', 'would add'] : ['takes', 'adds']
  const verb = amount < 0 ? `${takes} back` : adds
  const sum = amountText(Math.abs(amount), { decimals, currency })
  const what = `${verb} ${sum} ${amount < 0 ? 'of' : 'to'} referral ${parent_id}`
  const day = formatDay(created_at)
  if (reason === CORRECTED) return `${what} on ${day}, because the amount of that was changed by hand.`
  const cause = reversals.find(({ id }) => id === conversion_id)
  if (cause) return `${what} because of ${reversalText(cause)}.`
  return reason === DUPLICATE
    ? `${what} on ${day}, because the sale was reported twice (conversion ${conversion_id}).`
    : `${what} on ${day}.`
}

/** Without a calculation, a referral is worth the amount that was sent. */
function storyOf(row: Referral, calculation: Calculation | undefined, { currency }: Settings): EarningStory {
  const reason = row.status === 'draft' ? (draftReasonOf(row) ?? '') : ''
  const ofSale = row.original_currency || (calculation?.sale ?? calculation)?.currency
  const of = { currency: ofSale ?? currency, reason, at: row.created_at } as const
  if (calculation) return { ...calculation, ...of }
  const amount = BigInt(row.amount)
  return { ...of, parts: [], exchange: null, left: ONE, result: { exact: whole(amount), amount } }
}

function beginning(row: Referral, earned: EarningStory, settings: Settings): string[] {
  const moneyOf = (units: number) => amountText(units, settings)
  if (row.type === 'write_off') {
    const done = row.amount < 0 ? 'written off' : 'added'
    const note = row.description === '' ? [] : [`The note says: “${row.description}”`]
    return [`${moneyOf(Math.abs(row.amount))} was ${done} by hand, with no rule applied.`, ...note]
  }
  return row.calculation === ''
    ? [`The amount of ${moneyOf(row.amount)} was sent as it is; no rule was applied.`]
    : sentencesOf(earned, settings)
}

/**
 * The calculation of a referral together with its refunds, if its own amount is the rest that they leave: it was reinstated when
 * it had refunds already. Undefined if its amount is what was earned, or what a person has set.
 */
function sharedWith(
  children: readonly Referral[],
  { amount }: Referral,
  calculation: Calculation,
): Calculation | undefined {
  const { corrected, result } = calculation
  if (corrected || result === null || result.amount === BigInt(amount)) return undefined
  const left = coveredOf(calculation)
  const earned = earnedOf(calculation, left)
  const isShared = BigInt(amount + refundsIn(children)) === earned.amount + waivedIn(calculation)
  return isShared ? { ...calculation, left, result: earned } : undefined
}

/** Why the amount is not what was earned, although nobody has set it. */
function sentencesOfShare(
  { amount }: Referral,
  children: readonly Referral[],
  calculation: Calculation,
  settings: Settings,
): string[] {
  const moneyOf = (units: number) => amountText(Math.abs(units), settings)
  const refunds = refundsIn(children)
  const byHand = Number(waivedIn(calculation))
  const causes = [
    ...(refunds === 0
      ? []
      : [`other referrals of the sale ${refunds < 0 ? 'take back' : 'add'} ${moneyOf(refunds)}`]),
    ...(byHand > 0 ? [`${moneyOf(byHand)} were waived by hand`] : []),
    ...(byHand < 0 ? [`${moneyOf(byHand)} more were taken back by hand`] : []),
  ]
  return causes.length === 0 ? [] : [`It is worth ${moneyOf(amount)} now, because ${causes.join(', and ')}.`]
}

/** Says of an amount that is not what was earned what a person has set, and what it is worth since. */
function sentencesOfHand(
  { amount, type }: Referral,
  children: readonly Referral[],
  calculation: Calculation | undefined,
  { decimals, currency }: Settings,
): string[] {
  if (!calculation || type === 'write_off') return []
  const { corrected, result } = calculation
  const isUnknown = result === null
  if (isUnknown ? !corrected : result.amount === BigInt(amount)) return []
  const changed = isUnknown ? 'The amount was set by hand' : 'It was changed by hand'
  const worth = `worth ${amountText(amount, { decimals, currency })} now.`
  const isLast = corrected && corrected.amount === BigInt(amount)
  if (!corrected || isLast || compared(corrected.left, coveredOf(calculation)) === 0) {
    return [`${changed}${isUnknown ? '' : ' afterwards'}, and is ${worth}`]
  }
  const since = `with the refunds and disputes since, it is ${worth}`
  // The amount that was set includes the refunds of that time, and the refunds may be others by now.
  if (children.length > 0 || waivedIn(calculation) !== 0n) return [`${changed}; ${since}`]
  return [`${changed} to ${amountText(corrected.amount, { decimals, currency })}; ${since}`]
}

function sentencesOfMove({ affiliate_id }: Referral, { earner }: EarningStory): string[] {
  return earner === undefined
    ? []
    : [`It was moved from affiliate ${earner} to affiliate ${affiliate_id} by hand.`]
}

function standing(row: Referral): string[] {
  const { status, amount } = row
  if (status === 'rejected') {
    const because = becauseOf(row)
    return [
      because === undefined ? 'It was rejected.' : `It was rejected, because ${because}.`,
      ...(row.rejection_reason === '' ? [] : [`The reason given: “${row.rejection_reason}”`]),
    ]
  }
  return amount < 0 ? standingOfDeduction(row) : standingOfEarning(row)
}

function standingOfEarning({ status, amount, hold_until, payout_id }: Referral): string[] {
  if (status === 'pending') {
    return [
      hold_until === null
        ? 'It is pending until it is approved.'
        : `It is pending until ${formatTime(hold_until)} UTC, and is owed from then on.`,
    ]
  }
  if (status === 'unpaid') return amount === 0 ? [] : ['It is owed, and not paid yet.']
  if (status === 'paid') return [payout_id === 0 ? 'It was paid.' : `It was paid by payout ${payout_id}.`]
  return []
}

/** A negative amount is not owed: it lowers the next payout. */
function standingOfDeduction({ status, hold_until, payout_id }: Referral): string[] {
  if (status === 'pending') {
    return [
      hold_until === null
        ? 'It is pending until it is approved, and lowers the next payout after that.'
        : `It is pending until ${formatTime(hold_until)} UTC, and lowers the next payout after that.`,
    ]
  }
  if (status === 'unpaid') return ['It will be deducted from the next payout.']
  if (status === 'paid')
    return [payout_id === 0 ? 'It was settled.' : `It was deducted from payout ${payout_id}.`]
  return []
}
