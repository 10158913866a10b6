import { Type } from 'typebox'
import { choice, identifier } from '../../base/schemas.ts'

const spans = ['30d', '12m', 'all'] as const
export type Span = (typeof spans)[number]

export const reportArguments = {
  span: Type.Optional(
    Type.Unsafe<Span>({
      ...choice(spans, 'The last 30 days, by day; the last 12 months, or all time, by month.'),
      default: '12m',
    }),
  ),
  format: Type.Optional(
    Type.Unsafe<'json' | 'csv'>({ ...choice(['json', 'csv'], 'How to write it.'), default: 'json' }),
  ),
}

export const affiliateArgument = {
  affiliate_id: Type.Optional(identifier('Only payouts to this affiliate.')),
}

/** What every report answers. Its rows have the columns of their report. */
export const reportRecord = Type.Object({
  span: choice(spans, 'The span that was asked for.'),
  from: Type.String({ description: 'The first day that counts: YYYY-MM-DD, UTC.' }),
  to: Type.String({ description: 'The last day that counts: YYYY-MM-DD, UTC.' }),
  currency: Type.String({ description: 'The currency of the sums.' }),
  rows: Type.Array(Type.Object({})),
})

/** A sum is a bigint in minor units until it is written. */
export type Row = Record<string, string | number | bigint | null>

export interface Report {
  readonly span: Span
  readonly from: string
  readonly to: string
  readonly currency: string
  readonly decimals: number
  readonly rows: Row[]
}
