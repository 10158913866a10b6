/** Days or months of a report. Bounds are computed here, so that no engine needs calendar functions. */
import { DAY_SECONDS, formatDay, formatTime, parseMoment } from '../../base/time.ts'
import type { Span } from './schema.ts'

/** First second of the period, and first second after it, since 1970. */
export interface Period {
  /** 'YYYY-MM' or 'YYYY-MM-DD'. */
  readonly name: string
  readonly first: number
  readonly end: number
}

/** Selects a period: a span, or a range of days, both ends inclusive. */
export interface Choice {
  readonly span?: Span | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Time of the first and last data. */
interface TimeRange {
  readonly first: number
  readonly last: number
}

const DAYS = 30
const MONTHS = 12
/** Longer periods have monthly rows. */
const MOST_DAYS = 92
/** Limit of months in a report. */
const MOST_MONTHS = 1200
/** What is dated later, such as by a mistyped year, is in no report of all time: it would leave no place for the rest. */
const MONTHS_AHEAD = 120

/**
 * @param time the current time
 * @param timeRange undefined if there is no data
 */
export function periodsOf({ span = '12m', from, to }: Choice, time: number, timeRange?: TimeRange): Period[] {
  if (from !== undefined || to !== undefined) return between(daysOf({ from, to }, time, timeRange))
  if (span === '30d') {
    const today = time - (time % DAY_SECONDS)
    return Array.from({ length: DAYS }, (_, index) => day(today - (DAYS - 1 - index) * DAY_SECONDS))
  }
  const present = monthOf(time)
  const last =
    span === 'all'
      ? Math.min(Math.max(present, monthOf(timeRange?.last ?? 0)), present + MONTHS_AHEAD)
      : present
  const first = span === 'all' ? monthOf(timeRange?.first ?? time) : last - MONTHS + 1
  return months(first, last)
}

/** Validation of the selected days, by argument. */
export function problemsOfDays({ from, to }: Choice): Record<string, string> {
  const first = from === undefined ? undefined : dayOf(from)
  const last = to === undefined ? undefined : dayOf(to)
  if (first === undefined || last === undefined) return {}
  if (last < first) return { to: 'must not be before from.' }
  if (monthOf(last) - monthOf(first) >= MOST_MONTHS) return { to: 'must be at most 100 years after from.' }
  return {}
}

/** The preceding period of the same length: in whole months if the periods are months, otherwise in days. */
export function periodBefore(periods: readonly Period[]): Period {
  const [first, end] = [periods[0]!.first, periods.at(-1)!.end]
  const isWhole = startOf(monthOf(first)) === first && startOf(monthOf(end)) === end
  const start = isWhole ? startOf(2 * monthOf(first) - monthOf(end)) : 2 * first - end
  return { name: formatDay(start), first: start, end: first }
}

function daysOf(
  { from, to }: Choice,
  time: number,
  timeRange: TimeRange | undefined,
): { first: number; last: number } {
  const last = to === undefined ? dayOf(formatTime(time)) : dayOf(to)
  const first = from === undefined ? Math.min(timeRange?.first ?? last, last) : dayOf(from)
  return { first: first - (first % DAY_SECONDS), last: Math.max(first, last) }
}

function between({ first, last }: { first: number; last: number }): Period[] {
  const end = last - (last % DAY_SECONDS) + DAY_SECONDS
  const days = (end - first) / DAY_SECONDS
  if (days <= MOST_DAYS) return Array.from({ length: days }, (_, index) => day(first + index * DAY_SECONDS))
  // The first and the last month may be incomplete.
  return months(monthOf(first), monthOf(last)).map(({ name, ...month }) => ({
    name,
    first: Math.max(month.first, first),
    end: Math.min(month.end, end),
  }))
}

/** First second of the day, ignoring the time of day. */
function dayOf(text: string): number {
  return parseMoment(text.slice(0, 10))!.first
}

function day(first: number): Period {
  return { name: formatDay(first), first, end: first + DAY_SECONDS }
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

/** First second of a month, given in months since January 1970. */
function startOf(months: number): number {
  return Date.UTC(1970, months, 1) / 1000
}
