/** The days or months that a report has a row for. Bounds are computed here, so that no engine needs a calendar. */
import { formatTime } from '../../base/time.ts'
import type { Span } from './schema.ts'

/** Seconds since 1970: from the first that belongs to it to the first that does not. */
export interface Period {
  /** 'YYYY-MM' or 'YYYY-MM-DD'. */
  readonly name: string
  readonly first: number
  readonly end: number
}

const DAY = 86_400
const DAYS = 30
const MONTHS = 12

/**
 * @param time the moment of asking
 * @param known the first and last moment of what is reported, undefined when there is nothing
 */
export function periodsOf(span: Span, time: number, known?: { first: number; last: number }): Period[] {
  if (span === '30d') {
    const today = time - (time % DAY)
    return Array.from({ length: DAYS }, (_, index) => day(today - (DAYS - 1 - index) * DAY))
  }
  const last = monthOf(span === 'all' ? Math.max(time, known?.last ?? 0) : time)
  const first = span === 'all' ? monthOf(known?.first ?? time) : last - MONTHS + 1
  return Array.from({ length: last - first + 1 }, (_, index) => month(first + index))
}

function day(first: number): Period {
  return { name: formatTime(first).slice(0, 10), first, end: first + DAY }
}

/** Months since January 1970. */
function monthOf(time: number): number {
  const date = new Date(time * 1000)
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()
}

function month(number: number): Period {
  const start = (months: number) => Date.UTC(1970, months, 1) / 1000
  return { name: formatTime(start(number)).slice(0, 7), first: start(number), end: start(number + 1) }
}
