/** Reports, as the server computes them. */
import { useQuery } from '@tanstack/react-query'
import { HttpError } from 'react-admin'
import type { ReportName, ReportRows, Span } from '../../../src/admin/reports/schema.ts'
import { API, get, queryOf } from '../api.ts'

export const spans = [
  { value: '30d', label: '30 days' },
  { value: '12m', label: '12 months' },
  { value: 'all', label: 'All' },
] as const satisfies readonly { value: Span; label: string }[]

export type { ReportName, ReportRows as Rows }

/** The period of a report: a span, or a range of days. */
export interface Scope {
  span?: Span
  from?: string
  to?: string
  affiliate_id?: number
}

export interface Report<N extends ReportName> {
  span: Span | 'days'
  from: string
  to: string
  currency: string
  rows: ReportRows[N][]
  /** Totals of all rows, and of the preceding period of the same length; only in reports by month. */
  totals?: Omit<ReportRows[N], 'period'>
  before?: Omit<ReportRows[N], 'period'> & { from: string; to: string }
}

export function useReport<N extends ReportName>(name: N, scope: Scope) {
  const query = queryOf({ ...scope })
  return useQuery({
    queryKey: ['reports', name, query],
    queryFn: () => get<Report<N>>(`reports/${name}?${query}`),
    placeholderData: before => before,
  })
}

/** Whether the days are none, such as an end before the beginning: the page says it, once for all its reports. */
export const isRefused = (error: unknown): boolean => error instanceof HttpError && error.status === 400

export const csvOf = (name: ReportName, scope: Scope) =>
  `${API}/reports/${name}?${queryOf({ ...scope, format: 'csv' })}`
