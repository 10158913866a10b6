/** Commission rules: the record, its form and its texts. */
import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import {
  definitions,
  type Field,
  isAmountField,
  isNumberField,
  leastOf,
  limitDecimals,
  type SentCondition,
  strangeIn,
} from '../../../src/programme/commission/conditions.ts'
import type { rule } from '../../../src/programme/commission/rule.ts'
import { DECIMAL_MARK, figure } from '../ui/numbers.ts'
import { capital } from '../ui/words.ts'

export type Rule = Static<(typeof rule)['record']> & RaRecord<number>

type Arguments = Static<(typeof rule)['create']>

/** What is said of a rule beside `name`, `rate` and `priority`, and whether it is a number. */
export const terms: Readonly<
  Record<Exclude<keyof Arguments, 'name' | 'rate' | 'priority'>, 'number' | 'other'>
> = {
  affiliate_id: 'other',
  group_id: 'other',
  kinds: 'other',
  conditions: 'other',
  rate_type: 'other',
  base: 'other',
  max_months: 'number',
  max_payments: 'number',
  hold_days: 'number',
  from: 'other',
  until: 'other',
}

/** What has no words here does not compile. */
export const rateTypes: Readonly<Record<Rule['rate_type'], string>> = {
  percentage: 'A percentage',
  flat: 'An amount for the sale',
  per_item: 'An amount for each item',
}
export const bases: Readonly<Record<Rule['base'], string>> = {
  net: 'Without tax and shipping',
  gross: 'With tax and shipping',
}
export const statuses = Object.keys({
  current: true,
  replaced: true,
  ended: true,
} satisfies Record<Rule['status'], true>)

export const nameOf = ({ name, version }: Rule) => `${name}, version ${version}`

const isCount = (field: Field) => isNumberField(field) && definitions[field].unit === 'count'

/** One line of the form: 'country', 'is', 'DE, AT'. */
export interface ConditionRow {
  field?: Field
  how?: How
  value?: string
}

const howNames = ['is', 'not', 'at_least', 'below'] as const
/** `exactly` exists in the form only: the API expresses it as at_least n and below n + 1. */
type How = (typeof howNames)[number] | 'exactly'

export const hows: Readonly<Record<How, string>> = {
  is: 'is one of',
  not: 'is none of',
  at_least: 'is at least',
  below: 'is below',
  exactly: 'is',
}

export const howsOf = (field?: Field): How[] => {
  if (!field || !isNumberField(field)) return ['is', 'not']
  return isCount(field) ? ['at_least', 'below', 'exactly'] : ['at_least', 'below']
}

/** Conditions from the API as lines of the form. */
export function rowsOf(conditions: readonly SentCondition[]): ConditionRow[] {
  return conditions.flatMap(({ field, ...rest }): ConditionRow[] => {
    const { at_least, below } = rest
    if (isCount(field) && at_least !== undefined && below === at_least + 1) {
      return [{ field, how: 'exactly', value: String(at_least) }]
    }
    return howNames
      .filter(how => rest[how] !== undefined)
      .map(how => ({ field, how, value: textOf(rest[how]) }))
  })
}

/**
 * Lines of the form as conditions of the API. Lines about the same field with different operators become one
 * condition.
 */
function conditionsOf(rows: readonly ConditionRow[]): object[] {
  const conditions: Record<string, unknown>[] = []
  for (const { field, how, value = '' } of rows) {
    if (!field || !how) continue
    if (how === 'exactly') {
      conditions.push({ field, at_least: Number(value), below: Number(value) + 1 })
      continue
    }
    const existing = conditions.find(condition => condition.field === field && !(how in condition))
    const condition = existing ?? { field }
    if (!existing) conditions.push(condition)
    condition[how] = isNumberField(field) ? Number(value) : listOf(value)
  }
  return conditions
}

/** Values as they are typed, with commas between them; those that would not be read back as they are stand in quotes. */
const textOf = (values: unknown) => [values].flat().map(String).map(inQuotes).join(', ')

const inQuotes = (value: string) => (/,|^["\s]|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)

const listOf = (text: string) =>
  [...text.matchAll(/\s*(?:"((?:[^"]|"")+)"\s*(?=,|$)|([^,]+))/g)]
    .map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim())
    .filter(value => value !== '')

/**
 * Validation error of a line's value.
 * @param decimals of the programme's currency
 */
export function valueProblem({ field, how, value = '' }: ConditionRow, decimals: number): string | undefined {
  const text = value.trim()
  if (text === '') return 'Fill this in.'
  if (!field) return undefined
  if (!isNumberField(field)) {
    const strange = strangeIn(field, listOf(text))
    return strange && `“${strange.value}” is not ${strange.words}.`
  }
  const least = leastOf(field)
  if (how === 'below' && Number(text) <= least.value) return least.sentence
  const isNumber = /^\d+(\.\d+)?$/.test(text)
  const [, fraction = ''] = text.split('.')
  const most = limitDecimals(field, decimals)
  if (most === 0) return isNumber && fraction === '' ? undefined : 'Write a whole number.'
  if (!isNumber) return `Write a number, with a ${DECIMAL_MARK} before the decimals.`
  return fraction.length > most ? `Write at most ${most} decimals.` : undefined
}

type Format = (amount: string) => string

/** @param money formats an amount in the programme's currency, as limits of amounts are */
export function conditionText({ field, how, value = '' }: ConditionRow, money: Format): string {
  if (!field || !how) return ''
  return `${definitions[field].label} ${hows[how]} ${valueText(field, value, money)}`
}

function valueText(field: Field, value: string, money: Format): string {
  if (!isNumberField(field)) return value
  return isAmountField(field) ? money(value) : figure(value)
}

/** For example 'Sales and renewals'; empty when the rule applies to all kinds. */
export const kindsText = (saleKinds: Rule['kinds']) => saleKinds.map(kind => `${capital(kind)}s`).join(', ')

/** The lines of the form; a record that is still loading has none. */
export function rowsIn({ condition_rows: rows }: Record<string, unknown>): readonly ConditionRow[] {
  return Array.isArray(rows) ? rows : []
}

/** The form's values as API arguments. */
export function argumentsOf(typed: Record<string, unknown>): Record<string, unknown> {
  const { condition_rows: rows, ...values } = typed
  const emptied = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value ?? '']))
  return {
    ...emptied,
    affiliate_id: values.affiliate_id || 0,
    group_id: values.group_id || 0,
    kinds: values.kinds || [],
    conditions: rows === undefined ? (values.conditions ?? []) : conditionsOf(rowsIn(typed)),
  }
}
