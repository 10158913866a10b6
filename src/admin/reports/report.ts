/** What all reports have in common: their days, the totals of a report by month, and the comparison with the time before. */
import { refuseInvalid } from '../../base/errors.ts'
import { formatTime, now } from '../../base/time.ts'
import type { Context } from '../../events/write.ts'
import type { Db } from '../../storage/database.ts'
import { type Choice, type Period, periodBefore, periodsOf, problemsOfDays } from './periods.ts'
import type { Report, Row } from './schema.ts'

export interface Wanted extends Choice {
  readonly affiliate_id?: number
}

/** The first and last moment of what there is. */
type Known = (db: Db, affiliateId?: number) => Promise<{ first: number; last: number } | undefined>

/** From the first second that counts to the first that does not; undefined is all time. */
export type Range = Pick<Period, 'first' | 'end'> | undefined

/** A report that has a row for each day or month. */
export interface ByPeriod {
  readonly known: Known
  /** One row for each period, in their order. */
  rows(db: Db, periods: readonly Period[], affiliateId?: number): Promise<Row[]>
  /** Columns that are what they were at the end of a period, not what came to be in it. */
  readonly standing?: readonly string[]
  /** Columns that follow from the others. */
  derived?(row: Row): Row
}

/** @throws Failure invalid_argument */
export async function reportByPeriod(
  context: Context,
  wanted: Wanted,
  { known, rows, standing = [], derived = row => row }: ByPeriod,
): Promise<Report> {
  const { replica } = context.database
  const { affiliate_id } = wanted
  const periods = await periodsFor(replica, wanted, known)
  const made = await rows(replica, periods, affiliate_id)
  const named = made.map((row, number) => derived({ period: periods[number]!.name, ...row }))
  const frame = await frameOf(context, wanted, periods)
  const report = { ...frame, rows: named, totals: derived(totalOf(made, standing)) }
  if (frame.span === 'all') return report
  const earlier = periodBefore(periods)
  const [before] = await rows(replica, [earlier], affiliate_id)
  return { ...report, before: derived({ ...daysOf([earlier]), ...before }) }
}

/** A report that has a row for each of those that come first. */
export async function reportOfTop(
  context: Context,
  wanted: Wanted,
  known: Known,
  rows: (db: Db, range: Range) => Promise<Row[]>,
): Promise<Report> {
  const { replica } = context.database
  const periods = await periodsFor(replica, wanted, known)
  const frame = await frameOf(context, wanted, periods)
  const range = frame.span === 'all' ? undefined : { first: periods[0]!.first, end: periods.at(-1)!.end }
  return { ...frame, rows: await rows(replica, range) }
}

/** @throws Failure invalid_argument */
async function periodsFor(db: Db, wanted: Wanted, known: Known): Promise<Period[]> {
  refuseInvalid(problemsOfDays(wanted))
  return periodsOf(wanted, now(), await known(db, wanted.affiliate_id))
}

function totalOf(rows: readonly Row[], standing: readonly string[]): Row {
  const total: Row = {}
  for (const row of rows) {
    for (const [name, value] of Object.entries(row))
      total[name] = added(total[name], value, standing.includes(name))
  }
  return total
}

function added(sum: Row[string] | undefined, value: Row[string], isStanding: boolean): Row[string] {
  if (isStanding || sum === undefined) return value
  if (typeof value === 'bigint') return (sum as bigint) + value
  return Number(sum) + Number(value)
}

async function frameOf(
  { settings }: Context,
  { span = '12m', from, to }: Wanted,
  periods: readonly Period[],
) {
  const { currency, decimals } = await settings.current()
  const isChosen = from !== undefined || to !== undefined
  return { span: isChosen ? ('days' as const) : span, ...daysOf(periods), currency, decimals }
}

function daysOf(periods: readonly Period[]): { from: string; to: string } {
  return {
    from: formatTime(periods[0]!.first).slice(0, 10),
    to: formatTime(periods.at(-1)!.end - 1).slice(0, 10),
  }
}
