/** Timeline of a payment: visit, sale, refunds, referrals, payouts. Pure. */
import { decimalsOf } from '../../base/currencies.ts'
import { ONE } from '../../base/fraction.ts'
import { decimalText } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { formatTime } from '../../base/time.ts'
import { earnedOf, parseCalculation } from '../commission/calculation.ts'
import type { Referral } from '../referrals/referral.ts'
import { type Conversion, type ConversionKind, isPaid } from './conversion.ts'
import type { Story } from './explanation.ts'
import { moments } from './schema.ts'

interface Moment {
  readonly at: number
  readonly kind: (typeof moments)[number]
  readonly id: number
  readonly text: string
  /** The conversion it follows from: decides the order within one second. */
  readonly from: number
}

/** The visits and payouts of a payment. */
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
      return {
        at: created_at,
        kind: 'visit',
        id,
        text: `Visit through a link of affiliate ${affiliate_id}.`,
        from: 0,
      }
    }),
    ...payment.map((conversion): Moment => {
      return {
        at: conversion.occurred_at,
        kind: 'conversion',
        id: conversion.id,
        text: textOf(conversion),
        from: conversion.id,
      }
    }),
    ...referrals.map((referral): Moment => {
      const { created_at: at, id, conversion_id: from } = referral
      return { at, kind: 'referral', id, text: textOfReferral(referral, settings), from }
    }),
    ...payouts.map(({ id, status, amount, created_at }): Moment => {
      const sum = `${decimalText(amount, settings.decimals)} ${settings.currency}`
      return {
        at: created_at,
        kind: 'payout',
        id,
        text: `Payout of ${sum}, ${status}.`,
        from: Number.MAX_SAFE_INTEGER,
      }
    }),
  ]
  const inOrder = all.toSorted(
    (a, b) => a.at - b.at || a.from - b.from || moments.indexOf(a.kind) - moments.indexOf(b.kind),
  )
  return { timeline: inOrder.map(({ at, from: _from, ...rest }) => ({ date: formatTime(at), ...rest })) }
}

function textOf({ kind, amount, currency, cumulative, affiliate_id }: Conversion): string {
  if (kind === 'attribution') return `${titles.attribution}: to affiliate ${affiliate_id}.`
  if (kind === 'dispute' && cumulative === 1 && amount === 0)
    return 'Nothing of it is disputed or cancelled any more.'
  const isFree = amount === 0 && !isPaid(kind)
  const sum = isFree ? '' : ` of ${decimalText(amount, decimalsOf(currency)!)} ${currency}`
  return `${titles[kind]}${sum}${cumulative === 1 ? ' in all' : ''}.`
}

function textOfReferral(referral: Referral, { decimals, currency }: Settings) {
  const { type, amount, status, affiliate_id } = referral
  const sum = (units: number | bigint) => `${decimalText(units, decimals)} ${currency}`
  if (type === 'refund') {
    const verb = amount < 0 ? 'gives back' : 'gets back'
    return `Affiliate ${affiliate_id} ${verb} ${sum(Math.abs(amount))}, ${status}.`
  }
  const first = earnedAtFirst(referral)
  const since = first === BigInt(amount) ? '' : `; ${sum(amount)} of it stands`
  return `Affiliate ${affiliate_id} earns ${sum(first)}${since}, ${status}.`
}

/** Before refunds and disputes lowered it. */
function earnedAtFirst({ calculation: text, amount }: Referral): bigint {
  const calculation = parseCalculation(text)
  if (!calculation?.result) return BigInt(amount)
  const whole = earnedOf(calculation, ONE)
  // An amount raised by hand counts in full.
  return whole.reason === '' && whole.amount > amount ? whole.amount : BigInt(amount)
}
