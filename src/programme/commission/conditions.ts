/**
 * The conditions of rules: a closed list, with an entry for each. A condition on text lists values that it accepts or
 * excludes; one on a number has a least value, and one that it has to stay below. What is sent, what is wrong with it, what
 * is looked at, explanations and the pages all derive from the entry.
 */
import { CURRENCY_CODE, problemOfCurrencyCode } from '../../base/currencies.ts'
import { compared, type Fraction, times, whole } from '../../base/fraction.ts'
import { MAX_AMOUNT, toUnits } from '../../base/money.ts'
import { foldCase } from '../../base/text.ts'
import type { Earner, Line, Sale } from './sale.ts'

/** What conditions look at. */
export interface Subject {
  readonly sale: Sale
  /** The line that is judged; all of them where the sale is judged as a whole. */
  readonly lines: readonly Line[]
  readonly earner: Earner
  /** What one minor unit of the sale's currency is in that of the programme's. */
  readonly exchange: Fraction
}

interface Definition {
  readonly label: string
  /** Behind "It asks for". */
  readonly words: string
  /** Of each line: a rule with such a condition is for the lines that meet it. */
  readonly isOfLine?: true
  /** Nothing of the sale says it: the affiliate's sales so far do. */
  readonly isTier?: true
  readonly needsExchange?: true
}

/** The values of a text that can ever be met, and what a person is told who asks for another. */
interface Code {
  isOne(value: string): boolean
  readonly words: string
}

interface TextDefinition extends Definition {
  readonly kind: 'text'
  /** Any text when omitted. */
  readonly code?: Code
  read(subject: Subject): readonly string[]
}

interface NumberDefinition extends Definition {
  readonly kind: 'number'
  /** Whole numbers, so that one of them alone is a condition as well; or amounts in the programme's currency. */
  readonly unit: 'count' | 'amount'
  /** 0 when omitted. */
  readonly least?: Least
  /** Undefined and null when it is not known. */
  read(subject: Subject): Fraction | bigint | number | null | undefined
}

/** The least value that there is, and what a person is told who asks for less. */
interface Least {
  readonly value: number
  readonly sentence: string
}

const ZERO_IS_LEAST: Least = { value: 0, sentence: 'Nothing is below 0.' }

const entries = {
  product: {
    kind: 'text',
    label: 'Product',
    words: 'a product',
    isOfLine: true,
    read: ({ lines }) => lines.map(({ product }) => product),
  },
  category: {
    kind: 'text',
    label: 'Category',
    words: 'a category',
    isOfLine: true,
    read: ({ lines }) => lines.flatMap(({ categories }) => categories),
  },
  country: {
    kind: 'text',
    label: 'Country',
    words: 'a country',
    code: { isOne: value => /^[a-z]{2}$/i.test(value), words: 'the two letters of a country, such as DE' },
    read: ({ sale }) => [sale.country],
  },
  currency: {
    kind: 'text',
    label: 'Currency',
    words: 'a currency',
    code: { isOne: value => problemOfCurrencyCode(value) === undefined, words: CURRENCY_CODE },
    read: ({ sale }) => [sale.currency],
  },
  coupon: { kind: 'text', label: 'Coupon', words: 'a coupon', read: ({ sale }) => [sale.coupon] },
  campaign: { kind: 'text', label: 'Campaign', words: 'a campaign', read: ({ sale }) => [sale.campaign] },
  amount: {
    kind: 'number',
    unit: 'amount',
    label: 'Amount of the sale',
    words: 'an amount',
    needsExchange: true,
    read: ({ sale, exchange }) => times(whole(sale.amount), exchange),
  },
  order: {
    kind: 'number',
    unit: 'count',
    label: "Number of the customer's order",
    words: "a number of the customer's order",
    least: { value: 1, sentence: 'The first order is number 1: none is below it.' },
    read: ({ sale }) => sale.order,
  },
  months: {
    kind: 'number',
    unit: 'count',
    label: 'Months since the first order',
    words: "a number of months since the customer's first order",
    read: ({ sale }) => sale.months,
  },
  sales_in_month: {
    kind: 'number',
    unit: 'count',
    label: 'Sales of the affiliate in the month',
    words: 'a number of sales in the month',
    isTier: true,
    read: ({ earner }) => earner.tiers?.sales_in_month,
  },
  sales_ever: {
    kind: 'number',
    unit: 'count',
    label: 'Sales of the affiliate so far',
    words: 'a number of sales so far',
    isTier: true,
    read: ({ earner }) => earner.tiers?.sales_ever,
  },
  volume_in_month: {
    kind: 'number',
    unit: 'amount',
    label: 'Volume of the affiliate in the month',
    words: 'a volume of sales in the month',
    isTier: true,
    read: ({ earner }) => earner.tiers?.volume_in_month,
  },
  volume_ever: {
    kind: 'number',
    unit: 'amount',
    label: 'Volume of the affiliate so far',
    words: 'a volume of sales so far',
    isTier: true,
    read: ({ earner }) => earner.tiers?.volume_ever,
  },
} as const satisfies Record<string, TextDefinition | NumberDefinition>

type Entries = typeof entries
export type Field = keyof Entries
type FieldWith<D> = { [F in Field]: Entries[F] extends Readonly<D> ? F : never }[Field]
export type TextField = FieldWith<{ kind: 'text' }>
export type NumberField = FieldWith<{ kind: 'number' }>
export type LineField = FieldWith<{ isOfLine: true }>
export type TierField = FieldWith<{ isTier: true }>
/** What the sale says, and none of its lines: a preview takes it as an argument. */
export type SaleField = Exclude<Field, LineField | TierField>

/** The entries, with what only some of them have. */
export const definitions: Readonly<
  Record<TextField, TextDefinition> & Record<NumberField, NumberDefinition>
> = entries

export const isNumberField = (field: Field): field is NumberField => definitions[field].kind === 'number'
export const isAmountField = (field: NumberField): boolean => definitions[field].unit === 'amount'
const isTextField = (field: Field): field is TextField => !isNumberField(field)
export const isLineField = (field: Field): field is LineField => definitions[field].isOfLine === true
export const isTier = (field: Field): field is TierField => definitions[field].isTier === true
/** The least value that a condition on the field can name. */
export const leastOf = (field: NumberField): Least => definitions[field].least ?? ZERO_IS_LEAST

export const fields: readonly Field[] = Object.keys(entries).filter(name => isField(name))
export const texts: readonly TextField[] = fields.filter(isTextField)
export const numbers: readonly NumberField[] = fields.filter(isNumberField)

function isField(name: string): name is Field {
  return Object.hasOwn(entries, name)
}

export interface TextCondition {
  readonly field: TextField
  readonly is?: readonly string[]
  readonly not?: readonly string[]
}

export interface NumberCondition {
  readonly field: NumberField
  readonly at_least?: number
  readonly below?: number
}

export type Condition = TextCondition | NumberCondition

export const isText = (condition: Condition): condition is TextCondition => isTextField(condition.field)

/** In the letters that conditions are compared in, without what says nothing. */
export const textsOf = (field: TextField, subject: Subject): readonly string[] =>
  definitions[field]
    .read(subject)
    .map(folded)
    .filter(text => text !== '')

/** Null when it is not known. */
export function numberOf(field: NumberField, subject: Subject): Fraction | null {
  const value = definitions[field].read(subject) ?? null
  return typeof value === 'bigint' || typeof value === 'number' ? whole(value) : value
}

const folded = (text: string) => foldCase(text.trim())

/** Values in the form in which conditions compare them. */
export const foldedValues = (values: readonly string[]): string[] => values.map(folded)

export type TextTest = (foldedValues: readonly string[]) => boolean
export type NumberTest = (value: Fraction) => boolean

/** @returns a function that tests the folded values of a sale or a line */
export function textTest({ is, not }: TextCondition): TextTest {
  const accepted = is && new Set(is.map(folded))
  const excluded = not && new Set(not.map(folded))
  return values => {
    if (accepted && !values.some(value => accepted.has(value))) return false
    return !(excluded && values.some(value => excluded.has(value)))
  }
}

/**
 * Lower limit (inclusive) and upper limit (exclusive) of a condition.
 * @param decimals of the programme's currency, in whose minor unit amounts are
 */
export function limitsOf({ field, at_least, below }: NumberCondition, decimals: number) {
  const of = (value: number | undefined) =>
    value === undefined ? undefined : limit(value, limitDecimals(field, decimals))
  return { least: of(at_least), most: of(below) }
}

/** @param decimals as of `limitsOf` */
export function numberTest(condition: NumberCondition, decimals: number): NumberTest {
  const { least, most } = limitsOf(condition, decimals)
  return value => {
    if (least && compared(value, least) < 0) return false
    return !(most && compared(value, most) >= 0)
  }
}

/** Limits have four decimals at most. */
function limit(value: number, decimals: number): Fraction {
  return times(
    { numerator: BigInt(Math.round(value * 10_000)), denominator: 10_000n },
    whole(10n ** BigInt(decimals)),
  )
}

/** A condition as it is sent, which may say anything of any field. */
export interface SentCondition {
  field: Field
  is?: string[]
  not?: string[]
  at_least?: number
  below?: number
}

/** @returns a value that no sale can have, and what one looks like */
export function strangeIn(
  field: Field,
  values: readonly string[],
): { value: string; words: string } | undefined {
  const code = isTextField(field) ? definitions[field].code : undefined
  const value = code && values.find(one => !code.isOne(one.trim()))
  return code && value !== undefined ? { value, words: code.words } : undefined
}

/**
 * What is wrong with a condition beyond its schema.
 * @param decimals of the programme's currency
 */
export function problemOf(
  { field, is, not, at_least, below }: SentCondition,
  decimals: number,
): string | undefined {
  if (isTextField(field)) {
    if ((at_least ?? below) !== undefined) return `must ask for ${field} by is and not: it is text.`
    if (!is?.length && !not?.length) return `must name values of ${field}, in is or not.`
    const strange = strangeIn(field, [...(is ?? []), ...(not ?? [])])
    return strange && `must have as ${field} ${strange.words}: "${strange.value}" is not.`
  }
  return (is ?? not)
    ? `must ask for ${field} by at_least and below: it is a number.`
    : problemOfLimits(field, { at_least, below }, decimals)
}

/** A text that no sale has more than one of. */
const isSingle = (field: TextField) => definitions[field].isOfLine === undefined

/**
 * Conditions that exclude each other, so that no sale can meet all of them.
 * @param conditions each without a problem of its own
 */
export function contradictionIn(conditions: readonly SentCondition[]): string | undefined {
  const numberedConditions = conditions.map((condition, place) => ({ condition, number: place + 1 }))
  for (const [field, all] of Map.groupBy(numberedConditions, ({ condition }) => condition.field)) {
    const involved = isTextField(field) ? excludingTexts(field, all) : excludingLimits(all)
    if (involved.length === 0) continue
    const names = involved.map(({ condition, number }) => `“${textOf(condition)}” (condition ${number})`)
    return `must be such that a sale can meet all: ${names.join(' and ')} exclude each other.`
  }
  return undefined
}

interface Numbered {
  readonly condition: SentCondition
  readonly number: number
}

/** The first condition whose values the others leave none of, and those others. */
function excludingTexts(field: TextField, all: readonly Numbered[]): readonly Numbered[] {
  for (const one of all) {
    const own = one.condition.is
    if (!own?.length) continue
    const tests = all.map(other => {
      const { is, not } = other.condition
      const counts = isSingle(field) || other === one
      return { other, test: textTest({ field, ...(counts && is?.length && { is }), ...(not && { not }) }) }
    })
    const values = foldedValues(own)
    if (values.some(value => tests.every(({ test }) => test([value])))) continue
    const excluding = tests.filter(({ test }) => !values.every(value => test([value])))
    return [...new Set([one, ...excluding.map(({ other }) => other)])]
  }
  return []
}

function excludingLimits(all: readonly Numbered[]): readonly Numbered[] {
  for (const one of all) {
    const { at_least } = one.condition
    const other = all.find(({ condition: { below } }) => {
      return at_least !== undefined && below !== undefined && at_least >= below
    })
    if (other) return [one, other]
  }
  return []
}

/** A condition in the words that it was sent in. */
function textOf({ field, is, not, at_least, below }: SentCondition): string {
  const parts = [
    is?.length && `is ${is.join(' or ')}`,
    not?.length && `is not ${not.join(' or ')}`,
    at_least !== undefined && `at least ${at_least}`,
    below !== undefined && `below ${below}`,
  ]
  return `${field} ${parts.filter(Boolean).join(' and ')}`
}

function problemOfLimits(
  field: NumberField,
  { at_least, below }: Record<'at_least' | 'below', number | undefined>,
  decimals: number,
): string | undefined {
  const most = limitDecimals(field, decimals)
  if (at_least === undefined && below === undefined) return `must give ${field} a limit, at_least or below.`
  if ([at_least, below].some(value => value !== undefined && !isLimit(value, most))) {
    const precision = most === 0 ? 'that are whole numbers' : `with at most ${most} decimals`
    return `must have limits of ${field} ${precision}, from 0 to ${MAX_AMOUNT}.`
  }
  if (below !== undefined && below <= leastOf(field).value)
    return `must be such that some ${field} is below ${below}.`
  const isEmpty = at_least !== undefined && below !== undefined && at_least >= below
  return isEmpty ? `must leave some ${field}: at_least has to be less than below.` : undefined
}

/** @param decimals of the programme's currency */
export const limitDecimals = (field: NumberField, decimals: number) => (isAmountField(field) ? decimals : 0)

const isLimit = (value: number, decimals: number) =>
  value >= 0 && value <= MAX_AMOUNT && toUnits(value, decimals) !== undefined
