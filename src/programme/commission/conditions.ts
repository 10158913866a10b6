/**
 * Conditions of rules: a closed list. A condition on text has values that it accepts or excludes; one on a number has a
 * lower limit (inclusive) and an upper limit (exclusive).
 */
import { compared, type Fraction, times, whole } from '../../base/fraction.ts'

/** Conditions on a single line of the sale; the rule applies to the lines that meet them. */
const ofLine = ['product', 'category'] as const
export const texts = [...ofLine, 'country', 'currency', 'coupon', 'campaign'] as const
/** The affiliate's sales so far, excluding the current one: their number and volume. */
export const tiers = ['sales_in_month', 'sales_ever', 'volume_in_month', 'volume_ever'] as const
/** Amounts are in the programme's currency. */
export const numbers = ['amount', 'order', 'months', ...tiers] as const

export type TextField = (typeof texts)[number]
export type NumberField = (typeof numbers)[number]
export type Tier = (typeof tiers)[number]

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

const textFields: ReadonlySet<string> = new Set(texts)
const numberFields: ReadonlySet<string> = new Set(numbers)
const lineFields: ReadonlySet<string> = new Set(ofLine)
/** Fields whose limits are amounts. */
const amounts: readonly string[] = ['amount', 'volume_in_month', 'volume_ever']

export const isNumber = (field: string): boolean => numberFields.has(field)
const isAmount = (field: NumberField): boolean => amounts.includes(field)
export const isText = (condition: Condition): condition is TextCondition => textFields.has(condition.field)
export const isOfLine = ({ field }: Condition): boolean => lineFields.has(field)

export type TextTest = (values: readonly string[]) => boolean
export type NumberTest = (value: Fraction) => boolean

const fold = (text: string) => text.trim().toLowerCase()

export function textTest({ is, not }: TextCondition): TextTest {
  const accepted = is && new Set(is.map(fold))
  const excluded = not && new Set(not.map(fold))
  return values => {
    const folded = values.map(fold)
    if (accepted && !folded.some(value => accepted.has(value))) return false
    return !(excluded && folded.some(value => excluded.has(value)))
  }
}

export const foldedValues = (values: readonly string[]): string[] => values.map(fold)

/**
 * Lower limit (inclusive) and upper limit (exclusive) of a condition.
 * @param decimals of the programme's currency, in whose minor unit amounts are
 */
export function limitsOf({ field, at_least, below }: NumberCondition, decimals: number) {
  const of = (value: number | undefined) =>
    value === undefined ? undefined : limit(value, isAmount(field) ? decimals : 0)
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
