/** What an affiliate earns, as far as it can be said without a sale: where rules depend on the sale, each of their rates. */
import { useGetList } from 'react-admin'
import type { Rule } from '../rules/rule.ts'
import { useCan, useSession } from '../session.tsx'
import { type Money, rateText, useMoney } from '../ui/format.ts'
import type { Affiliate } from './affiliate.tsx'

export interface RateOfAffiliate {
  /** '15% or 12%' */
  readonly text: string
  /** What says so, when it is not the affiliate's own rate. */
  readonly source: '' | 'default' | 'by rules'
}

/** More texts than these say less. */
const MOST_RATES = 3

/** @returns for any affiliate, by the rules as they are tried */
export function useRates(): (affiliate: Affiliate) => RateOfAffiliate {
  const money = useMoney()
  const { settings } = useSession()
  const { data: rules = [] } = useGetList<Rule>(
    'rules',
    {
      filter: { status: 'current' },
      sort: { field: 'tried', order: 'ASC' },
      pagination: { page: 1, perPage: 1000 },
    },
    { enabled: useCan()('rules.read') },
  )
  return affiliate => {
    const { rate, rate_type, effective } = affiliate
    if (rate !== '') return { text: rateText(effective, money), source: '' }
    if (rate_type !== '' && !isBuiltIn(rate_type)) return { text: rate_type, source: 'by rules' }
    const own = rules.filter(rule => isFor(rule, affiliate))
    const last = own.findIndex(isUnconditional)
    const tried = last < 0 ? own : own.slice(0, last + 1)
    if (tried.length === 0) return { text: rateText(effective, money), source: 'default' }
    const fallback = { rate: String(settings.default_rate), rate_type: effective.rate_type }
    return { text: textOf(last < 0 ? [...tried, fallback] : tried, money), source: 'by rules' }
  }
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
