/** Formats values of the audit log, which stores them in machine-readable form. */
import { decimalsOf } from '../../../src/base/currencies.ts'
import { pagesOf } from '../pages.ts'
import { useSession } from '../session.tsx'
import { day, formatMoney, time } from '../ui/format.ts'
import type { RecordPages } from '../ui/pages.ts'
import { amounts, times } from './values.ts'

/** Another text may look like one, and is shown as it is. */
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/
const DAY = /^\d{4}-\d\d-\d\d$/

type Values = Readonly<Record<string, unknown>>

const ORIGINAL = 'original_amount'
/** Hashes stand in for long or personal texts, and mean nothing to people. */
const HASH = /^(sha256:)?[0-9a-f]{64}\b/

/** @returns formats a value of an entry about a kind of record; '' when there is nothing to show */
export function useLoggedText(kind: string): (name: string, values: Values) => string {
  const { currency } = useSession().settings
  const pages = pagesOf(kind)
  return (name, values) => loggedText(name, values, currency, pages)
}

/**
 * @param currency of amounts that do not say their own
 * @param pages of the values' kind of record, which may word some of them itself
 */
export function loggedText(name: string, values: Values, currency: string, pages?: RecordPages): string {
  if (!(name in values)) return ''
  const worded = pages?.words?.(values, amount => formatMoney(amount, currency))[name]
  return worded ?? textOfValue(name, values, currency)
}

function textOfValue(name: string, values: Values, currency: string): string {
  const value = values[name]
  if (value === null || value === undefined || value === '') return ''
  if (/(?:_id|_by|^owner)$/.test(name) && (value === 0 || value === '0')) return ''
  if (amounts.has(name) || name === ORIGINAL) return amountText(name, value, values, currency)
  if (times.test(name) && TIME.test(String(value))) return time(String(value))
  if (times.test(name) && DAY.test(String(value))) return day(String(value))
  return textOf(value)
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
    return members.map(([name, one]) => `${name.replaceAll('_', ' ')} ${textOf(one)}`).join(' ')
  }
  const text = String(value)
  if (!HASH.test(text)) return text
  const [, length] = / \((\d+) characters\)$/.exec(text) ?? []
  return length === undefined ? '' : `${length} characters`
}

/** Amounts in another currency are logged in that currency's minor unit. */
function amountText(name: string, value: unknown, values: Values, currency: string): string {
  const isOriginal = name === ORIGINAL
  const own = isOriginal ? values.original_currency : values.currency
  const code = typeof own === 'string' && own !== '' ? own : isOriginal ? undefined : currency
  const decimals = code === undefined ? undefined : decimalsOf(code)
  if (code === undefined || decimals === undefined) return String(value)
  const amount = isOriginal ? Number(value) / 10 ** decimals : Number(value)
  return formatMoney(amount, code)
}
