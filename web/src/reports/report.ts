/** The reports as the server computes them. */
import { useQuery } from '@tanstack/react-query'
import { API, get, queryOf } from '../api.ts'
import type { Sum } from '../payouts/payout.ts'

export const spans = [
  { value: '30d', label: '30 days' },
  { value: '12m', label: '12 months' },
  { value: 'all', label: 'All' },
] as const

export type Span = (typeof spans)[number]['value']

export interface Rows {
  'payouts-by-month': { period: string; count: number; sum: Sum; failed_count: number; failed_sum: Sum }
  'affiliates-by-month': {
    period: string
    active: number
    inactive: number
    pending: number
    rejected: number
    total: number
  }
  'top-affiliates': {
    affiliate_id: number
    /** null: the affiliate was deleted */
    login: string | null
    display_name: string | null
    count: number
    sum: Sum
  }
  'payouts-by-method': { payout_method: string; count: number; sum: Sum }
}

export type ReportName = keyof Rows

export interface Report<N extends ReportName> {
  span: Span
  from: string
  to: string
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
