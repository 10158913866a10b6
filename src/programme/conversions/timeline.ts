/** The story of a payment in the order in which it happened: visit, sale, refunds, referrals, payouts. Pure. */
import { decimalsOf } from '../../base/currencies.ts'
import { decimalText } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { formatTime } from '../../base/time.ts'
import type { Referral } from '../referrals/referral.ts'
import { type Conversion, type ConversionKind, isPaid } from './conversion.ts'
import type { Story } from './explanation.ts'
import { moments } from './schema.ts'

interface Moment {
  readonly at: number
  readonly kind: (typeof moments)[number]
  readonly id: number
  readonly text: string
}

/** What stands beside a payment. */
export interface Beside {
  readonly visits: readonly {
    readonly id: number
    readonly affiliate_id: number
    readonly created_at: number
  }[]
  readonly payouts: readonly {
    readonly id: number
    readonly status: string
    readonly amount: number
    readonly created_at: number
  }[]
}

const titles: Readonly<Record<ConversionKind, string>> = {
  lead: 'Lead',
  sale: 'Sale',
  renewal: 'Renewal',
  refund: 'Refund',
  dispute: 'Dispute',
  dispute_won: 'Dispute won',
  attribution: 'Credited later',
}

export function timelineOf(
  { payment, referrals }: Omit<Story, 'conversion'>,
  { visits, payouts }: Beside,
  settings: Settings,
) {
  const all: Moment[] = [
    ...visits.map(({ id, affiliate_id, created_at }): Moment => {
      return { at: created_at, kind: 'visit', id, text: `Visit through a link of affiliate ${affiliate_id}.` }
    }),
    ...payment.map((one): Moment => {
      return { at: one.occurred_at, kind: 'conversion', id: one.id, text: textOf(one) }
    }),
    ...referrals.map((one): Moment => {
      return { at: one.created_at, kind: 'referral', id: one.id, text: textOfReferral(one, settings) }
    }),
    ...payouts.map(({ id, status, amount, created_at }): Moment => {
      const sum = `${decimalText(amount, settings.decimals)} ${settings.currency}`
      return { at: created_at, kind: 'payout', id, text: `Payout of ${sum}, ${status}.` }
    }),
  ]
  const inOrder = all.toSorted((a, b) => a.at - b.at || moments.indexOf(a.kind) - moments.indexOf(b.kind))
  return { timeline: inOrder.map(({ at, ...rest }) => ({ date: formatTime(at), ...rest })) }
}

function textOf({ kind, amount, currency, cumulative, affiliate_id }: Conversion): string {
  if (kind === 'attribution') return `${titles.attribution}: to affiliate ${affiliate_id}.`
  const isFree = amount === 0 && !isPaid(kind)
  const sum = isFree ? '' : ` of ${decimalText(amount, decimalsOf(currency)!)} ${currency}`
  return `${titles[kind]}${sum}${cumulative === 1 ? ' in all' : ''}.`
}

function textOfReferral({ type, amount, status, affiliate_id }: Referral, { decimals, currency }: Settings) {
  const sum = `${decimalText(amount, decimals)} ${currency}`
  return type === 'refund'
    ? `Affiliate ${affiliate_id} gives back or gets ${sum}, ${status}.`
    : `Affiliate ${affiliate_id} earns ${sum}, ${status}.`
}
