/** Reads what others send, which may have any shape. Pure. */

export type Json = { readonly [name: string]: unknown }

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object, or one without members. */
export const object = (value: unknown): Json => (isObject(value) ? value : {})

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Text or a number as text; '' for anything else. */
export const text = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''

/** A number, or text that reads as one; undefined for anything else. */
export function number(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || !/^-?\d+(\.\d+)?$/.test(value)) return undefined
  return Number(value)
}

/** The identifier of what may be expanded to the whole object. */
export const idOf = (value: unknown): string => text(isObject(value) ? value.id : value)

/** Those that are not empty, without `own`. */
export const names = (values: readonly string[], own: string): string[] =>
  [...new Set(values)].filter(value => value !== '' && value !== own)

/** The same without members that say nothing. */
export function withoutEmpty<T extends object>(value: T): T {
  const members = Object.entries(value).filter(([, one]) => one !== undefined && one !== '')
  return Object.fromEntries(members) as T
}

/** Seconds as the service reads times. */
export const moment = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')
