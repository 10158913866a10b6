/** The reports as the server computes them. */
import { useQuery } from '@tanstack/react-query'
import { API, get, queryOf } from '../api.ts'

export const spans = [
  { value: '30d', label: '30 days' },
  { value: '12m', label: '12 months' },
  { value: 'all', label: 'All' },
] as const

export type Span = (typeof spans)[number]['value']

export interface Rows {
  'payouts-by-month': { period: string; count: number; sum: number; failed_count: number; failed_sum: number }
  'affiliates-by-month': {
    period: string
    active: number
    inactive: number
    pending: number
    rejected: number
    total: number
  }
  'top-affiliates': { affiliate_id: number; login: string; display_name: string; count: number; sum: number }
  'payouts-by-method': { payout_method: string; count: number; sum: number }
}

export type ReportName = keyof Rows

export interface Report<N extends ReportName> {
  span: Span
  from: string | null
  to: string | null
  currency: string
  rows: Rows[N][]
}

interface Scope {
  span: Span
  affiliate_id?: number
}

export function useReport<N extends ReportName>(name: N, scope: Scope) {
  const query = queryOf({ ...scope })
  return useQuery({
    queryKey: ['reports', name, query],
    queryFn: () => get<Report<N>>(`reports/${name}?${query}`),
    placeholderData: before => before,
  })
}

export const csvOf = (name: ReportName, scope: Scope) =>
  `${API}/reports/${name}?${queryOf({ ...scope, format: 'csv' })}`

const LONGEST = 400

/** Periods in which nothing happened are part of the picture: they are put between the others, with zeros. */
export function filled<R extends { period: string }>(rows: R[], zero: Omit<R, 'period'>): R[] {
  const last = rows.at(-1)?.period
  if (!last) return rows
  const byPeriod = new Map(rows.map(row => [row.period, row]))
  const periods: string[] = []
  for (let next = rows[0]!.period; next <= last && periods.length < LONGEST; next = following(next))
    periods.push(next)
  return periods.map(period => byPeriod.get(period) ?? ({ ...zero, period } as R))
}

function following(period: string): string {
  const date = new Date(`${period.length === 7 ? `${period}-01` : period}T00:00:00Z`)
  if (period.length === 7) date.setUTCMonth(date.getUTCMonth() + 1)
  else date.setUTCDate(date.getUTCDate() + 1)
  return date.toISOString().slice(0, period.length)
}

export const noPayouts = { count: 0, sum: 0, failed_count: 0, failed_sum: 0 }
export const noAffiliates = { active: 0, inactive: 0, pending: 0, rejected: 0, total: 0 }
