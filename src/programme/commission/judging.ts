/**
 * Judges commission by the database: the rules in force, the exchange rate of the day, the affiliate's terms and sales
 * so far.
 */

import { decimalsOf } from '../../base/currencies.ts'
import { Failure } from '../../base/errors.ts'
import { type Fraction, ONE, parseFraction, plus, rounded, times, whole, ZERO } from '../../base/fraction.ts'
import { mostUnits } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { DAY_SECONDS } from '../../base/time.ts'
import type { Db } from '../../storage/database.ts'
import { type Terms, termsOf } from '../affiliates/store.ts'
import { rateAt } from '../exchange/store.ts'
import { type AppliedRate, type Calculation, calculationOf, calculationText } from './calculation.ts'
import { exchangeOf, type Judgement, judge, judgeAmount, totalOf } from './engine.ts'
import type { Earner, Sale } from './model.ts'
import { ruleOf } from './rule.ts'
import { RuleSet } from './rule-set.ts'
import { salesOf } from './sales.ts'
import * as store from './store.ts'

/** How many prepared sets of rules are cached: one for each database, and those that have just changed. */
const MAX_CACHED_SETS = 16

const sets = new Map<string, Promise<RuleSet>>()

/** The rules in force, prepared once after each change. */
function ruleSetOf(db: Db, { rulesVersion, decimals }: Settings): Promise<RuleSet> {
  // Two databases have the same version only when one is a copy of the other.
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
  // There has never been a rule.
  const rows = version === '' ? [] : await store.currentRules(db)
  return new RuleSet(rows.map(ruleOf), decimals)
}

/** Whether what one sale earns may depend on those before it. */
export const asksForTiers = async (db: Db, settings: Settings): Promise<boolean> =>
  (await ruleSetOf(db, settings)).asksForTiers

/** The rate of a currency on a day, and what it makes of one minor unit. */
interface Exchange {
  readonly exchanged: AppliedRate
  readonly exchange: Fraction
}

/** @returns undefined when there is no rate, or none is needed */
export async function exchangeAt(
  db: Db,
  { currency: to, decimals }: Settings,
  from: string,
  at: number,
): Promise<Exchange | undefined> {
  if (from === to) return undefined
  const row = await rateAt(db, { from, to, at })
  if (!row) return undefined
  const { id, rate, valid_from: date } = row
  const exchange = exchangeOf(parseFraction(rate)!, decimalsOf(from)!, decimals)
  return { exchanged: { id, rate, from, to, date }, exchange }
}

/** The columns of a referral that follow from a judgement. */
export interface Commission {
  readonly judgement: Judgement
  /** In minor units of the programme's currency; 0 when it is a draft. */
  readonly amount: number
  readonly exchange: Exchange | undefined
}

export interface Question {
  readonly sale: Sale
  readonly affiliateId: number
  /** Where they are known. */
  readonly terms?: Terms
}

/**
 * Judges what an affiliate earns by a sale.
 * @throws Failure invalid_argument when it is more than an amount can be
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
 * Judges a draft again: the rate or the rule that it waits for may exist by now.
 * @returns undefined while it is still missing, and where it would be more than an amount can be
 */
export async function commissionOfDraft(
  db: Db,
  settings: Settings,
  draft: { readonly affiliateId: number; readonly currency: string; readonly at: number },
  { sale, parts, left }: Calculation,
): Promise<Commission | undefined> {
  const exchange = await exchangeAt(db, settings, draft.currency, draft.at)
  const factor = draft.currency === settings.currency ? ONE : (exchange?.exchange ?? null)
  const rejudged =
    sale && parts.length === 0
      ? await judgementOf(db, settings, { sale, affiliateId: draft.affiliateId }, exchange)
      : totalOf(parts, factor)
  if (rejudged.reason !== '') return undefined
  const judgement = totalOf(rejudged.parts, factor, left)
  // A draft that can't become real does not keep others waiting: a person gives it an amount.
  if (!isWithinLimits(judgement, settings)) return undefined
  return { judgement, amount: Number(judgement.amount), exchange }
}

/** The affiliate's terms; the sales so far only when some rule asks for them. */
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
  }: Pick<Calculation, 'sale' | 'wanted'> & { currency: string; left?: Fraction },
) {
  const isForeign = exchange !== undefined || judgement.reason === 'no_exchange_rate'
  const calculation = calculationOf(judgement, {
    sale,
    wanted,
    exchange: exchange?.exchanged ?? null,
    ...(left && { left }),
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

/** What the customer paid, in the programme's currency; null as long as there is no rate. */
export function inProgramme(total: number, { exchange, judgement }: Commission): number | null {
  if (judgement.reason === 'no_exchange_rate') return null
  return exchange ? Number(rounded(times(whole(total), exchange.exchange))) : total
}

/** Until when a referral is pending by its rules; null when none says so. */
export function holdUntil({ holdDays }: Judgement, at: number): number | null {
  return holdDays === null ? null : at + holdDays * DAY_SECONDS
}

/** What is earned in the currency of the sale, rounded to its minor unit. */
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
