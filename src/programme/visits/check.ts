/** Checks that the totals of all affiliates are what the days of each come to. */
import { DAY_SECONDS, formatTime } from '../../base/time.ts'
import type { Db } from '../../storage/database.ts'
import { spanOfDays, wrongTotals } from './store.ts'

/** Limits how long a statement takes. */
const DAYS_AT_ONCE = 30

export async function* checkTotals(db: Db): AsyncGenerator<string> {
  const span = await spanOfDays(db)
  for (let first = span?.first; first !== undefined && first <= span!.last; first += DAYS_AT_ONCE) {
    for (const { day, campaign, stated, derived } of await wrongTotals(db, first, first + DAYS_AT_ONCE - 1)) {
      const name = `${formatTime(day * DAY_SECONDS).slice(0, 10)}, campaign '${campaign}'`
      yield `visit_totals: ${name}, visits/unique/converted: ${stated} where the days of its affiliates come to ${derived}.`
    }
  }
}
