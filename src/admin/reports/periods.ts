/** The days or months that a report has a row for. Bounds are computed here, so that no engine needs a calendar. */
import { formatTime, parseMoment } from '../../base/time.ts'
import type { Span } from './schema.ts'

/** Seconds since 1970: from the first that belongs to it to the first that does not. */
export interface Period {
  /** 'YYYY-MM' or 'YYYY-MM-DD'. */
  readonly name: string
  readonly first: number
  readonly end: number
}

/** What a report is to be about: a span, or the days from one to another, both inclusive. */
export interface Choice {
  readonly span?: Span | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** The first and last moment of what is reported. */
interface Known {
  readonly first: number
  readonly last: number
}

const DAY = 86_400
const DAYS = 30
const MONTHS = 12
/** What is longer has a row for each month. */
const MOST_DAYS = 92
/** Months that a report can have. */
const MOST_MONTHS = 1200

/**
 * @param time the moment of asking
 * @param known undefined when there is nothing
 */
export function periodsOf({ span = '12m', from, to }: Choice, time: number, known?: Known): Period[] {
  if (from !== undefined || to !== undefined) return between(daysOf({ from, to }, time, known))
  if (span === '30d') {
    const today = time - (time % DAY)
    return Array.from({ length: DAYS }, (_, index) => day(today - (DAYS - 1 - index) * DAY))
  }
  const last = monthOf(span === 'all' ? Math.max(time, known?.last ?? 0) : time)
  const first = span === 'all' ? monthOf(known?.first ?? time) : last - MONTHS + 1
  return months(first, last)
}

/** What is wrong with a choice of days, by the argument. */
export function problemsOfDays({ from, to }: Choice): Record<string, string> {
  const first = from === undefined ? undefined : dayOf(from)
  const last = to === undefined ? undefined : dayOf(to)
  if (first === undefined || last === undefined) return {}
  if (last < first) return { to: 'must not be before from.' }
  if (monthOf(last) - monthOf(first) >= MOST_MONTHS) return { to: 'must be at most 100 years after from.' }
  return {}
}

/** As long as all of these together and just before them: so many months where they are whole months, else so many days. */
export function periodBefore(periods: readonly Period[]): Period {
  const [first, end] = [periods[0]!.first, periods.at(-1)!.end]
  const isWhole = startOf(monthOf(first)) === first && startOf(monthOf(end)) === end
  const start = isWhole ? startOf(2 * monthOf(first) - monthOf(end)) : 2 * first - end
  return { name: formatTime(start).slice(0, 10), first: start, end: first }
}

function daysOf(
  { from, to }: Choice,
  time: number,
  known: Known | undefined,
): { first: number; last: number } {
  const last = to === undefined ? dayOf(formatTime(time)) : dayOf(to)
  const first = from === undefined ? Math.min(known?.first ?? last, last) : dayOf(from)
  return { first: first - (first % DAY), last: Math.max(first, last) }
}

function between({ first, last }: { first: number; last: number }): Period[] {
  const end = last - (last % DAY) + DAY
  const days = (end - first) / DAY
  if (days <= MOST_DAYS) return Array.from({ length: days }, (_, index) => day(first + index * DAY))
  // The first and the last month may be a part of one.
  return months(monthOf(first), monthOf(last)).map(({ name, ...whole }) => ({
    name,
    first: Math.max(whole.first, first),
    end: Math.min(whole.end, end),
  }))
}

/** The first second of the day that a text names, whatever its time of day. */
function dayOf(text: string): number {
  return parseMoment(text.slice(0, 10))!.first
}

function day(first: number): Period {
  return { name: formatTime(first).slice(0, 10), first, end: first + DAY }
}

/** Months since January 1970. */
function monthOf(time: number): number {
  const date = new Date(time * 1000)
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()
}

function months(first: number, last: number): Period[] {
  const length = Math.min(last - first + 1, MOST_MONTHS)
  return Array.from({ length }, (_, index) => month(last - length + 1 + index))
}

function month(number: number): Period {
  const first = startOf(number)
  return { name: formatTime(first).slice(0, 7), first, end: startOf(number + 1) }
}

/** The first second of a month, by the months since January 1970. */
function startOf(months: number): number {
  return Date.UTC(1970, months, 1) / 1000
}
