/** The day on which a bank is asked to pay a run. */
import type { Problems } from '../../base/errors.ts'
import { DAY_SECONDS, dayOf, formatDay, parseMoment } from '../../base/time.ts'
import type { Method } from './run.ts'
import { isBankOrder } from './words.ts'

/** A later day is a slip of the pen; and of the year, an ACH file has two digits. */
const MOST_DAYS_AHEAD = 366

/** What is wrong with the day that was chosen, at the time when the run is prepared. */
export function problemOfDay(
  { method, execution_date: chosen }: { readonly method: Method; readonly execution_date?: string },
  time: number,
): Problems {
  if (chosen === undefined) return {}
  if (!isBankOrder(method)) {
    return {
      execution_date: `is for sepa and nacha only: the ${method} file carries no date. Hand it over on that day.`,
    }
  }
  const today = dayOf(time) * DAY_SECONDS
  const last = today + MOST_DAYS_AHEAD * DAY_SECONDS
  const day = parseMoment(chosen)!.first
  if (day >= today && day <= last) return {}
  return {
    execution_date: `must be from ${formatDay(today)}, which is today in UTC, to ${formatDay(last)}.`,
  }
}
