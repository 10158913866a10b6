/**
 * Argument schemas: identifiers, lists, text, e-mail addresses, money, rates and dates as callers send them. A schema
 * validates arguments, types the code, and is what OPTIONS and OpenAPI describe.
 */
import { type TSchema, Type } from 'typebox'
import { CURRENCY_CODE, problemOfCurrencyCode } from './currencies.ts'
import type { FailureName } from './errors.ts'
import { MAX_AMOUNT, MAX_RATE, RATE_DECIMALS, toUnits } from './money.ts'
import { isEmail, isPlain } from './text.ts'
import { parseMoment } from './time.ts'

const MAX_IDENTIFIER = Number.MAX_SAFE_INTEGER

/** Says what is meant where the argument is omitted; the rules see to it. */
export const withDefault = <S extends TSchema>(schema: S, value: unknown): S => ({
  ...schema,
  default: value,
})

// The items of a list need no description of their own.

export const identifier = (description?: string) =>
  Type.Integer({ minimum: 1, maximum: MAX_IDENTIFIER, ...(description && { description }) })

export const identifiers = (description: string) => listOf(identifier(), description)

/** One or many values; `http/coercion.ts` lists the accepted notations. */
export const listOf = <T extends TSchema>(item: T, description: string) =>
  Type.Array(item, { maxItems: 1000, description })

/** A limit of the length that is a multiple of it is said in MiB. */
export const MIB = 1_048_576

/** One line of text: no control characters, no broken Unicode. `maxLength` counts characters. */
export const line = (maxLength: number, description?: string) =>
  Type.String({ maxLength, format: 'line', ...(description && { description }) })

/**
 * A line, such as a password or the number of a bank account, that is taken from a body only: proxies write addresses, and the
 * query with them, into their logs.
 */
export const secret = (maxLength: number, description: string) =>
  Type.String({ ...line(maxLength, description), 'x-body-only': true })

/** Text of several lines: tabs and line breaks are allowed. */
export const paragraphs = (maxLength: number, description: string) =>
  Type.String({ maxLength, format: 'paragraphs', description })

/** Refused where it is sent. @param failure what it is answered with */
export const refused = (failure: FailureName) => Type.Unknown({ 'x-refused': failure })

const CODE = '^[A-Za-z0-9_-]{1,64}$'

/** A part of an address, in characters that need no escape there. */
export const code = (description: string) => Type.String({ pattern: CODE, format: 'code', description })

/** The name of a record on another site; what has no colon is none. */
export const elsewhere = (maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: '^$|^[^:]*:.*$', format: 'elsewhere', description })

export const email = (description: string) => Type.String({ maxLength: 254, format: 'email', description })

export const optionalEmail = (description: string) =>
  Type.String({ maxLength: 254, format: 'optional-email', description })

/** The code of a currency in use, in any case of letters. */
export const currency = (description: string) => Type.String({ format: 'currency', description })

export const choice = <const T extends string>(values: readonly T[], description?: string) =>
  Type.Unsafe<T>({ type: 'string', enum: values, ...(description && { description }) })

export const flag = (description: string) => Type.Boolean({ description })

export const money = (description: string) => Type.Number({ minimum: 0, maximum: MAX_AMOUNT, description })

/** A rate to set: a number with at most four decimals, or '' for "not set". */
export const rate = (description: string) => Type.Union([rateNumber(), Type.Literal('')], { description })

/** A rate that cannot be unset: rules refuse '', so that it is named together with whatever else they refuse. */
export const lastingRate = (description: string) =>
  Type.Union([rateNumber(), Type.Literal('', { 'x-left-to-rules': true })], { description })

const rateNumber = () => Type.Number({ minimum: 0, maximum: MAX_RATE, format: 'rate' })

export const moment = (description: string) => Type.String({ format: 'moment', description })

/** A day without a time of day. */
export const day = (description: string) => Type.String({ format: 'date', description })

export const since = (description: string) => moment(`${description} ${MOMENT_FORMS}`)

/** A day, also by a time of day in it, or an object with `start`, `end` or both. Both ends are inclusive. */
export const span = (description: string) =>
  Type.Union(
    [
      moment('A whole day in UTC, even if it has a time of day.'),
      Type.Object({
        start: Type.Optional(moment('First day or second of the period.')),
        end: Type.Optional(moment('Last day or second of the period.')),
      }),
    ],
    { description: `${description} ${MOMENT_FORMS}` },
  )

const MOMENT_FORMS = 'UTC, as YYYY-MM-DD or YYYY-MM-DD HH:MM:SS.'

/**
 * Bidirectional embeddings, overrides and isolates, which can make text look like other text. The marks that Arabic
 * and Hebrew need are not among them.
 */
const TURNS_DIRECTION = /[\u202A-\u202E\u2066-\u2069]/u
const IN_NO_LINE = new RegExp(`[\\p{Cc}\\p{Cs}]|${TURNS_DIRECTION.source}`, 'u')
const ALL_IN_NO_LINE = new RegExp(IN_NO_LINE, 'gu')

export const isLine = (text: string): boolean => !IN_NO_LINE.test(text)

/** The text as one line. @param instead what stands in the place of each character that no line may have */
export const asLine = (text: string, instead = ' '): string => text.replace(ALL_IN_NO_LINE, instead)

/**
 * String formats beyond what JSON Schema can express: `test` validates, `expects` completes the sentence "must be …". What a
 * format `ignores` counts as not sent, as programs expect that were written for another service.
 */
export const formats: Record<string, Format> = {
  line: {
    test: isLine,
    expects: 'one line of text without control characters',
  },
  paragraphs: {
    test: text => isPlain(text) && !TURNS_DIRECTION.test(text),
    expects: 'text without control characters',
  },
  code: {
    test: text => new RegExp(CODE).test(text),
    expects: '1 to 64 letters (A-Z, a-z), digits, _ and -',
  },
  email: { test: isEmail, expects: 'a valid e-mail address' },
  elsewhere: {
    test: isLine,
    expects: 'one line of text as site:id, or empty',
    ignores: text => text !== '' && !text.includes(':'),
  },
  'optional-email': {
    test: text => text === '' || isEmail(text),
    expects: 'a valid e-mail address, or empty',
  },
  currency: { test: text => problemOfCurrencyCode(text) === undefined, expects: CURRENCY_CODE },
  moment: {
    test: text => parseMoment(text) !== undefined,
    expects: 'a date (YYYY-MM-DD, or YYYY-MM-DD HH:MM:SS, in UTC)',
  },
  date: {
    test: text => text.length === 'YYYY-MM-DD'.length && parseMoment(text) !== undefined,
    expects: 'a date (YYYY-MM-DD)',
  },
  rate: {
    type: 'number',
    test: value => toUnits(value, RATE_DECIMALS) !== undefined,
    expects: `a number from 0 to ${MAX_RATE} with at most ${RATE_DECIMALS} decimals`,
  },
}

type Format =
  | { type?: 'string'; test: (text: string) => boolean; expects: string; ignores?: (text: string) => boolean }
  | { type: 'number'; test: (value: number) => boolean; expects: string }
