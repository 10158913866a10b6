/**
 * Times are whole seconds since 1970, in UTC; callers read and write them as YYYY-MM-DD HH:MM:SS.
 * See docs/decisions/clock.md.
 */

export const DAY_SECONDS = 86_400
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
/** Days that were formatted lately: formatting one costs more than the rest of a record. */
const days = new Map<number, string>()
const MAX_CACHED_DAYS = 4000

function formatDay(day: number): string {
  const cached = days.get(day)
  if (cached !== undefined) return cached
  if (days.size >= MAX_CACHED_DAYS) days.clear()
  const text = new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 10)
  days.set(day, text)
  return text
}

/** Seconds since 1970 as 'YYYY-MM-DD HH:MM:SS', UTC. */
export function formatTime(seconds: number): string {
  const day = Math.floor(seconds / DAY_SECONDS)
  const secondOfDay = seconds - day * DAY_SECONDS
  const hours = twoDigits[Math.floor(secondOfDay / 3600)]
  const minutes = twoDigits[Math.floor((secondOfDay % 3600) / 60)]
  return `${formatDay(day)} ${hours}:${minutes}:${twoDigits[secondOfDay % 60]}`
}

/** YYYY-MM-DD HH:MM:SS.mmm, of milliseconds. */
export function formatMilliseconds(milliseconds: number): string {
  return `${formatTime(Math.floor(milliseconds / 1000))}.${String(milliseconds % 1000).padStart(3, '0')}`
}

/** The day of a second, as days since 1970, UTC. */
export const dayOf = (seconds: number): number => Math.floor(seconds / DAY_SECONDS)

/** The first second of the month of a second, or of one so many months later, UTC. */
export function monthFrom(second: number, monthsLater = 0): number {
  const day = new Date(second * 1000)
  return new Date(0).setUTCFullYear(day.getUTCFullYear(), day.getUTCMonth() + monthsLater) / 1000
}

export function now(): number {
  return Math.floor(Date.now() / 1000)
}

const MOMENT =
  /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}:\d{2})(?:\.\d{1,9})?(?:Z|([+ -])([01]\d|2[0-3]):?([0-5]\d))?)?$/

/**
 * Reads a day or a second, as ISO 8601 writes them: a fraction of a second is dropped, and what names no offset is in UTC. A + that a URL
 * has made a space is one.
 * @returns the first and last second that it covers, or undefined when it is no real date
 */
export function parseMoment(text: string): { first: number; last: number } | undefined {
  const [, day, time, sign, hours, minutes] = MOMENT.exec(text) ?? []
  if (day === undefined) return undefined
  const iso = `${day}T${time ?? '00:00:00'}.000Z`
  const milliseconds = Date.parse(iso)
  // Date.parse rolls 30 February over into March: only a date that reads back the same is real.
  if (Number.isNaN(milliseconds) || new Date(milliseconds).toISOString() !== iso) return undefined
  const offset = sign === undefined ? 0 : Number(hours) * 3600 + Number(minutes) * 60
  const first = milliseconds / 1000 + (sign === '-' ? offset : -offset)
  return { first, last: time === undefined ? first + DAY_SECONDS - 1 : first }
}

/** The first and last second of a span; a side that is open is undefined. */
export function parseSpan(value: string | { start?: string; end?: string }): {
  first?: number
  last?: number
} {
  const { start, end } = typeof value === 'string' ? { start: value, end: value } : value
  const first = start === undefined ? undefined : parseMoment(start)?.first
  const last = end === undefined ? undefined : parseMoment(end)?.last
  return { ...(first !== undefined && { first }), ...(last !== undefined && { last }) }
}
