/** Preview of a sale's earnings and the rules tried for it, for people who plan a rule. */
import { type Static, type TSchema, Type } from 'typebox'
import { decimalsOf, NO_CURRENCY } from '../../base/currencies.ts'
import { type Problems, refuseInvalid } from '../../base/errors.ts'
import { ONE } from '../../base/fraction.ts'
import { decimalsReason, decimalText, toUnits } from '../../base/money.ts'
import { choice, identifier, line, moment, money, withDefault } from '../../base/schemas.ts'
import type { Settings } from '../../base/settings.ts'
import { now, parseMoment } from '../../base/time.ts'
import type { Context } from '../../events/write.ts'
import { noSuch, problemsOfReferences } from '../../records/store.ts'
import { calculationOf } from './calculation.ts'
import type { LineField, SaleField, TierField } from './conditions.ts'
import { hasOwnTerms, isEnded, judge } from './engine.ts'
import { dataOf, earningSchema, sentenceOfObstacle, sentencesOf } from './explanation.ts'
import { earnerOf, exchangeAt } from './judging.ts'
import { type RuleRow, rule, ruleOf } from './rule.ts'
import { RuleSet } from './rule-set.ts'
import { type EarlierSales, type Earner, kinds, lineFrom, type Sale } from './sale.ts'
import * as store from './store.ts'

/** Number of rules listed. */
const MOST_TRIALS = 100
const MOST_SOLD = 1_000_000_000

const amountOf = (description: string) => Type.Optional(money(description))

const soldOf = (description: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MOST_SOLD,
      description: `${description}; the actual number when omitted.`,
    }),
  )

/** Arguments with all that conditions look at: one that is missing does not compile. */
type Asked<F extends string> = Record<F, TSchema> & Record<string, TSchema>

const lineSchema = Type.Object({
  product: Type.Optional(line(190, 'What was bought.')),
  category: Type.Optional(line(190, 'Category of the product.')),
  quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: '1 when omitted.' })),
  amount: amountOf('Amount of the line.'),
} satisfies Asked<LineField>)

export const previewArguments = Type.Object({
  kind: Type.Optional(withDefault(choice(kinds, 'Kind of the conversion.'), 'sale')),
  amount: money('What the customer pays, including tax and shipping.'),
  currency: Type.Optional(line(3, "ISO 4217 code; the programme's when omitted.")),
  tax: amountOf('Tax included in the amount.'),
  shipping: amountOf('Shipping included in the amount.'),
  lines: Type.Optional(Type.Array(lineSchema, { maxItems: 100, description: 'What was bought.' })),
  country: Type.Optional(line(2, "ISO 3166-1 code of the customer's country.")),
  coupon: Type.Optional(line(100, 'Coupon code.')),
  campaign: Type.Optional(line(190, 'The campaign.')),
  order: Type.Optional(identifier("Number of the customer's order, from 1; unknown when omitted.")),
  months: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1200,
      description: "Whole months since the customer's first order.",
    }),
  ),
  date: Type.Optional(moment('Time of the sale; now when omitted.')),
  sales_in_month: soldOf('Number of sales of the affiliate in the same month, before this one'),
  sales_ever: soldOf('Number of sales of the affiliate before this one'),
  volume_in_month: amountOf(
    "What the affiliate's customers paid in the same month, before this sale; the actual amount when omitted.",
  ),
  volume_ever: amountOf(
    "What the affiliate's customers paid before this sale; the actual amount when omitted.",
  ),
  affiliate_id: Type.Optional(
    identifier('The affiliate who earns; when omitted, one without a rate of their own.'),
  ),
  group_id: Type.Optional(identifier('Group of the affiliate, if affiliate_id is omitted.')),
  rule: Type.Optional(
    Type.Object(rule.create.properties, { description: 'A rule to try as if it were in force.' }),
  ),
  rule_id: Type.Optional(identifier('The version that this rule replaces.')),
} satisfies Asked<SaleField | TierField>)

export type PreviewLine = Static<typeof lineSchema>
export type PreviewArguments = Static<typeof previewArguments>

export const previewSchema = Type.Object({
  amount: Type.String({
    description: "What would be earned, in the programme's currency; empty if unknown.",
  }),
  currency: Type.String({ description: "The programme's currency." }),
  reason: Type.String({
    description: 'Why the amount is unknown: no_rule or no_exchange_rate; empty if it is known.',
  }),
  hold_days: Type.Union([Type.Integer(), Type.Literal('')], {
    description: 'Number of days for which it would be pending; empty if no rule says so.',
  }),
  ...earningSchema,
  tried: Type.Array(
    Type.Object({
      rule_id: Type.Integer({ description: 'Identifier of the rule; 0 for the one that was sent.' }),
      name: Type.String(),
      applies: Type.Boolean(),
      because: Type.String({ description: 'Why it applies or does not.' }),
    }),
    {
      description:
        'Rules in the order in which they are tried for the sale as a whole, up to the first that applies; others may apply to some of its lines. Empty if the affiliate has a rate or rate type that comes before the rules.',
    },
  ),
  sentences: Type.Array(Type.String(), {
    description: 'The same in words; the first sentence is the result.',
  }),
})

type Preview = Static<typeof previewSchema>

/** @throws Failure invalid_argument */
export async function preview(context: Context, args: PreviewArguments): Promise<Preview> {
  refuseInvalid(await problemsOfPreview(context, args))
  const db = context.database.replica
  const settings = await context.settings.current()
  const rows = (await store.currentRules(db)).filter(({ id }) => id !== args.rule_id)
  const replacedRow = args.rule_id === undefined ? undefined : await store.rules.find(db, args.rule_id)
  const trialRow = args.rule && trialRowOf(args.rule, settings, replacedRow)
  const rules = new RuleSet([...rows.map(ruleOf), ...(trialRow ? [ruleOf(trialRow)] : [])], settings.decimals)
  const sale = saleOf(args, settings)
  const { affiliate_id: affiliateId = 0 } = args
  const earnerHere = await earnerOf(db, { sale, affiliateId }, () => rules.asksForTiers)
  const earner: Earner = {
    ...earnerHere,
    ...(affiliateId === 0 && { groupId: args.group_id ?? null }),
    ...(earnerHere.tiers && { tiers: tiersOf(args, earnerHere.tiers, settings) }),
  }
  const rateOfDay = await exchangeAt(db, settings, sale.currency, sale.occurredAt)
  const exchange = sale.currency === settings.currency ? ONE : (rateOfDay?.exchange ?? null)
  const judgement = judge(sale, earner, { settings, rules, exchange })
  const calculation = calculationOf(judgement, { sale, wanted: null, exchange: rateOfDay?.exchanged ?? null })
  const story = { ...calculation, currency: sale.currency, reason: judgement.reason, at: sale.occurredAt }
  const trials = hasOwnTerms(earner) ? [] : [...rules.trials(sale, earner, exchange)]
  const amount = judgement.reason === '' ? decimalText(judgement.amount, settings.decimals) : ''
  return {
    amount,
    currency: settings.currency,
    reason: judgement.reason,
    hold_days: judgement.holdDays ?? '',
    ...dataOf(story, settings),
    tried: trials.slice(0, MOST_TRIALS).map(({ rule, obstacle }) => ({
      rule_id: rule.id,
      name: rule.name,
      applies: obstacle === undefined,
      because: sentenceOfObstacle(obstacle, settings),
    })),
    sentences: [
      amount === ''
        ? 'What this sale would earn is not known.'
        : `This sale would earn ${amount} ${settings.currency}.`,
      ...sentencesOf(story, settings),
      ...(judgement.holdDays && !isEnded(judgement.parts)
        ? [`It would be pending for ${judgement.holdDays} days.`]
        : []),
    ],
  }
}

/** Validation beyond the schemas. */
export async function problemsOfPreview(
  { database, settings }: Context,
  args: Partial<PreviewArguments>,
): Promise<Problems> {
  const db = database.reader
  const { rule_id: id, rule: unsaved = {} } = args
  const isUnknown = id !== undefined && !(await store.rules.exists(db, id))
  return {
    // They are called as those of a rule.
    ...(await problemsOfReferences(db, database.schema, rule, args)),
    ...(isUnknown && { rule_id: noSuch('rule') }),
    ...withinRule(await problemsOfReferences(db, database.schema, rule, unsaved)),
    ...problemsIn(args, await settings.current()),
  }
}

const withinRule = (problems: Problems): Problems =>
  Object.fromEntries(Object.entries(problems).map(([name, problem]) => [`rule[${name}]`, problem]))

/** What is wrong without looking anything up. */
function problemsIn(args: Partial<PreviewArguments>, settings: Settings): Problems {
  const currency = args.currency?.toUpperCase() ?? settings.currency
  const decimals = decimalsOf(currency)
  if (decimals === undefined) {
    return { currency: NO_CURRENCY }
  }
  const problems: Problems = {}
  for (const name of ['amount', 'tax', 'shipping'] as const) {
    const value = args[name]
    if (value !== undefined && toUnits(value, decimals) === undefined) {
      problems[name] = decimalsReason({ currency, decimals })
    }
  }
  for (const name of ['volume_in_month', 'volume_ever'] as const) {
    const value = args[name]
    if (value !== undefined && toUnits(value, settings.decimals) === undefined) {
      problems[name] = decimalsReason(settings)
    }
  }
  if (args.lines?.some(({ amount = 0 }) => toUnits(amount, decimals) === undefined)) {
    problems.lines = `must have amounts with at most ${decimals} decimals, as ${currency} has.`
  }
  return { ...problems, ...withinRule(args.rule ? rule.problems(args.rule, settings) : {}) }
}

/** The affiliate's sales so far, or those that are supposed. */
function tiersOf(args: PreviewArguments, sold: EarlierSales, { decimals }: Settings): EarlierSales {
  const { sales_in_month, sales_ever, volume_in_month, volume_ever } = args
  const units = (value: number | undefined) =>
    value === undefined ? undefined : BigInt(toUnits(value, decimals)!)
  const counted = (value: number | undefined) => (value === undefined ? undefined : BigInt(value))
  return {
    sales_in_month: counted(sales_in_month) ?? sold.sales_in_month,
    sales_ever: counted(sales_ever) ?? sold.sales_ever,
    volume_in_month: units(volume_in_month) ?? sold.volume_in_month,
    volume_ever: units(volume_ever) ?? sold.volume_ever,
  }
}

/** Tried in place of the version that it replaces; a new rule is tried last within its priority. */
function trialRowOf(
  args: NonNullable<PreviewArguments['rule']>,
  settings: Settings,
  replaced: Pick<RuleRow, 'series' | 'version'> | undefined,
): RuleRow {
  const row = rule.newRow(args, settings, { time: now(), actor: 0 })
  const { series = Number.MAX_SAFE_INTEGER, version = 0 } = replaced ?? {}
  return { ...row, id: 0, series, version: version + 1 }
}

function saleOf(args: PreviewArguments, settings: Settings): Sale {
  const currency = args.currency?.toUpperCase() ?? settings.currency
  const decimals = decimalsOf(currency)!
  const units = (value = 0) => BigInt(toUnits(value, decimals)!)
  const { kind = 'sale', country = '', coupon = '', campaign = '', order = null, months = null } = args
  return {
    kind,
    amount: units(args.amount),
    tax: units(args.tax),
    shipping: units(args.shipping),
    currency,
    decimals,
    lines: (args.lines ?? []).map(line => lineFrom(line, decimals)),
    country,
    coupon,
    campaign,
    occurredAt: args.date === undefined ? now() : parseMoment(args.date)!.first,
    order,
    months,
  }
}
