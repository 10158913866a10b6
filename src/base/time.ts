/**
 * Times are whole seconds since 1970, UTC; callers read and write them as YYYY-MM-DD HH:MM:SS.
 * See docs/decisions/clock.md.
 */

export const DAY_SECONDS = 86_400
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
/** Cache of formatted days: formatting one costs more than the rest of a record. */
const days = new Map<number, string>()
const MAX_CACHED_DAYS = 4000

function textOfDay(day: number): string {
  const cached = days.get(day)
  if (cached !== undefined) return cached
  if (days.size >= MAX_CACHED_DAYS) days.clear()
  const text = new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 10)
  days.set(day, text)
  return text
}

/** Seconds since 1970 as 'YYYY-MM-DD HH:MM:SS', UTC. */
export function formatTime(seconds: number): string {
  const day = dayOf(seconds)
  const secondOfDay = seconds - day * DAY_SECONDS
  const hours = twoDigits[Math.floor(secondOfDay / 3600)]
  const minutes = twoDigits[Math.floor((secondOfDay % 3600) / 60)]
  return `${textOfDay(day)} ${hours}:${minutes}:${twoDigits[secondOfDay % 60]}`
}

/** The day of a time, as 'YYYY-MM-DD', UTC. */
export const formatDay = (seconds: number): string => textOfDay(dayOf(seconds))

/** The same as `formatTime` of a time that may be missing: '' for null. */
export const formatOptionalTime = (seconds: number | null): string =>
  seconds === null ? '' : formatTime(seconds)

/** Milliseconds since 1970 as 'YYYY-MM-DD HH:MM:SS.mmm', UTC. */
export function formatMilliseconds(milliseconds: number): string {
  return `${formatTime(Math.floor(milliseconds / 1000))}.${String(milliseconds % 1000).padStart(3, '0')}`
}

/** Days since 1970 of a time in seconds, UTC. */
export const dayOf = (seconds: number): number => Math.floor(seconds / DAY_SECONDS)

/** First second of the month of a time, or of a month that many months later, UTC. */
export function monthFrom(second: number, monthsLater = 0): number {
  const day = new Date(second * 1000)
  return new Date(0).setUTCFullYear(day.getUTCFullYear(), day.getUTCMonth() + monthsLater) / 1000
}

export function now(): number {
  return Math.floor(Date.now() / 1000)
}

/** Of the years 0000 to 9999, which are all that four digits can say. */
const FIRST_SECOND = Date.parse('0000-01-01T00:00:00Z') / 1000
const LAST_SECOND = Date.parse('9999-12-31T23:59:59Z') / 1000

const MOMENT =
  /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}:\d{2})(?:\.\d{1,9})?(?:Z|([+ -])([01]\d|2[0-3]):?([0-5]\d))?)?$/

/**
 * Parses a day or a time in ISO 8601: fractions of a second are dropped, and UTC is assumed without an offset. A + that
 * URL decoding turned into a space is accepted.
 * @returns the first and last second covered, or undefined if it is not a valid date
 */
export function parseMoment(text: string): { first: number; last: number } | undefined {
  const [, day, time, sign, hours, minutes] = MOMENT.exec(text) ?? []
  if (day === undefined) return undefined
  const iso = `${day}T${time ?? '00:00:00'}.000Z`
  const milliseconds = Date.parse(iso)
  // Date.parse rolls 30 February over into March: a date is valid only if it reads back the same.
  if (Number.isNaN(milliseconds) || new Date(milliseconds).toISOString() !== iso) return undefined
  const offset = sign === undefined ? 0 : Number(hours) * 3600 + Number(minutes) * 60
  const first = milliseconds / 1000 + (sign === '-' ? offset : -offset)
  if (first < FIRST_SECOND || first > LAST_SECOND) return undefined
  return { first, last: time === undefined ? first + DAY_SECONDS - 1 : first }
}

/** First and last second of a span: of a single moment, those of its day; undefined for an open side. */
export function parseSpan(value: string | { start?: string; end?: string }): {
  first?: number
  last?: number
} {
  if (typeof value === 'string') return dayWith(value)
  const { start, end } = value
  const first = start === undefined ? undefined : parseMoment(start)?.first
  const last = end === undefined ? undefined : parseMoment(end)?.last
  return { ...(first !== undefined && { first }), ...(last !== undefined && { last }) }
}

function dayWith(moment: string): { first?: number; last?: number } {
  const parsed = parseMoment(moment)
  if (!parsed) return {}
  const first = dayOf(parsed.first) * DAY_SECONDS
  return { first, last: first + DAY_SECONDS - 1 }
}
