import { type RawBuilder, sql } from 'kysely'
import { DAY_SECONDS } from '../base/time.ts'

const SHIFTED_DAYS = 10_000_000

/** As `dayOf`, by the database: it divides towards zero, so times before 1970 are moved above zero first. */
export function dayIn(seconds: RawBuilder<unknown>): RawBuilder<number> {
  const shift = sql.lit(SHIFTED_DAYS * DAY_SECONDS)
  return sql<number>`(${seconds} + ${shift}) / ${sql.lit(DAY_SECONDS)} - ${sql.lit(SHIFTED_DAYS)}`
}
