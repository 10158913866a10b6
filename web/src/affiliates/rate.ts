/** The rate of an affiliate, as far as it is known without a sale: where rules depend on the sale, the rate of each. */
import { useCallback } from 'react'
import { useGetList } from 'react-admin'
import type { Rule } from '../rules/rule.ts'
import { useCan, useSession } from '../session.tsx'
import { type Money, rateText, useMoney } from '../ui/format.ts'
import type { Affiliate } from './affiliate.tsx'

export interface RateOfAffiliate {
  /** For example '15% or 12%'. */
  readonly text: string
  /** Where the rate comes from, unless it is the affiliate's own. */
  readonly source: '' | 'default' | 'by rules'
}

/** More rates than this are summarised as "or another rate". */
const MOST_RATES = 3

const none: Rule[] = []

/** @returns the rate of any affiliate, from the rules in the order in which they are tried */
export function useRates(): (affiliate: Affiliate) => RateOfAffiliate {
  const money = useMoney()
  const { settings } = useSession()
  const { data: rules = none } = useGetList<Rule>(
    'rules',
    {
      filter: { status: 'current' },
      sort: { field: 'tried', order: 'ASC' },
      pagination: { page: 1, perPage: 1000 },
    },
    { enabled: useCan()('rules.read') },
  )
  const { default_rate } = settings
  return useCallback(
    affiliate => {
      const { rate, rate_type, effective } = affiliate
      if (rate !== '') return { text: rateText(effective, money), source: '' }
      if (rate_type !== '' && !isBuiltIn(rate_type)) return { text: rate_type, source: 'by rules' }
      const own = rules.filter(rule => isFor(rule, affiliate))
      const last = own.findIndex(isUnconditional)
      const tried = last < 0 ? own : own.slice(0, last + 1)
      if (tried.length === 0) return { text: rateText(effective, money), source: 'default' }
      const fallback = { rate: String(default_rate), rate_type: effective.rate_type }
      return { text: textOf(last < 0 ? [...tried, fallback] : tried, money), source: 'by rules' }
    },
    [money, default_rate, rules],
  )
}

export const isBuiltIn = (type: string) => type === 'percentage' || type === 'flat'

function isFor({ affiliate_id, group_id }: Rule, { id, group }: Affiliate): boolean {
  if (affiliate_id) return affiliate_id === id
  return !group_id || group_id === group.group_id
}

const isUnconditional = ({ conditions, kinds, from, until }: Rule) =>
  conditions.length === 0 && kinds.length === 0 && !from && !until

function textOf(rates: readonly { rate: string; rate_type: string }[], money: Money): string {
  const texts = [...new Set(rates.map(rate => rateText(rate, money)))]
  if (texts.length > MOST_RATES) return `${texts.slice(0, MOST_RATES).join(', ')} or another rate`
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`
}
