/** Checks that the totals of all affiliates are what the days of each come to. */
import { DAY_SECONDS, formatDay } from '../../base/time.ts'
import type { Db } from '../../storage/database.ts'
import { dayFrom, wrongTotals } from './store.ts'

/** Limits how long a statement takes. */
const DAYS_AT_ONCE = 30

export async function* checkTotals(db: Db): AsyncGenerator<string> {
  for (let from = Number.MIN_SAFE_INTEGER; ; from += DAYS_AT_ONCE) {
    const first = await dayFrom(db, from)
    if (first === undefined) return
    for (const { day, campaign, stated, derived } of await wrongTotals(db, first, first + DAYS_AT_ONCE - 1)) {
      const name = `${formatDay(day * DAY_SECONDS)}, campaign '${campaign}'`
      yield `visit_totals: ${name}, visits/unique/converted: ${stated} where the days of its affiliates come to ${derived}.`
    }
    from = first
  }
}
