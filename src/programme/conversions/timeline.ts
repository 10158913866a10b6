/** Timeline of a payment: visit, sale, refunds, referrals, payouts. Pure. */
import { decimalsOf } from '../../base/currencies.ts'
import { ONE } from '../../base/fraction.ts'
import { amountText, decimalText } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { formatDay, formatTime } from '../../base/time.ts'
import { earnedOf } from '../commission/amounts.ts'
import { parseCalculation } from '../commission/calculation.ts'
import { wordsOf } from '../ledger/because.ts'
import type { Correction } from '../ledger/store.ts'
import type { Referral } from '../referrals/referral.ts'
import { type Conversion, type ConversionKind, isPaid, isReversal } from './conversion.ts'
import type { Story } from './explanation.ts'
import { moments } from './schema.ts'
import { inCurrencyOfSale, saleOf } from './sold.ts'

interface Moment {
  readonly at: number
  readonly kind: (typeof moments)[number]
  readonly id: number
  readonly text: string
  /** The conversion it follows from: decides the order within one second. */
  readonly from: number
  /** Where it stands among the others, if that is not its own date: what takes back follows what was sold. */
  readonly after?: number
}

/** The visits and payouts of a payment. */
export interface Related {
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
  /** What persons, exchange rates and rules have moved. */
  readonly corrections: readonly Correction[]
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

/** What happened to a payment, in order of time. */
export function timelineOf(
  { payment, referrals }: Omit<Story, 'conversion'>,
  { visits, payouts, corrections }: Related,
  settings: Settings,
) {
  const soldAt = saleOf(payment)?.occurred_at ?? 0
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
    ...inCurrencyOfSale(payment).map((conversion): Moment => {
      return {
        at: conversion.occurred_at,
        kind: 'conversion',
        id: conversion.id,
        text: textOf(conversion),
        from: conversion.id,
        ...(isReversal(conversion.kind) && { after: soldAt }),
      }
    }),
    ...referrals.map((referral): Moment => {
      const { created_at: at, id, conversion_id: from } = referral
      return {
        at,
        kind: 'referral',
        id,
        text: textOfReferral(referral, settings),
        from,
        after: referral.type === 'refund' ? soldAt : 0,
      }
    }),
    ...corrections.map((correction): Moment => {
      const { at, referral_id, amount, debit, credit } = correction
      const words = wordsOf(correction)
      const sum = amountText(BigInt(amount), settings)
      return {
        at,
        kind: 'referral',
        id: referral_id,
        text: `${words.charAt(0).toUpperCase()}${words.slice(1)}: ${sum} from ${debit} to ${credit}.`,
        from: Number.MAX_SAFE_INTEGER,
      }
    }),
    ...payouts.map(({ id, status, amount, created_at }): Moment => {
      const sum = amountText(amount, settings)
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
    (a, b) => placeOf(a) - placeOf(b) || a.from - b.from || moments.indexOf(a.kind) - moments.indexOf(b.kind),
  )
  return {
    timeline: inOrder.map(({ at, from: _from, after: _after, ...rest }) => ({
      date: formatTime(at),
      ...rest,
    })),
  }
}

const placeOf = ({ at, after = 0 }: Moment) => Math.max(at, after)

function textOf({ kind, amount, currency, cumulative, affiliate_id }: Conversion): string {
  if (kind === 'attribution') return `${titles.attribution}: to affiliate ${affiliate_id}.`
  if (kind === 'dispute' && cumulative === 1 && amount === 0) return 'Nothing of it is disputed or cancelled.'
  const isFree = amount === 0 && !isPaid(kind)
  const sum = isFree ? '' : ` of ${decimalText(amount, decimalsOf(currency)!)} ${currency}`
  return `${titles[kind]}${sum}${cumulative === 1 ? ' in all' : ''}.`
}

function textOfReferral(referral: Referral, { decimals, currency }: Settings) {
  const { type, amount, status, affiliate_id } = referral
  const sum = (units: number | bigint) => amountText(units, { decimals, currency })
  if (type === 'refund') {
    const verb = amount < 0 ? 'gives back' : 'gets back'
    return `Affiliate ${affiliate_id} ${verb} ${sum(Math.abs(amount))}, ${status}.`
  }
  const first = earnedAtFirst(referral)
  const since = first === BigInt(amount) ? '' : `; ${sum(amount)} of it stands`
  return `Affiliate ${affiliate_id} earns ${sum(first)}${since}, ${status}${exchangeIn(referral)}.`
}

function exchangeIn({ calculation }: Referral): string {
  const applied = parseCalculation(calculation)?.exchange
  if (!applied) return ''
  const { rate, from, to, date } = applied
  return `, at 1 ${from} = ${rate} ${to} (rate of ${formatDay(date)})`
}

/** Before refunds and disputes lowered it. */
function earnedAtFirst({ calculation: text, amount }: Referral): bigint {
  const calculation = parseCalculation(text)
  if (!calculation?.result) return BigInt(amount)
  const whole = earnedOf(calculation, ONE)
  // An amount raised by hand counts in full.
  return whole.reason === '' && whole.amount > amount ? whole.amount : BigInt(amount)
}
