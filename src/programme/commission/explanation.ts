/** Explains what a sale earns, as data and as sentences that can be sent to an affiliate. Pure. */
import { type Static, Type } from 'typebox'
import { decimalsOf } from '../../base/currencies.ts'
import {
  compared,
  type Fraction,
  fraction,
  fractionText,
  ONE,
  parseFraction,
  plus,
  times,
  whole,
  ZERO,
} from '../../base/fraction.ts'
import { amountText, decimalText, formatRate } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { formatDay, formatTime } from '../../base/time.ts'
import { counted } from '../../base/words.ts'
import { factorOf } from './amounts.ts'
import type { AppliedRate } from './calculation.ts'
import { type Condition, definitions, isAmountField, isText, limitDecimals, limitsOf } from './conditions.ts'
import { type DraftReason, isExchanged, type Part, type Reached } from './engine.ts'
import type { Obstacle } from './rule-set.ts'

const text = (description: string) => Type.String({ description })
const number = (description: string) => Type.Integer({ description })

/** Amounts are decimal text, with as many decimals as their exact value needs. */
const partSchema = Type.Object(
  {
    source: text(
      "Where the rate comes from: amount (the amount was sent), affiliate (the affiliate's own rate), rule, default.",
    ),
    rule_id: number('Identifier of the version of the rule; 0 if there was none.'),
    series: number('Series of the rule.'),
    version: number('Number of the version within its series, from 1.'),
    name: text('Name of the rule.'),
    rate_type: text('percentage, flat, per_item or amount.'),
    rate: text('The rate.'),
    base: text('What a percentage applies to: net or gross.'),
    of: text('This base as an amount, in the currency of the sale.'),
    items: number('Number of items that are paid for.'),
    lines: Type.Array(Type.Integer(), {
      description: 'Numbers of the lines that it covers, from 1; empty for all of them.',
    }),
    reached: Type.Array(
      Type.Object({
        field: text('Condition of the rule.'),
        had: text("The number, or the amount in the programme's currency."),
      }),
      { description: 'What the affiliate had sold before, if the rule has conditions on it.' },
    ),
    ended: Type.Boolean({
      description:
        'Whether the rule no longer pays, because the customer has bought too often or for too long.',
    }),
    earned: text('Resulting amount.'),
    currency: text('Currency of this amount.'),
  },
  { title: 'EarnedPart' },
)

const exchangeSchema = Type.Object(
  {
    exchange_rate_id: number('Identifier of the exchange rate.'),
    rate: text('Value of one unit in the other currency.'),
    from: text('Currency of the sale.'),
    to: text("The programme's currency."),
    date: text('Time from which the rate applies.'),
  },
  { title: 'AppliedExchangeRate' },
)

export const earningSchema = {
  parts: Type.Array(partSchema, { description: 'What each part of the sale earned, and at which rate.' }),
  exchange: Type.Array(exchangeSchema, { description: 'The exchange rate that was applied, if any.' }),
  left: text(
    'Share of the sale that refunds and disputes have left: 1 is all of it; 0 for a sale that was reported twice.',
  ),
  exact: text("Commission before rounding, in the programme's currency; empty if unknown."),
  rounded: text('The same, rounded half to even to the decimals of the currency.'),
}

export interface EarningStory {
  readonly parts: readonly Part[]
  /** Of the sale. */
  readonly currency: string
  readonly exchange: AppliedRate | null
  readonly left: Fraction
  readonly duplicate?: true
  /** Who has earned it, if it was moved to another affiliate. */
  readonly earner?: number
  /** In the minor unit of the programme's currency; null if unknown. */
  readonly result: { readonly exact: Fraction; readonly amount: bigint } | null
  readonly reason: '' | DraftReason
  /** Time of the sale, in seconds. */
  readonly at: number
}

const earning = Type.Object(earningSchema)

/** An exact amount in minor units as decimal text of whole units. */
const exactText = (value: Fraction, decimals: number) =>
  fractionText(times(value, fraction(1n, 10n ** BigInt(decimals))))

/** The same with at least the decimals of its currency, as amounts are usually written. */
function moneyText(value: Fraction, decimals: number): string {
  const text = exactText(value, decimals)
  const [units, digits = ''] = text.split('.')
  return decimals === 0 || digits.length >= decimals ? text : `${units}.${digits.padEnd(decimals, '0')}`
}

/** How an amount came about, as data. */
export function dataOf(story: EarningStory, settings: Settings): Static<typeof earning> {
  const { parts, exchange, left, result } = story
  const { decimals } = settings
  return {
    parts: parts.map(part => partOf(part, story, settings)),
    exchange: exchange
      ? [
          {
            exchange_rate_id: exchange.id,
            rate: exchange.rate,
            from: exchange.from,
            to: exchange.to,
            date: formatTime(exchange.date),
          },
        ]
      : [],
    left: fractionText(left),
    exact: result ? exactText(result.exact, decimals) : '',
    rounded: result ? decimalText(result.amount, decimals) : '',
  }
}

function partOf(
  part: Part,
  { currency: ofSale }: EarningStory,
  settings: Settings,
): Static<typeof partSchema> {
  const { source, rule, type, rate, basis, base, items, lines, reached = [], ended, earned, inSale } = part
  const [currency, decimals] = inSale ? [ofSale, decimalsOf(ofSale)!] : [settings.currency, settings.decimals]
  return {
    source,
    rule_id: rule?.id ?? 0,
    series: rule && rule.id !== 0 ? rule.series : 0,
    version: rule?.version ?? 0,
    name: rule?.name ?? '',
    rate_type: type,
    rate: formatRate(rate),
    base: basis,
    of: exactText(base, decimalsOf(ofSale)!),
    items,
    lines: lines.map(place => place + 1),
    reached: reached.map(one => ({
      field: one.condition.field,
      had: isVolume(one) ? decimalText(BigInt(one.had), settings.decimals) : one.had,
    })),
    ended,
    earned: exactText(earned, decimals),
    currency,
  }
}

/** Each sentence makes sense on its own. */
export function sentencesOf(story: EarningStory, settings: Settings): string[] {
  const { parts, exchange, left, result, reason } = story
  if (reason !== '')
    return [...parts.flatMap(part => sentencesOfPart(part, story, settings)), whyDraft(story)]
  return [
    ...parts.flatMap(part => sentencesOfPart(part, story, settings)),
    ...(exchange && parts.some(isExchanged) ? [sentenceOfExchange(exchange, parts, settings)] : []),
    ...(compared(left, ONE) === 0 ? [] : [sentenceOfLeft(story, settings)]),
    ...(result ? sentencesOfResult(result, parts, settings) : []),
  ]
}

/** @param at in seconds */
export const missingRateText = (currency: string, at: number) =>
  `no exchange rate of ${currency} for ${formatDay(at)} yet`

function whyDraft({ reason, currency, at }: EarningStory): string {
  if (reason === 'too_large') {
    return 'At the exchange rate of that day what is earned, or what the customer has paid, is larger than an amount can be: a person has to set it.'
  }
  return reason === 'no_exchange_rate'
    ? `There is ${missingRateText(currency, at)}: the amount is known as soon as there is one.`
    : 'The rate type names no rule that is in force and applies: the amount is known as soon as there is one.'
}

function sentencesOfPart(part: Part, story: EarningStory, settings: Settings): string[] {
  const { source, ended, ownRate } = part
  const data = partOf(part, story, settings)
  const ofLines = data.lines.length > 0 ? ` for ${listed('line', data.lines)} of the sale` : ''
  if (source === 'amount')
    return [`The amount of ${data.earned} ${data.currency} was sent with the referral; no rule was applied.`]
  const { ownRate: theirs, applies, earner } = wordsOf(story)
  const by = {
    affiliate: `The ${theirs} ${applies}`,
    rule: `The rule “${data.name}”${numbersOf(data)} ${applies}`,
    default: `No rule ${applies}, so it is the default rate of the programme`,
  }[source]
  const rate = rateText(data, settings)
  const beginning = `${by}${ofLines}: ${rate}${ownRate ? `, the ${theirs}` : ''}.`
  const tiers = (part.reached ?? []).map(one => sentenceOfTier(one, earner, settings))
  if (ended) return [beginning, ...tiers, `${limitText(part)}, so nothing is earned.`]
  return [beginning, ...tiers, sentenceOfBase(part, story, settings)]
}

const isVolume = ({ condition }: Reached) => isAmountField(condition.field)

/** What is said of whoever has earned it: of an affiliate who is another by now it is past, and names them. */
function wordsOf({ earner: id }: EarningStory) {
  if (id === undefined)
    return { earner: 'the affiliate', ownRate: "affiliate's own rate", applies: 'applies' }
  const earner = `affiliate ${id}`
  return { earner, ownRate: `own rate of ${earner}`, applies: 'applied' }
}

function sentenceOfTier(reached: Reached, earner: string, settings: Settings): string {
  const had = isVolume(reached) ? amountText(BigInt(reached.had), settings) : reached.had
  return `The rule asks for ${conditionText(reached.condition, settings)}: before this sale ${earner} had ${had}.`
}

/** Which limit of the rule the sale exceeds. */
function limitText({ beyond }: Part): string {
  // Older calculations have no figures.
  if (!beyond) return 'The customer has bought for longer or more often than the rule pays for'
  const { of, most, is } = beyond
  return of === 'payments'
    ? `The rule pays for ${counted(most, 'order')} of a customer, and this is number ${is}`
    : `The rule pays for ${counted(most, 'month')} after a customer's first order, and this one came ${counted(is, 'month')} after it`
}

/** A rule in a preview has no numbers yet. */
function numbersOf({ rule_id, series, version }: Static<typeof partSchema>): string {
  return rule_id === 0 ? '' : ` (rule ${series}, version ${version})`
}

function rateText({ rate_type, rate }: Static<typeof partSchema>, { currency, decimals }: Settings): string {
  if (rate_type === 'percentage') return `${rate}%`
  const perUnit = moneyText(times(parseFraction(rate)!, whole(10n ** BigInt(decimals))), decimals)
  return rate_type === 'flat' ? `a flat ${perUnit} ${currency}` : `${perUnit} ${currency} for each item`
}

function sentenceOfBase(
  { type, basis, base, items, earned, inSale }: Part,
  sale: EarningStory,
  settings: Settings,
): string {
  const ofSale = { currency: sale.currency, decimals: decimalsOf(sale.currency)! }
  const money = (value: Fraction, { currency, decimals }: Pick<Settings, 'currency' | 'decimals'>) =>
    `${moneyText(value, decimals)} ${currency}`
  const sum = money(earned, inSale ? ofSale : settings)
  if (type === 'percentage') {
    const taxText = basis === 'net' ? 'without tax and shipping' : 'with tax and shipping'
    return `It is taken of ${money(base, ofSale)}, which the customer pays ${taxText}: ${sum}.`
  }
  return type === 'flat'
    ? `That is ${sum}, whatever the customer pays.`
    : `That is ${sum} for ${counted(items, 'item')}.`
}

function sentenceOfExchange(exchange: AppliedRate, parts: readonly Part[], { decimals }: Settings): string {
  const { rate, from, to, date } = exchange
  const ofSale = decimalsOf(from)!
  const sum = parts.filter(({ inSale }) => inSale).reduce((sum, { earned }) => plus(sum, earned), ZERO)
  return `At the exchange rate of ${formatDay(date)}, 1 ${from} is ${rate} ${to}: ${moneyText(sum, ofSale)} ${from} are ${moneyText(times(sum, factorOf(exchange)), decimals)} ${to}.`
}

function sentenceOfLeft({ left, duplicate, result }: EarningStory, { currency, decimals }: Settings): string {
  if (duplicate) return 'The sale was reported twice, and its payment earns once: this report earns nothing.'
  if (left.numerator === 0n) return 'Refunds or disputes have left nothing of the sale.'
  const part = `${fractionText(times(left, whole(100n)), 2)}%`
  const beforeRefunds = result && times(result.exact, fraction(left.denominator, left.numerator))
  const amountText = beforeRefunds
    ? `: of ${moneyText(beforeRefunds, decimals)} ${currency}, ${moneyText(result.exact, decimals)} ${currency} are`
    : ', so as much of it is'
  return `Refunds or disputes have left ${part} of the sale${amountText} earned.`
}

function sentencesOfResult(
  { exact, amount }: { readonly exact: Fraction; readonly amount: bigint },
  parts: readonly Part[],
  { currency, decimals }: Settings,
): string[] {
  const rounded = amountText(amount, { decimals, currency })
  if (exact.denominator !== 1n) {
    const digits = decimals === 0 ? 'a whole number' : `${decimals} decimals`
    return [
      `${moneyText(exact, decimals)} ${currency} are rounded to ${digits}, a half to the even digit: ${rounded}.`,
    ]
  }
  return parts.length > 1 ? [`Together that is ${rounded}.`] : []
}

/** Why a rule does not apply. */
export function sentenceOfObstacle(obstacle: Obstacle | undefined, settings: Settings): string {
  if (obstacle === undefined) return 'It applies.'
  if (obstacle === 'kinds') return 'It is not for this kind of sale.'
  if (obstacle === 'from') return 'It begins later.'
  if (obstacle === 'until') return 'It has ended.'
  return `It asks for ${conditionText(obstacle, settings)}.`
}

function conditionText(condition: Condition, { currency, decimals }: Settings): string {
  const { words } = definitions[condition.field]
  const parts: string[] = []
  if (isText(condition)) {
    const { is, not } = condition
    if (is) parts.push(`that is ${is.join(' or ')}`)
    if (not) parts.push(`that is not ${not.join(' or ')}`)
  } else {
    const { field } = condition
    const { least, most } = limitsOf(condition, decimals)
    const unit = isAmountField(field) ? ` ${currency}` : ''
    const limitText = (limit: Fraction) => `${moneyText(limit, limitDecimals(field, decimals))}${unit}`
    if (least) parts.push(`of ${limitText(least)} or more`)
    if (most) parts.push(`below ${limitText(most)}`)
  }
  return `${words} ${parts.join(' and ')}`
}

function listed(noun: string, numbers: readonly number[]): string {
  if (numbers.length === 1) return `${noun} ${numbers[0]}`
  return `${noun}s ${numbers.slice(0, -1).join(', ')} and ${numbers.at(-1)}`
}
