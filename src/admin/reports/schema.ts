import { type Static, Type } from 'typebox'
import { choice, identifier, moment, withDefault } from '../../base/schemas.ts'

const spans = ['30d', '12m', 'all'] as const
export type Span = (typeof spans)[number]

export const reportArguments = {
  span: Type.Optional(
    withDefault(choice(spans, 'The last 30 days, by day; the last 12 months or all time, by month.'), '12m'),
  ),
  from: Type.Optional(
    moment(
      'First day of the period, instead of span: YYYY-MM-DD, UTC; that of the first record when omitted.',
    ),
  ),
  to: Type.Optional(
    moment(
      'Last day of the period: YYYY-MM-DD, UTC; today when omitted. More than 92 days are reported by month.',
    ),
  ),
  format: Type.Optional(withDefault(choice(['json', 'csv'], 'Format of the report.'), 'json')),
}

export const affiliateArgument = {
  affiliate_id: Type.Optional(identifier('Only what concerns this affiliate.')),
}

/** A sum that exceeds a JavaScript number's exact range is text. */
const sum = (description: string) => Type.Unsafe<number | string>(Type.Number({ description }))
const count = (description: string) => Type.Integer({ description })
const text = (description: string) => Type.String({ description })

const period = text('The day, YYYY-MM-DD, or the month, YYYY-MM.')
const affiliate = {
  affiliate_id: count('Identifier of the affiliate.'),
  login: Type.Union([Type.String(), Type.Null()], { description: 'Null if the affiliate was deleted.' }),
  display_name: Type.Union([Type.String(), Type.Null()], {
    description: 'Null if the affiliate was deleted.',
  }),
}
const paidColumns = { count: count('Number of payouts that were paid.'), sum: sum('Their sum.') }
const conversion = {
  visits: count('Number of visits.'),
  converted: count('Number of visits that led to a referral.'),
  rate: Type.Number({ description: 'Their share of all visits, in percent.' }),
}
const earnedColumns = {
  referrals: count('Number of referrals that count.'),
  earned: sum('Their sum.'),
}

/** Columns of each report. */
export const reportRows = {
  'payouts-by-month': Type.Object({
    period,
    ...paidColumns,
    failed_count: count('Number of payouts that failed.'),
    failed_sum: sum('Their sum.'),
  }),
  'affiliates-by-month': Type.Object({
    period,
    active: count('Number of affiliates who are now active.'),
    inactive: count('Number of affiliates who are now inactive.'),
    pending: count('Number of affiliates who now wait for approval.'),
    rejected: count('Number of affiliates who are now rejected.'),
    total: count('Number of affiliates who registered.'),
  }),
  'top-affiliates': Type.Object({ ...affiliate, ...paidColumns }),
  'payouts-by-method': Type.Object({ payout_method: text('The payout method.'), ...paidColumns }),
  'earnings-by-month': Type.Object({
    period,
    ...earnedColumns,
    pending: sum('What is not approved yet.'),
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
  span: choice([...spans, 'days'], 'The span that was requested; days if from or to was sent.'),
  from: Type.String({ description: 'First day of the period: YYYY-MM-DD, UTC.' }),
  to: Type.String({ description: 'Last day of the period: YYYY-MM-DD, UTC.' }),
  currency: Type.String({ description: 'Currency of the sums.' }),
  rows: Type.Array(Type.Object({})),
  totals: Type.Optional(Type.Object({}, { description: 'Totals of the columns; only in reports by month.' })),
  before: Type.Optional(
    Type.Object(
      { from: Type.String(), to: Type.String() },
      {
        description:
          'Days and totals of the preceding period of the same length. Not in a report of all time.',
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
