import { type Static, Type } from 'typebox'
import { choice, identifier, moment } from '../../base/schemas.ts'

const spans = ['30d', '12m', 'all'] as const
export type Span = (typeof spans)[number]

export const reportArguments = {
  span: Type.Optional(
    Type.Unsafe<Span>({
      ...choice(spans, 'The last 30 days, by day; the last 12 months, or all time, by month.'),
      default: '12m',
    }),
  ),
  from: Type.Optional(
    moment(
      'The first day that counts, instead of a span: YYYY-MM-DD, UTC; that of the first record when omitted.',
    ),
  ),
  to: Type.Optional(
    moment(
      'The last day that counts: YYYY-MM-DD, UTC; today when omitted. More than 92 days are reported by month.',
    ),
  ),
  format: Type.Optional(
    Type.Unsafe<'json' | 'csv'>({ ...choice(['json', 'csv'], 'How to write it.'), default: 'json' }),
  ),
}

export const affiliateArgument = {
  affiliate_id: Type.Optional(identifier('Only what is about this affiliate.')),
}

/** A sum that exceeds a JavaScript number's exact range is text. */
const sum = (description: string) => Type.Unsafe<number | string>(Type.Number({ description }))
const count = (description: string) => Type.Integer({ description })
const text = (description: string) => Type.String({ description })

const period = text('The day, YYYY-MM-DD, or the month, YYYY-MM.')
const affiliate = {
  affiliate_id: count('The affiliate.'),
  login: Type.Union([Type.String(), Type.Null()], { description: 'null: the affiliate was deleted.' }),
  display_name: Type.Union([Type.String(), Type.Null()], { description: 'null: the affiliate was deleted.' }),
}
const paidColumns = { count: count('Payouts that are paid.'), sum: sum('What they come to.') }
const conversion = {
  visits: count('Visits.'),
  converted: count('Those that led to a referral.'),
  rate: Type.Number({ description: 'Their part, in percent.' }),
}
const earnedColumns = {
  referrals: count('Referrals that count.'),
  earned: sum('What they come to.'),
}

/** Columns of each report. */
export const reportRows = {
  'payouts-by-month': Type.Object({
    period,
    ...paidColumns,
    failed_count: count('Payouts that failed.'),
    failed_sum: sum('What they come to.'),
  }),
  'affiliates-by-month': Type.Object({
    period,
    active: count('Affiliates who are active by now.'),
    inactive: count('Those who are inactive.'),
    pending: count('Those who wait for approval.'),
    rejected: count('Those who were rejected.'),
    total: count('All who registered.'),
  }),
  'top-affiliates': Type.Object({ ...affiliate, ...paidColumns }),
  'payouts-by-method': Type.Object({ payout_method: text('The payout method.'), ...paidColumns }),
  'earnings-by-month': Type.Object({
    period,
    ...earnedColumns,
    pending: sum('What waits for approval.'),
    refused: sum('What was rejected.'),
    written_off: sum('What was written off.'),
    paid: sum('What was paid.'),
    owed: sum('What was owed at the end of the period.'),
  }),
  'conversion-by-month': Type.Object({ period, ...conversion }),
  'best-affiliates': Type.Object({ ...affiliate, ...earnedColumns, ...conversion }),
  'best-campaigns': Type.Object({ campaign: text('The campaign.'), ...earnedColumns, ...conversion }),
}

export type ReportName = keyof typeof reportRows
/** Row type of each report. */
export type ReportRows = { readonly [N in ReportName]: Static<(typeof reportRows)[N]> }

/** Answer of every report, whose rows have that report's columns. */
export const reportRecord = Type.Object({
  span: choice([...spans, 'days'], 'The span that was asked for; days when they were chosen.'),
  from: Type.String({ description: 'The first day that counts: YYYY-MM-DD, UTC.' }),
  to: Type.String({ description: 'The last day that counts: YYYY-MM-DD, UTC.' }),
  currency: Type.String({ description: 'The currency of the sums.' }),
  rows: Type.Array(Type.Object({})),
  totals: Type.Optional(
    Type.Object({}, { description: 'The columns of all rows together; only in reports by month.' }),
  ),
  before: Type.Optional(
    Type.Object(
      { from: Type.String(), to: Type.String() },
      {
        description:
          'The same of the time just before, as long: its days and totals. Not in a report of all time.',
      },
    ),
  ),
})

/** Sums are bigints in minor units until they are serialised. */
export type Row = Readonly<Record<string, string | number | bigint | null>>

/** A row of a report so. */
export type ReportRow<N extends ReportName> = {
  readonly [C in keyof ReportRows[N]]: number | string extends ReportRows[N][C] ? bigint : ReportRows[N][C]
}

export interface Report {
  readonly span: Span | 'days'
  readonly from: string
  readonly to: string
  readonly currency: string
  readonly decimals: number
  readonly rows: Row[]
  readonly totals?: Row
  readonly before?: Row
}
