/** The reports as the server computes them. */
import { useQuery } from '@tanstack/react-query'
import { API, get, queryOf } from '../api.ts'
import type { Sum } from '../payouts/payout.ts'

export const spans = [
  { value: '30d', label: '30 days' },
  { value: '12m', label: '12 months' },
  { value: 'all', label: 'All' },
] as const

type Span = (typeof spans)[number]['value']

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
  'earnings-by-month': Earnings & { period: string }
  'conversion-by-month': Conversion & { period: string }
  'best-affiliates': Conversion & {
    affiliate_id: number
    login: string | null
    display_name: string | null
    referrals: number
    earned: Sum
  }
  'best-campaigns': Conversion & { campaign: string; referrals: number; earned: Sum }
}

interface Earnings {
  referrals: number
  earned: Sum
  pending: Sum
  refused: Sum
  written_off: Sum
  paid: Sum
  /** At the end of the period. */
  owed: Sum
}

interface Conversion {
  visits: number
  converted: number
  /** In percent. */
  rate: number
}

export type ReportName = keyof Rows

/** What a report is about: a span, or the days from one to another. */
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
  rows: Rows[N][]
  /** All rows together, and the same of the time just before; only in reports by month. */
  totals?: Omit<Rows[N], 'period'>
  before?: Omit<Rows[N], 'period'> & { from: string; to: string }
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
