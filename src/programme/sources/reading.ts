/** Reads payloads of others, which may have any shape. Pure. */

import { rounded } from '../../base/json.ts'
import { asLine } from '../../base/schemas.ts'
import { isObject } from '../../base/unknown.ts'
import { numberIn } from '../../http/coercion.ts'
import { MAX_REFERENCE } from '../conversions/conversion.ts'
import type { Reported } from './report.ts'

export type Json = { readonly [name: string]: unknown }

/** The object, or one without members. */
export const object = (value: unknown): Json => (isObject(value) ? value : {})

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Text or a number as text; '' for anything else. */
export function text(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  return JSON.isRawJSON(value) ? value.rawJSON : ''
}

/** A number, or text that the interface reads as one; undefined for anything else. */
export function number(sent: unknown): number | undefined {
  const value = rounded(sent)
  if (typeof value === 'number') return value
  return typeof value === 'string' ? numberIn(value) : undefined
}

/**
 * An amount, changed where it is a number. Anything else is left as it is, for the interface to refuse: read as nothing, it
 * would be recorded for good.
 * @returns undefined where nothing was sent
 */
export function amountOf(value: unknown, change: (amount: number) => number = amount => amount): unknown {
  if (value === null || value === '') return undefined
  const amount = number(value)
  return amount === undefined ? value : change(amount)
}

/** The identifier of an object that may be expanded or be its identifier alone. */
export const idOf = (value: unknown): string => text(isObject(value) ? value.id : value)

/** The values that can be names, without `own`. */
export const names = (values: readonly string[], own: string): string[] =>
  [...new Set(values)].filter(value => isName(value) && value !== own)

const isName = (value: string) =>
  value !== '' && value.length <= MAX_REFERENCE && !/\p{Cc}/u.test(value) && value.isWellFormed()

/** The object without empty members. */
export function withoutEmpty<T extends object>(value: T): Partial<T> {
  const rest: Partial<T> = { ...value }
  for (const name in rest) if (rest[name] === undefined || rest[name] === '') delete rest[name]
  return rest
}

/** What a shop passes on of the origin of a sale. */
export function originsOf(
  of: Readonly<Record<'click' | 'affiliate' | 'coupon', unknown>>,
): Partial<Reported> {
  const [click, affiliate] = [text(of.click).trim(), named(of.affiliate)]
  return withoutEmpty({
    ...(click !== '' && { click: { last: click } }),
    ...(affiliate !== undefined && { affiliate_id: affiliate }),
    coupon: text(of.coupon).trim(),
  })
}

/** The identifier of a record. Who writes 0 or less means none. */
export function named(value: unknown): number | undefined {
  const id = number(value)
  return id !== undefined && id > 0 ? id : undefined
}

/** Text made fit to be what a shop calls a product: in one line, and no longer than that may be. */
export const productIn = (value: string): string => [...asLine(value).trim()].slice(0, MAX_REFERENCE).join('')

/**
 * Of what was paid; a shop may count as paid by other means (a voucher, a balance) what these are larger by. What is no
 * amount is left as it is.
 */
export function sharesOf(
  amount: unknown,
  shares: Readonly<Record<'tax' | 'shipping', unknown>>,
): Readonly<Record<'tax' | 'shipping', unknown>> {
  const { tax = 0, shipping = 0 } = shares
  if (typeof amount !== 'number' || typeof tax !== 'number' || typeof shipping !== 'number') return shares
  const taxPaid = Math.min(tax, amount)
  return { tax: taxPaid, shipping: Math.min(shipping, amount - taxPaid) }
}

const LATEST = Date.UTC(9999, 11, 31) / 1000

/** Seconds in the format of the interface; other values are left for it to refuse. */
export const moment = (seconds: number): string =>
  seconds >= 0 && seconds <= LATEST
    ? new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')
    : String(seconds)
