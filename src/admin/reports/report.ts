/** Shared by all reports: periods, totals, and comparison with the preceding period, all of one moment. */
import { refuseInvalid } from '../../base/errors.ts'
import type { Settings } from '../../base/settings.ts'
import { formatDay, now } from '../../base/time.ts'
import type { Context } from '../../events/write.ts'
import type { Db } from '../../storage/database.ts'
import { type Choice, type Period, periodBefore, periodsOf, problemsOfDays } from './periods.ts'
import type { Report, Row } from './schema.ts'

export interface ReportArguments extends Choice {
  readonly affiliate_id?: number
}

/** Time of the first and last data. */
type TimesOf = (db: Db, affiliateId?: number) => Promise<{ first: number; last: number } | undefined>

/** First second, and first second after it; undefined means all time. */
export type Range = Pick<Period, 'first' | 'end'> | undefined

/** A report with a row per day or month, of these columns. */
export interface ByPeriod<R extends Row> {
  readonly timesOf: TimesOf
  /** One row per period, in order. */
  rows(db: Db, periods: readonly Period[], affiliateId?: number): Promise<R[]>
  /** Columns with a balance at the end of the period; the others are sums within it. */
  readonly standing?: readonly (keyof R & string)[]
  /** Adds columns computed from the others. */
  derived?(row: Row): Row
}

/** @throws Failure invalid_argument */
export async function reportByPeriod<R extends Row>(
  context: Context,
  args: ReportArguments,
  { timesOf, rows, standing = [], derived = row => row }: ByPeriod<R>,
): Promise<Report> {
  const { affiliate_id } = args
  const settings = await context.settings.current()
  return context.database.snapshot(async db => {
    const periods = await periodsFor(db, args, timesOf)
    const rowsOfPeriods = await rows(db, periods, affiliate_id)
    const namedRows = rowsOfPeriods.map((row, number) => derived({ period: periods[number]!.name, ...row }))
    const frame = frameOf(settings, args, periods)
    const report = { ...frame, rows: namedRows, totals: derived(totalOf(rowsOfPeriods, standing)) }
    if (frame.span === 'all') return report
    const earlier = periodBefore(periods)
    const [before] = await rows(db, [earlier], affiliate_id)
    return { ...report, before: derived({ ...daysOf([earlier]), ...before }) }
  })
}

/** A report with a row per rank. */
export async function reportOfTop<R extends Row>(
  context: Context,
  args: ReportArguments,
  timesOf: TimesOf,
  rows: (db: Db, range: Range) => Promise<R[]>,
): Promise<Report> {
  const settings = await context.settings.current()
  return context.database.snapshot(async db => {
    const periods = await periodsFor(db, args, timesOf)
    const frame = frameOf(settings, args, periods)
    const range = frame.span === 'all' ? undefined : { first: periods[0]!.first, end: periods.at(-1)!.end }
    return { ...frame, rows: await rows(db, range) }
  })
}

/** @throws Failure invalid_argument */
async function periodsFor(db: Db, args: ReportArguments, timesOf: TimesOf): Promise<Period[]> {
  refuseInvalid(problemsOfDays(args))
  return periodsOf(args, now(), await timesOf(db, args.affiliate_id))
}

function totalOf(rows: readonly Row[], standing: readonly string[]): Row {
  const total: Record<string, Row[string]> = {}
  for (const row of rows) {
    for (const [name, value] of Object.entries(row))
      total[name] = sumOf(total[name], value, standing.includes(name))
  }
  return total
}

function sumOf(sum: Row[string] | undefined, value: Row[string], isStanding: boolean): Row[string] {
  if (isStanding || sum === undefined) return value
  if (typeof value === 'bigint') return BigInt(sum ?? 0) + value
  return Number(sum) + Number(value)
}

function frameOf(
  { currency, decimals }: Settings,
  { span = '12m', from, to }: ReportArguments,
  periods: readonly Period[],
) {
  const isChosen = from !== undefined || to !== undefined
  return { span: isChosen ? ('days' as const) : span, ...daysOf(periods), currency, decimals }
}

function daysOf(periods: readonly Period[]): { from: string; to: string } {
  return {
    from: formatDay(periods[0]!.first),
    to: formatDay(periods.at(-1)!.end - 1),
  }
}
