import { Type } from 'typebox'
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

/** What every report answers. Its rows have the columns of their report. */
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

/** A sum is a bigint in minor units until it is written. */
export type Row = Record<string, string | number | bigint | null>

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
