/**
 * The commission engine. Pure: from the sale, the affiliate, the settings and the rules it derives which rule applies,
 * what is earned, and why. Every number is an exact fraction until the amount is rounded once, half to even.
 *
 * The first match decides, never the highest: an amount that was sent, the affiliate's own rate, the rules of the
 * affiliate, of the group, of the programme, then the default rate. See docs/commission.md.
 */
import { type Fraction, fraction, ONE, plus, rounded, times, whole, ZERO } from '../../base/fraction.ts'
import type { Settings } from '../../base/settings.ts'
import { DAY_SECONDS, dayOf } from '../../base/time.ts'
import { isText, isTier, type NumberCondition } from './conditions.ts'
import type { RateType, Rule } from './model.ts'
import type { RuleSet } from './rule-set.ts'
import type { EarlierSales, Earner, Sale } from './sale.ts'

/** A limit of a rule that a sale exceeds. */
interface Beyond {
  readonly of: 'payments' | 'months'
  readonly most: number
  readonly is: number
}

/** What the affiliate had sold before, as a condition of the rule asks. */
export interface Reached {
  readonly condition: NumberCondition
  /** A count, or an amount in the minor unit of the programme's currency, as text. */
  readonly had: string
}

/** A part of a sale, and its earnings at one rate. */
export interface Part {
  readonly source: 'amount' | 'affiliate' | 'rule' | 'default'
  readonly rule: Pick<Rule, 'id' | 'series' | 'version' | 'name' | 'scope' | 'holdDays'> | null
  readonly type: RateType | 'amount'
  /** In ten-thousandths: of a percent, or of one unit of the programme's currency. */
  readonly rate: number
  /** The rate is the affiliate's own, in the place of the rule's. */
  readonly ownRate?: true
  readonly basis: 'net' | 'gross'
  /** The base of a percentage, in the sale's minor unit. */
  readonly base: Fraction
  /** Number of items, for rates per item. */
  readonly items: number
  /** Indexes of its lines in the sale; empty for the whole sale. */
  readonly lines: readonly number[]
  /** Nothing more is earned: the customer's orders or months exceed the rule's limits. */
  readonly ended: boolean
  /** Which limit it exceeds, and what the sale is: the number of the order, or of months after the first. */
  readonly beyond?: Beyond
  /** Why the rule's tier applies; calculations that are older than this field have none. */
  readonly reached?: readonly Reached[]
  readonly earned: Fraction
  /** Percentages are in the sale's minor unit, other earnings in that of the programme's currency. */
  readonly inSale: boolean
}

/** Why a referral waits as a draft. */
export const draftReasons = ['no_rule', 'no_exchange_rate', 'too_large'] as const
export type DraftReason = (typeof draftReasons)[number]

export interface Judgement {
  readonly parts: readonly Part[]
  /** Why the earnings are unknown; '' if they are known. */
  readonly reason: '' | DraftReason
  /** Exact, in the minor unit of the programme's currency; 0 if there is a reason. */
  readonly exact: Fraction
  /** The same, rounded. */
  readonly amount: bigint
  /** Days pending before it is owed; null if no rule sets any. */
  readonly holdDays: number | null
}

export interface Circumstances {
  readonly settings: Pick<Settings, 'defaultRate' | 'defaultRateType' | 'currency' | 'decimals'>
  readonly rules: RuleSet
  /**
   * Value of one minor unit of the sale's currency in the programme's: see `exchangeOf`. Null if there is no rate;
   * ignored if the currencies are the same.
   */
  readonly exchange: Fraction | null
}

/** Calculates what a sale earns. */
export function judge(sale: Sale, earner: Earner, circumstances: Circumstances): Judgement {
  const exchange = exchangeFor(sale, circumstances)
  const parts = partsOf(sale, earner, { ...circumstances, exchange })
  return typeof parts === 'string' ? draft([], parts) : totalOf(parts, exchange)
}

/** Calculates the earnings for an amount that was sent: no rule applies, it is only converted. */
export function judgeAmount(
  amount: bigint,
  sale: Pick<Sale, 'currency'>,
  circumstances: Omit<Circumstances, 'rules'>,
): Judgement {
  const part: Part = {
    source: 'amount',
    rule: null,
    type: 'amount',
    rate: 0,
    basis: 'gross',
    base: whole(amount),
    items: 1,
    lines: [],
    ended: false,
    earned: whole(amount),
    inSale: true,
  }
  return totalOf([part], exchangeFor(sale, circumstances))
}

/** Whether a part depends on the exchange rate: flat rates are in the programme's currency. */
export const isExchanged = ({ inSale, earned }: Part): boolean => inSale && earned.numerator !== 0n

/**
 * Total of several parts.
 * @param exchange as in `Circumstances`; 1 for the programme's currency
 * @param left the part of the sale that remains after refunds
 */
export function totalOf(parts: readonly Part[], exchange: Fraction | null, left: Fraction = ONE): Judgement {
  if (exchange === null && parts.some(isExchanged)) {
    return draft(parts, 'no_exchange_rate')
  }
  const sum = parts.reduce(
    (sum, { inSale, earned }) => plus(sum, inSale ? times(earned, exchange ?? ONE) : earned),
    ZERO,
  )
  const exact = times(sum, left)
  return { parts, reason: '', exact, amount: rounded(exact), holdDays: holdOf(parts) }
}

/**
 * Value of one minor unit of a currency in another.
 * @param rate value of one whole unit: the exchange rate
 */
export function exchangeOf(rate: Fraction, fromDecimals: number, toDecimals: number): Fraction {
  return times(rate, fraction(10n ** BigInt(toDecimals), 10n ** BigInt(fromDecimals)))
}

/** Whole calendar months between two times, in UTC; 0 if the second is before the first. */
export function monthsSince(first: number, at: number): number {
  const [a, b] = [new Date(first * 1000), new Date(at * 1000)]
  const months = (b.getUTCFullYear() - a.getUTCFullYear()) * 12 + b.getUTCMonth() - a.getUTCMonth()
  // A period that begins on the 31st ends on the last day of a shorter month.
  const lastDay = new Date(Date.UTC(b.getUTCFullYear(), b.getUTCMonth() + 1, 0)).getUTCDate()
  const day = Math.min(a.getUTCDate(), lastDay)
  const secondsOfDay = (time: number) => time - dayOf(time) * DAY_SECONDS
  const before = b.getUTCDate() < day || (b.getUTCDate() === day && secondsOfDay(at) < secondsOfDay(first))
  return Math.max(0, before ? months - 1 : months)
}

function exchangeFor(
  { currency }: Pick<Sale, 'currency'>,
  { settings, exchange }: Omit<Circumstances, 'rules'>,
): Fraction | null {
  return currency === settings.currency ? ONE : exchange
}

function draft(parts: readonly Part[], reason: DraftReason): Judgement {
  return { parts, reason, exact: ZERO, amount: 0n, holdDays: holdOf(parts) }
}

/** Reason of a referral that is rejected because all rules have stopped paying. */
export const ENDED = 'ended'

/** Whether every part of the sale is beyond the limits of its rule, so that nothing is paid for it. */
export const isEnded = (parts: readonly Part[]): boolean =>
  parts.length > 0 && parts.every(part => part.ended)

/** The rules that have not stopped paying. */
const payingRules = (parts: readonly Part[]) =>
  parts.flatMap(({ rule, ended }) => (rule === null || ended ? [] : [rule]))

/** Whether a rule pays, and none holds the earnings. */
export const isOwedAtOnce = ({ parts, holdDays }: Pick<Judgement, 'parts' | 'holdDays'>): boolean =>
  !holdDays && payingRules(parts).length > 0

/** The longest hold of the rules that pay. */
function holdOf(parts: readonly Part[]): number | null {
  const holds = payingRules(parts).flatMap(({ holdDays }) => holdDays ?? [])
  return holds.length === 0 ? null : Math.max(...holds)
}

const isBuiltIn = (type: string): type is 'percentage' | 'flat' => type === 'percentage' || type === 'flat'

/** Whether what the affiliate earns may depend on what they have sold before: whether a rule that may apply asks for it. */
export function asksForSales(
  earner: Omit<Earner, 'tiers'>,
  { rules, settings }: Pick<Circumstances, 'rules' | 'settings'>,
): boolean {
  // It may name any rule.
  if (!isBuiltIn(earner.rateType ?? settings.defaultRateType)) return rules.asksForTiers
  return earner.rate === null && rules.asksForTiersOf(earner)
}

/** Whether the affiliate's own rate, or a rate type that names a rule, comes before all rules. */
export const hasOwnTerms = ({ rate, rateType }: Pick<Earner, 'rate' | 'rateType'>): boolean =>
  rate !== null || (rateType !== null && !isBuiltIn(rateType))

function partsOf(sale: Sale, earner: Earner, circumstances: Circumstances): readonly Part[] | DraftReason {
  const { rules, settings } = circumstances
  const { decimals } = settings
  const type = earner.rateType ?? settings.defaultRateType
  const { rate } = earner
  if (hasOwnTerms(earner)) {
    if (rate === null || !isBuiltIn(type)) return partsByName(type, sale, earner, circumstances, { decimals })
    return [partAtRate('affiliate', sale, { type, rate }, { decimals })]
  }
  const matches = rules.match(sale, earner, circumstances.exchange)
  if (matches === 'no_exchange_rate') return matches
  const parts: Part[] = []
  for (const { rule, lines, share } of matches) {
    const some = rule
      ? [partByRule(rule, sale, earner, { share, lines, decimals })]
      : partsByDefault(type, sale, earner, circumstances, { share, lines, decimals })
    if (typeof some === 'string') return some
    parts.push(...some)
  }
  return parts
}

/** What no rule of the affiliate, group or programme applies to. */
function partsByDefault(
  type: string,
  sale: Sale,
  earner: Earner,
  circumstances: Circumstances,
  extent: Extent,
): readonly Part[] | DraftReason {
  if (!isBuiltIn(type)) return partsByName(type, sale, earner, circumstances, extent)
  const { defaultRate: rate } = circumstances.settings
  return [partAtRate('default', sale, { type, rate }, extent)]
}

/** A configured rate type names a series of rules; the affiliate's own rate replaces the rule's. */
function partsByName(
  name: string,
  sale: Sale,
  earner: Earner,
  { rules, exchange }: Circumstances,
  extent: Extent,
): readonly Part[] | DraftReason {
  const namedRule = rules.named(name, sale, earner, { exchange, places: extent.lines })
  if (typeof namedRule === 'string') return namedRule
  if (earner.rate === null) return [partByRule(namedRule, sale, earner, extent)]
  return [{ ...partByRule({ ...namedRule, rate: earner.rate }, sale, earner, extent), ownRate: true }]
}

/** The part of a sale to calculate. */
interface Extent {
  readonly share?: Fraction
  readonly lines?: readonly number[]
  /** Of the programme's currency. */
  readonly decimals: number
}

function partAtRate(
  source: 'affiliate' | 'default',
  sale: Sale,
  { type, rate }: { readonly type: RateType; readonly rate: number },
  { share = ONE, lines = [], decimals }: Extent,
): Part {
  const base = baseOf(sale, 'net', share)
  return {
    source,
    rule: null,
    type,
    rate,
    basis: 'net',
    base,
    items: 1,
    lines,
    ended: false,
    ...earnedBy({ type, rate, base, items: 1 }, decimals),
  }
}

function partByRule(
  rule: Rule,
  sale: Sale,
  { tiers }: Earner,
  { share = ONE, lines = [], decimals }: Extent,
): Part {
  const { type, rate, basis } = rule
  const base = baseOf(sale, basis, share)
  const items = itemsOf(sale, lines)
  const beyond = limitExceeded(rule, sale)
  const ended = beyond !== undefined
  const reached = tiers ? reachedBy(rule, tiers) : []
  const { earned, inSale } = earnedBy({ type, rate, base, items }, decimals)
  return {
    source: 'rule',
    rule,
    type,
    rate,
    basis,
    base,
    items,
    lines,
    ended,
    ...(beyond && { beyond }),
    ...(reached.length > 0 && { reached }),
    earned: ended ? ZERO : earned,
    inSale,
  }
}

function reachedBy({ conditions }: Rule, tiers: EarlierSales): Reached[] {
  return conditions.flatMap(condition => {
    if (isText(condition) || !isTier(condition.field)) return []
    return [{ condition, had: String(tiers[condition.field]) }]
  })
}

/** @param decimals of the programme's currency, which flat rates are in */
function earnedBy(
  { type, rate, base, items }: Pick<Part, 'rate' | 'base' | 'items'> & { readonly type: RateType },
  decimals: number,
): Pick<Part, 'earned' | 'inSale'> {
  if (type === 'percentage') {
    return { earned: times(base, fraction(BigInt(rate), 1_000_000n)), inSale: true }
  }
  const perUnit = fraction(BigInt(rate) * 10n ** BigInt(decimals), 10_000n)
  return { earned: times(perUnit, whole(type === 'flat' ? 1 : items)), inSale: false }
}

/** Not negative. */
function baseOf({ amount, tax, shipping }: Sale, basis: 'net' | 'gross', share: Fraction): Fraction {
  const total = basis === 'gross' ? amount : amount - tax - shipping
  return times(whole(total < 0n ? 0n : total), share)
}

function itemsOf(sale: Sale, lines: readonly number[]): number {
  if (sale.lines.length === 0) return 1
  const chosenLines = lines.length === 0 ? sale.lines : lines.map(place => sale.lines[place]!)
  return chosenLines.reduce((sum, { quantity }) => sum + quantity, 0)
}

function limitExceeded({ mostMonths, mostPayments }: Rule, { order, months }: Sale): Beyond | undefined {
  if (mostPayments !== null && order !== null && order > mostPayments) {
    return { of: 'payments', most: mostPayments, is: order }
  }
  return mostMonths !== null && months !== null && months >= mostMonths
    ? { of: 'months', most: mostMonths, is: months }
    : undefined
}
