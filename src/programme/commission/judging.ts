/**
 * Calculates commission from the database: current rules, the exchange rate of the day, the affiliate's terms and sales
 * so far.
 */

import { Failure } from '../../base/errors.ts'
import { type Fraction, ONE, plus, rounded, times, whole, ZERO } from '../../base/fraction.ts'
import { mostUnits } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { DAY_SECONDS } from '../../base/time.ts'
import type { Db } from '../../storage/database.ts'
import { type Terms, termsOf } from '../affiliates/store.ts'
import { rateAt } from '../exchange/store.ts'
import {
  type AppliedRate,
  type Calculation,
  calculationOf,
  calculationText,
  factorOf,
} from './calculation.ts'
import { type Judgement, judge, judgeAmount, totalOf } from './engine.ts'
import { ruleOf } from './rule.ts'
import { RuleSet } from './rule-set.ts'
import type { Earner, Sale } from './sale.ts'
import { salesOf } from './sales.ts'
import * as store from './store.ts'

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

/** Whether the earnings of a sale may depend on earlier ones. */
export const asksForTiers = async (db: Db, settings: Settings): Promise<boolean> =>
  (await ruleSetOf(db, settings)).asksForTiers

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
}

export interface Question {
  readonly sale: Sale
  readonly affiliateId: number
  /** If they are known. */
  readonly terms?: Terms
}

/**
 * Calculates what an affiliate earns by a sale.
 * @throws Failure invalid_argument if it exceeds the largest amount
 */
export async function commissionOf(db: Db, settings: Settings, question: Question): Promise<Commission> {
  const { currency, occurredAt } = question.sale
  const exchange = await exchangeAt(db, settings, currency, occurredAt)
  const judgement = await judgementOf(db, settings, question, exchange)
  return { judgement, amount: amountOf(judgement, settings), exchange }
}

async function judgementOf(
  db: Db,
  settings: Settings,
  question: Question,
  exchange: Exchange | undefined,
): Promise<Judgement> {
  const rules = await ruleSetOf(db, settings)
  const earner = await earnerOf(db, question, rules.asksForTiers)
  return judge(question.sale, earner, { settings, rules, exchange: exchange?.exchange ?? null })
}

/** The same for an amount that was sent, in the minor unit of its currency. */
export async function commissionOfAmount(
  db: Db,
  settings: Settings,
  { amount, currency, at }: { amount: number; currency: string; at: number },
): Promise<Commission> {
  const exchange = await exchangeAt(db, settings, currency, at)
  const judgement = judgeAmount(
    BigInt(amount),
    { currency },
    { settings, exchange: exchange?.exchange ?? null },
  )
  return { judgement, amount: amountOf(judgement, settings), exchange }
}

/**
 * Calculates a draft again: the missing rate or rule may exist by now.
 * @returns undefined while it is still missing
 */
export async function commissionOfDraft(
  db: Db,
  settings: Settings,
  draft: { readonly affiliateId: number; readonly currency: string; readonly at: number },
  { sale, parts, left }: Calculation,
): Promise<Commission | 'too_large' | undefined> {
  const exchange = await exchangeAt(db, settings, draft.currency, draft.at)
  const factor = draft.currency === settings.currency ? ONE : (exchange?.exchange ?? null)
  const rejudged =
    sale && parts.length === 0
      ? await judgementOf(db, settings, { sale, affiliateId: draft.affiliateId }, exchange)
      : totalOf(parts, factor)
  if (rejudged.reason !== '') return undefined
  const judgement = totalOf(rejudged.parts, factor, left)
  // A draft that cannot become real must not block others: a person gives it an amount.
  if (!isWithinLimits(judgement, settings)) return 'too_large'
  return { judgement, amount: Number(judgement.amount), exchange }
}

/** The affiliate's terms; the sales so far only if some rule needs them. */
export async function earnerOf(
  db: Db,
  { affiliateId, sale, terms }: Question,
  withSales: boolean,
): Promise<Earner> {
  const own = terms ?? (await termsOf(db, affiliateId))
  const { rate = null, rate_type: rateType = null, group_id: groupId = null } = own ?? {}
  const tiers = withSales ? await salesOf(db, affiliateId, sale.occurredAt) : undefined
  return { id: affiliateId, rate, rateType, groupId, ...(tiers && { tiers }) }
}

/** The columns of a referral that explain its amount. */
export function columnsOf(
  { judgement, exchange }: Commission,
  {
    sale,
    currency,
    wanted,
    left,
    duplicate,
  }: Pick<Calculation, 'sale' | 'wanted' | 'duplicate'> & { currency: string; left?: Fraction },
) {
  const isForeign = exchange !== undefined || judgement.reason === 'no_exchange_rate'
  const calculation = calculationOf(judgement, {
    sale,
    wanted,
    exchange: exchange?.exchanged ?? null,
    ...(left && { left }),
    ...(duplicate && { duplicate }),
  })
  return {
    rule_id: judgement.parts.find(({ rule }) => rule)?.rule?.id ?? 0,
    original_amount: isForeign ? originalOf(judgement) : null,
    original_currency: isForeign ? currency : '',
    exchange_rate: exchange?.exchanged.rate ?? '',
    calculation: calculationText(calculation),
    reason: judgement.reason,
  }
}

/** The customer's payment in the programme's currency; null while there is no rate. */
export function inProgramme(total: number, { exchange, judgement }: Commission): number | null {
  if (judgement.reason === 'no_exchange_rate') return null
  return exchange ? Number(rounded(times(whole(total), exchange.exchange))) : total
}

/** End of the hold set by rules; null if there is none. */
export function holdUntil({ holdDays }: Judgement, at: number): number | null {
  return holdDays === null ? null : at + holdDays * DAY_SECONDS
}

/** Earnings in the currency of the sale, rounded to its minor unit. */
function originalOf({ parts }: Judgement): number {
  const inSale = parts.filter(part => part.inSale)
  return Number(rounded(inSale.reduce((sum, { earned }) => plus(sum, earned), ZERO)))
}

function isWithinLimits({ amount }: Judgement, { decimals }: Settings): boolean {
  const most = mostUnits(decimals)
  return amount <= most && amount >= -most
}

function amountOf(judgement: Judgement, settings: Settings): number {
  if (isWithinLimits(judgement, settings)) return Number(judgement.amount)
  throw new Failure('invalid_argument', { message: 'The commission would be larger than an amount can be.' })
}
