/**
 * Calculates commission from the database: current rules, the exchange rate of the day, the affiliate's terms and sales
 * so far.
 */

import { decimalsOf } from '../../base/currencies.ts'
import { type Failure, invalidArguments } from '../../base/errors.ts'
import { type Fraction, ONE, plus, rounded, times, whole, ZERO } from '../../base/fraction.ts'
import { derivedUnits } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { DAY_SECONDS } from '../../base/time.ts'
import { lockAllIdentifiers, lockIdentifiers } from '../../storage/advisory-locks.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { type Terms, termsOf } from '../affiliates/store.ts'
import { rateAt } from '../exchange/store.ts'
import { factorOf } from './amounts.ts'
import {
  type AppliedRate,
  type Calculation,
  calculationOf,
  calculationText,
  type Inputs,
} from './calculation.ts'
import { asksForSales, type Judgement, judge, judgeAmount, totalOf } from './engine.ts'
import { ruleOf } from './rule.ts'
import { RuleSet } from './rule-set.ts'
import type { Earner, Sale } from './sale.ts'
import { salesOf } from './sales.ts'
import * as store from './store.ts'
import { inTurnOf, type Place } from './turns.ts'

/** Cached rule sets: one per database, and recently replaced ones. */
const MAX_CACHED_SETS = 16

const sets = new Map<string, Promise<RuleSet>>()

/** The current rules, prepared once after each change. */
function ruleSetOf(db: Db, { rulesVersion, decimals }: Settings): Promise<RuleSet> {
  // Two databases have the same version only if one is a copy of the other.
  const key = `${rulesVersion} ${decimals}`
  const cached = sets.get(key)
  if (cached) return cached
  const set = readSet(db, rulesVersion, decimals)
  if (sets.size >= MAX_CACHED_SETS) sets.delete(sets.keys().next().value!)
  sets.set(key, set)
  set.catch(() => sets.delete(key))
  return set
}

async function readSet(db: Db, version: string, decimals: number): Promise<RuleSet> {
  // No rule has ever existed.
  const rows = version === '' ? [] : await store.currentRules(db)
  return new RuleSet(rows.map(ruleOf), decimals)
}

/**
 * Where earnings may depend on earlier sales, begins a transaction that may judge some. To be called after the settings are locked and
 * before any row is.
 * @param whose the affiliates to lock now, or `all` where sales of several may be judged one after the other; others are locked when
 * their turn comes. See docs/decisions/tiers.md.
 * @returns whether earnings may depend on earlier sales
 */
export async function lockSales(
  tx: Tx,
  settings: Settings,
  whose: 'all' | readonly number[] = [],
): Promise<boolean> {
  const { asksForTiers } = await ruleSetOf(tx, settings)
  if (asksForTiers) await (whose === 'all' ? lockAllIdentifiers(tx) : lockIdentifiers(tx, whose))
  return asksForTiers
}

/**
 * Judges and records a sale: where its earnings may depend on earlier ones of the affiliate, when those are recorded.
 * @param of with the affiliate's terms if they are known
 */
export async function judgedInTurn<T>(
  tx: Tx,
  settings: Settings,
  { terms, ...of }: Place & { readonly terms?: Terms },
  work: () => Promise<T>,
): Promise<T> {
  const rules = await ruleSetOf(tx, settings)
  const depends = terms
    ? asksForSales(earnerBy(of.affiliateId, terms), { rules, settings })
    : rules.asksForTiers
  return depends ? inTurnOf(tx, of, work) : work()
}

/** The exchange rate of a day, and the value of one minor unit. */
interface Exchange {
  readonly exchanged: AppliedRate
  readonly exchange: Fraction
}

/** @returns undefined if there is no rate, or none is needed */
export async function exchangeAt(
  db: Db,
  { currency: to }: Settings,
  from: string,
  at: number,
): Promise<Exchange | undefined> {
  if (from === to) return undefined
  const row = await rateAt(db, { from, to, at })
  if (!row) return undefined
  const { id, rate, valid_from: date } = row
  const exchanged = { id, rate, from, to, date }
  return { exchanged, exchange: factorOf(exchanged) }
}

/** The columns of a referral that follow from a calculation. */
export interface Commission {
  readonly judgement: Judgement
  /** In minor units of the programme's currency; 0 for a draft. */
  readonly amount: number
  readonly exchange: Exchange | undefined
  /** The currency of the sale; '' if it is the programme's. */
  readonly foreign: string
  /** Earnings in the currency of the sale, in its minor unit; null in the programme's, and where they do not depend on it. */
  readonly original: number | null
  /** The customer's payment in the programme's currency, in its minor unit; null while there is no rate. */
  readonly orderTotal: number | null
}

/** Which of the amounts is larger than an amount can be. */
type TooLarge = 'commission' | 'orderTotal'

/** The arguments that the amounts follow from, as whoever sent them calls them. */
export type Causes = Readonly<Record<TooLarge, string>>

/** What the customer has paid. */
interface Paid {
  /** In the minor unit of the currency of the sale; null if it is not stored. */
  readonly orderTotal: number | null
}

export interface Question extends Paid {
  readonly sale: Sale
  readonly affiliateId: number
  /** If they are known. */
  readonly terms?: Terms
}

/**
 * Calculates what an affiliate earns by a sale.
 * @throws Failure invalid_argument if an amount would be larger than one can be
 */
export async function commissionOf(
  db: Db,
  settings: Settings,
  question: Question,
  causes: Causes,
): Promise<Commission> {
  const { sale, orderTotal } = question
  const exchange = await exchangeAt(db, settings, sale.currency, sale.occurredAt)
  const judgement = await judgementOf(db, settings, question, exchange)
  const paid = { currency: sale.currency, orderTotal }
  return accepted(commissionFrom(judgement, exchange, paid, settings), causes, settings)
}

async function judgementOf(
  db: Db,
  settings: Settings,
  question: Question,
  exchange: Exchange | undefined,
): Promise<Judgement> {
  const rules = await ruleSetOf(db, settings)
  const earner = await earnerOf(db, question, of => asksForSales(of, { rules, settings }))
  return judge(question.sale, earner, { settings, rules, exchange: exchange?.exchange ?? null })
}

/** The same for an amount that was sent, in the minor unit of its currency. */
export async function commissionOfAmount(
  db: Db,
  settings: Settings,
  { amount, currency, at, orderTotal }: { amount: number; currency: string; at: number } & Paid,
  causes: Causes,
): Promise<Commission> {
  const exchange = await exchangeAt(db, settings, currency, at)
  const judgement = judgeAmount(
    BigInt(amount),
    { currency },
    { settings, exchange: exchange?.exchange ?? null },
  )
  return accepted(commissionFrom(judgement, exchange, { currency, orderTotal }, settings), causes, settings)
}

/**
 * Calculates a draft again: the missing rate or rule may exist by now.
 * @returns undefined while it is still missing, and where the affiliate was deleted before their terms had to be known
 */
export async function commissionOfDraft(
  tx: Tx,
  settings: Settings,
  draft: { readonly affiliateId: number; readonly currency: string; readonly at: number } & Paid,
  { sale, parts, left }: Calculation,
): Promise<Commission | 'too_large' | undefined> {
  const exchange = await exchangeAt(tx, settings, draft.currency, draft.at)
  const factor = draft.currency === settings.currency ? ONE : (exchange?.exchange ?? null)
  const unjudged = parts.length === 0 ? sale : null
  const terms = unjudged ? await termsOf(tx, draft.affiliateId) : undefined
  // By what others earn, it would be owed at terms that were never theirs.
  if (unjudged && !terms) return undefined
  const rejudged =
    unjudged && terms
      ? await judgedInTurn(tx, settings, { affiliateId: draft.affiliateId, terms }, () =>
          judgementOf(tx, settings, { ...draft, sale: unjudged, terms }, exchange),
        )
      : totalOf(parts, factor)
  if (rejudged.reason !== '') return undefined
  // All of the sale, whatever refunds have left of it: a dispute that is won gives back what it took.
  const whole = commissionFrom(rejudged, exchange, draft, settings)
  // A draft that cannot become real must not block others: a person gives it an amount.
  return typeof whole === 'string' ? 'too_large' : remainderOf(whole, left)
}

/** What refunds and disputes have left of a commission. */
export function remainderOf(commission: Commission, left: Fraction): Commission {
  const { judgement, exchange } = commission
  if (judgement.reason !== '') return commission
  const remainder = totalOf(judgement.parts, exchange?.exchange ?? ONE, left)
  return { ...commission, judgement: remainder, amount: Number(remainder.amount) }
}

/**
 * The affiliate's terms, and the sales so far if they are needed: of what was reported late, these take long to read.
 * @param asks whether they are needed
 */
export async function earnerOf(
  db: Db,
  { affiliateId, sale, terms }: Omit<Question, keyof Paid>,
  asks: (earner: Omit<Earner, 'tiers'>) => boolean,
): Promise<Earner> {
  const earner = earnerBy(affiliateId, terms ?? (await termsOf(db, affiliateId)))
  return asks(earner) ? { ...earner, tiers: await salesOf(db, affiliateId, sale.occurredAt) } : earner
}

function earnerBy(
  id: number,
  { rate = null, rate_type: rateType = null, group_id: groupId = null }: Partial<Terms> = {},
) {
  return { id, rate, rateType, groupId }
}

/** The columns of a referral that explain its amount. */
export function columnsOf(
  { judgement, exchange, foreign, original }: Commission,
  inputs: Omit<Inputs, 'exchange' | 'currency'>,
) {
  const calculation = calculationOf(judgement, {
    ...inputs,
    exchange: exchange?.exchanged ?? null,
    ...(original === null && foreign !== '' && { currency: foreign }),
  })
  return {
    rule_id: judgement.parts.find(({ rule }) => rule)?.rule?.id ?? 0,
    original_amount: original,
    original_currency: original === null ? '' : foreign,
    exchange_rate: exchange?.exchanged.rate ?? '',
    calculation: calculationText(calculation),
    reason: judgement.reason,
  }
}

/** End of the hold set by rules; null if there is none. */
export function holdUntil({ holdDays }: Pick<Judgement, 'holdDays'>, at: number): number | null {
  return holdDays === null ? null : at + holdDays * DAY_SECONDS
}

/** The amounts that are stored of a judgement, each of which has to be one that an amount can be. */
function commissionFrom(
  judgement: Judgement,
  exchange: Exchange | undefined,
  { currency, orderTotal: paid }: { readonly currency: string } & Paid,
  { currency: programmeCurrency, decimals }: Settings,
): Commission | TooLarge {
  const foreign = currency === programmeCurrency ? '' : currency
  const isExchanged = exchange !== undefined || judgement.reason === 'no_exchange_rate'
  const amount = derivedUnits(judgement.amount, decimals)
  const original = isExchanged ? derivedUnits(originalOf(judgement), decimalsOf(currency)!) : null
  const factor = foreign === '' ? ONE : exchange?.exchange
  const orderTotal = paid === null || !factor ? null : derivedUnits(inProgramme(paid, factor), decimals)
  if (amount === undefined || original === undefined) return 'commission'
  if (orderTotal === undefined) return 'orderTotal'
  return { judgement, amount, exchange, foreign, original, orderTotal }
}

/** Earnings in the currency of the sale, rounded to its minor unit. */
function originalOf({ parts }: Judgement): bigint {
  const inSale = parts.filter(part => part.inSale)
  return rounded(inSale.reduce((sum, { earned }) => plus(sum, earned), ZERO))
}

const inProgramme = (total: number, factor: Fraction): bigint => rounded(times(whole(total), factor))

/** @throws Failure invalid_argument */
function accepted(commission: Commission | TooLarge, causes: Causes, { currency }: Settings): Commission {
  if (commission === 'commission') throw commissionTooLarge(causes.commission)
  if (commission !== 'orderTotal') return commission
  throw invalidArguments({
    [causes.orderTotal]: `must be smaller: in ${currency} it would be more than an amount can be.`,
  })
}

/** @param argument that the commission follows from */
export const commissionTooLarge = (argument: string): Failure =>
  invalidArguments({ [argument]: 'must be smaller: the commission would be more than an amount can be.' })
