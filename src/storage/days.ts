import { type RawBuilder, sql } from 'kysely'
import { DAY_SECONDS } from '../base/time.ts'

const SHIFTED_DAYS = 10_000_000

/** `dayOf` in SQL: integer division truncates towards zero, so times before 1970 are shifted first. */
export function dayIn(seconds: RawBuilder<unknown>): RawBuilder<number> {
  const shift = sql.lit(SHIFTED_DAYS * DAY_SECONDS)
  return sql<number>`(${seconds} + ${shift}) / ${sql.lit(DAY_SECONDS)} - ${sql.lit(SHIFTED_DAYS)}`
}
