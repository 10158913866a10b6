/**
 * Wire formats: how identifiers, dates, e-mail addresses, money, rates and lists look to a caller, and how they
 * are kept. A schema made here validates arguments, types the code, and is printed by OPTIONS and OpenAPI.
 *
 * Kept forms: times are whole seconds since 1970 (UTC); money is a whole number of the currency's minor unit;
 * rates are a whole number of ten-thousandths. A JavaScript number holds each of them exactly, so nothing that
 * is added or compared is ever a fraction.
 */
import { type Static, type TSchema, Type } from 'typebox'

const MAX_IDENTIFIER = Number.MAX_SAFE_INTEGER
export const MAX_AMOUNT = 999_999_999_999.99
const MAX_RATE = 999_999_999
const RATE_DECIMALS = 4

// Schemas

// The items of a list need no description of their own.

export const identifier = (description?: string) =>
  Type.Integer({ minimum: 1, maximum: MAX_IDENTIFIER, ...(description && { description }) })

export const identifiers = (description: string) => listOf(identifier(), description)

/** One or many values; see `http/arguments.ts` for the ways to write a list. */
export const listOf = <T extends TSchema>(item: T, description: string) =>
  Type.Array(item, { maxItems: 1000, description })

/** One line of text: no control characters, no broken Unicode. `maxLength` counts characters. */
export const line = (maxLength: number, description?: string) =>
  Type.String({ maxLength, format: 'line', ...(description && { description }) })

/** Text of several lines: tabs and line breaks are allowed. */
export const paragraphs = (maxLength: number, description: string) =>
  Type.String({ maxLength, format: 'paragraphs', description })

export const email = (description: string) => Type.String({ maxLength: 254, format: 'email', description })

export const optionalEmail = (description: string) =>
  Type.String({ maxLength: 254, format: 'optional-email', description })

export const choice = <const T extends string>(values: readonly T[], description?: string) =>
  Type.Unsafe<T>({ type: 'string', enum: values, ...(description && { description }) })

export const flag = (description: string) => Type.Boolean({ description })

export const money = (description: string) => Type.Number({ minimum: 0, maximum: MAX_AMOUNT, description })

/** A rate to set: a number with at most four decimals, or '' for "not set". */
export const rate = (description: string) =>
  Type.Union([Type.Number({ minimum: 0, maximum: MAX_RATE, format: 'rate' }), Type.Literal('')], {
    description,
  })

const moment = (description: string) => Type.String({ format: 'moment', description })

export const since = (description: string) => moment(`${description} ${MOMENT_FORMS}`)

/** A day, or an object with `start`, `end` or both, inclusive. */
export const span = (description: string) =>
  Type.Union(
    [
      moment('One day, or one second when a time of day is given.'),
      Type.Object({
        start: Type.Optional(moment('The first day or second that belongs to the span.')),
        end: Type.Optional(moment('The last day or second that belongs to the span.')),
      }),
    ],
    { description: `${description} ${MOMENT_FORMS}` },
  )

const MOMENT_FORMS = 'UTC, as YYYY-MM-DD or YYYY-MM-DD HH:MM:SS.'

/**
 * The formats that schemas name, beyond what JSON Schema can say: `test` decides, `expects` completes the
 * sentence "must be …".
 */
export const formats: Record<string, Format> = {
  line: {
    test: text => !/[\p{Cc}\p{Cs}]/u.test(text),
    expects: 'one line of text without control characters',
  },
  paragraphs: {
    test: text => !/(?![\t\n\r])[\p{Cc}\p{Cs}]/u.test(text),
    expects: 'text without control characters',
  },
  email: { test: isEmail, expects: 'a valid e-mail address' },
  'optional-email': {
    test: text => text === '' || isEmail(text),
    expects: 'a valid e-mail address, or empty',
  },
  moment: {
    test: text => parseMoment(text) !== undefined,
    expects: 'a date (YYYY-MM-DD, or YYYY-MM-DD HH:MM:SS, in UTC)',
  },
  rate: {
    type: 'number',
    test: value => toUnits(value, RATE_DECIMALS) !== undefined,
    expects: `a number from 0 to ${MAX_RATE} with at most ${RATE_DECIMALS} decimals`,
  },
}

type Format =
  | { type?: 'string'; test: (text: string) => boolean; expects: string }
  | { type: 'number'; test: (value: number) => boolean; expects: string }

// Conversions

/** What adding up some hundreds of doubles can leave behind, as a part of their sum. */
const NOISE = 1e-13
/** Of one unit: nothing that is larger is noise, however large the number is. */
const MOST_NOISE = 1e-6

/**
 * Turns a decimal number into a whole number of its smallest units.
 *
 * A double holds 15 significant decimal digits exactly; what stands behind the 15th is float noise
 * (0.1 + 0.2, 27.869999999999997) and is dropped, and so is what a sum of many has gathered (39 times 2.40 is
 * 93.60000000000005). Digits before it were written on purpose.
 *
 * @param decimals how many decimals one unit stands for: 2 for cents
 * @returns undefined when the number has more decimals than that
 */
export function toUnits(value: number, decimals: number): number | undefined {
  const scale = 10 ** decimals
  const units = Math.round(value * scale)
  if (!Number.isSafeInteger(units)) return undefined
  const same =
    Number((units / scale).toPrecision(15)) === Number(value.toPrecision(15)) ||
    Math.abs(value * scale - units) <= Math.min(MOST_NOISE, Math.abs(units) * NOISE)
  return same ? units + 0 : undefined
}

/** The plain number that a count of units stands for: the nearest double, which prints as that decimal. */
export function fromUnits(units: number, decimals: number): number {
  return units / 10 ** decimals
}

/** Exact decimal text with all its decimals: '27.80'. For files and pages, where columns should line up. */
export function decimalText(units: number | bigint, decimals: number): string {
  if (decimals === 0) return String(units)
  const digits = String(units)
    .replace('-', '')
    .padStart(decimals + 1, '0')
  return `${units < 0 ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

declare global {
  interface JSON {
    /** ECMAScript 2026; the type declarations do not know it yet. */
    rawJSON(text: string): object
  }
}

/**
 * A sum as JSON shows it: a plain number with every digit that it has. A sum may have more of them than a double, so
 * it is kept as a bigint and written as it is.
 */
export function exactNumber(units: bigint, decimals: number): object {
  const text = decimalText(units, decimals)
  return JSON.rawJSON(decimals === 0 ? text : text.replace(/\.?0+$/, ''))
}

/** @returns ten-thousandths, or null for "not set" */
export function parseRate(value: number | ''): number | null {
  return value === '' ? null : (toUnits(value, RATE_DECIMALS) ?? null)
}

/** Canonical decimal text: '20', '7.5', '0', or '' for "not set". */
export function formatRate(tenThousandths: number | null): string {
  return tenThousandths === null ? '' : String(fromUnits(tenThousandths, RATE_DECIMALS))
}

const SECONDS_OF_DAY = 86_400
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
/** The days that were written lately: writing one takes longer than all the rest of a record. */
const days = new Map<number, string>()
const DAYS_KEPT = 4000

function formatDay(day: number): string {
  const known = days.get(day)
  if (known !== undefined) return known
  if (days.size >= DAYS_KEPT) days.clear()
  const text = new Date(day * SECONDS_OF_DAY * 1000).toISOString().slice(0, 10)
  days.set(day, text)
  return text
}

/** Seconds since 1970 as 'YYYY-MM-DD HH:MM:SS', UTC. */
export function formatTime(seconds: number): string {
  const day = Math.floor(seconds / SECONDS_OF_DAY)
  const rest = seconds - day * SECONDS_OF_DAY
  const hours = twoDigits[Math.floor(rest / 3600)]
  const minutes = twoDigits[Math.floor((rest % 3600) / 60)]
  return `${formatDay(day)} ${hours}:${minutes}:${twoDigits[rest % 60]}`
}

export function now(): number {
  return Math.floor(Date.now() / 1000)
}

const MOMENT = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}:\d{2})Z?)?$/

/**
 * Reads a day or a second.
 * @returns the first and last second that it covers, or undefined when it is no real date
 */
export function parseMoment(text: string): { first: number; last: number } | undefined {
  const [, day, time] = MOMENT.exec(text) ?? []
  if (day === undefined) return undefined
  const iso = `${day}T${time ?? '00:00:00'}.000Z`
  const milliseconds = Date.parse(iso)
  // Date.parse rolls 30 February over into March: only a date that reads back the same is real.
  if (Number.isNaN(milliseconds) || new Date(milliseconds).toISOString() !== iso) return undefined
  const first = milliseconds / 1000
  return { first, last: time === undefined ? first + SECONDS_OF_DAY - 1 : first }
}

/** The first and last second of a span; a side that is open is undefined. */
export function parseSpan(value: Static<ReturnType<typeof span>>): { first?: number; last?: number } {
  const { start, end } = typeof value === 'string' ? { start: value, end: value } : value
  const first = start === undefined ? undefined : parseMoment(start)?.first
  const last = end === undefined ? undefined : parseMoment(end)?.last
  return { ...(first !== undefined && { first }), ...(last !== undefined && { last }) }
}

const LOCAL_PART = /^(?!\.)(?!.*\.\.)[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~.-]{1,64}(?<!\.)$/u
const DOMAIN_LABEL = /^(?!-)[\p{L}\p{M}\p{N}-]{1,63}(?<!-)$/u

/** An address as people have them: no quoted local part, a domain with at least two labels. */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  const labels = text.slice(at + 1).split('.')
  return (
    at > 0 &&
    LOCAL_PART.test(text.slice(0, at)) &&
    labels.length > 1 &&
    labels.every(label => DOMAIN_LABEL.test(label)) &&
    !/^\d+$/.test(labels.at(-1)!)
  )
}

/**
 * The form under which logins, addresses and names are compared and searched: without regard to case. Computed
 * here and stored, so that every database engine agrees on it.
 */
export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

export interface Search {
  /** When the text is one, with or without the # that people write before it. */
  readonly id?: number
  /** The text, folded. */
  readonly key: string
  /** Finds the folded text anywhere, whatever letters it has: for LIKE … ESCAPE '\\'. */
  readonly pattern: string
}

export function parseSearch(text: string): Search {
  const digits = /^#?(\d{1,16})$/.exec(text.trim())?.[1]
  const id = digits === undefined ? undefined : Number(digits)
  const key = foldCase(text.trim())
  const pattern = `%${key.replace(/[\\%_]/g, '\\$&')}%`
  return { key, pattern, ...(id !== undefined && Number.isSafeInteger(id) && { id }) }
}
