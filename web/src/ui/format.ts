/**
 * Formats figures and times for the browser's locale. Amounts come from the server as exact decimals and are
 * formatted, never computed.
 */
import { useMemo } from 'react'
import { decimalsOf as decimalsOfCurrency } from '../../../src/base/currencies.ts'
import { useSession } from '../session.tsx'
import { figure, isDecimal } from './numbers.ts'

export interface Money {
  /** For example '$1,250.00', with all decimals of the currency. */
  full: (amount: number | string) => string
  /** For example '$1.2K'; for the axes of charts only. */
  short: (amount: number) => string
  /** For example '$'. */
  sign: string
  decimals: number
  currency: string
}

/** Browsers show some currencies with fewer decimals than their amounts have. */
const exactly = (currency: string, decimals: number | undefined) =>
  new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency,
    ...(decimals !== undefined && { minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
  })

/** An amount in any currency, such as that of a sale, with all decimals of the currency. */
export const formatMoney = (amount: number | string, currency: string) =>
  exactly(currency, decimalsOfCurrency(currency)).format(decimal(amount))

export function useMoney(): Money {
  const { currency, decimals } = useSession().settings
  return useMemo(() => {
    const exact = exactly(currency, decimals)
    const compact = new Intl.NumberFormat(undefined, {
      style: 'currency',
      currency,
      notation: 'compact',
      maximumFractionDigits: 1,
    })
    return {
      // Passed as text, a decimal is formatted exactly, whatever its length.
      full: amount => exact.format(decimal(amount)),
      short: amount => compact.format(amount),
      sign: exact.formatToParts(0).find(part => part.type === 'currency')!.value,
      decimals,
      currency,
    }
  }, [currency, decimals])
}

const counts = new Intl.NumberFormat(undefined)
export const count = (value: number) => counts.format(value)

export const plural = (value: number, singular: string, pluralWord = `${singular}s`) =>
  `${count(value)} ${value === 1 ? singular : pluralWord}`

const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

/** @param text 'YYYY-MM-DD HH:MM:SS' or 'YYYY-MM-DD' in UTC, as the server writes it */
const parseDate = (text: string) =>
  new Date(text.length > 10 ? `${text.replace(' ', 'T').replace(/Z$/, '')}Z` : text)

const localDays = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const localTimes = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })

export const day = (text: string) => days.format(parseDate(text))

/** In UTC, as reports and filters count, followed by local time where it differs. */
export function time(text: string): string {
  const at = parseDate(text)
  const utc = times.format(at)
  if (at.getTimezoneOffset() === 0) return `${utc} UTC`
  const otherDay = localDays.format(at) === days.format(at) ? '' : `${localDays.format(at)}, `
  return `${utc} UTC (${otherDay}${localTimes.format(at)} here)`
}

const months = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' })
const monthDays = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** @param period 'YYYY-MM' or 'YYYY-MM-DD' */
export function period(text: string): string {
  return text.length === 7 ? months.format(new Date(`${text}-01`)) : monthDays.format(new Date(text))
}

const SIZES = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

export function size(bytes: number): string {
  const step = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), SIZES.length - 1)
  return `${new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 }).format(bytes / 1024 ** step)} ${SIZES[step]}`
}

export function duration(seconds: number): string {
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'day'],
    [Math.floor(seconds / 3600) % 24, 'hour'],
    [Math.floor(seconds / 60) % 60, 'minute'],
  ]
  const largestParts = parts.filter(([value]) => value > 0).slice(0, 2)
  return largestParts.length === 0
    ? 'less than a minute'
    : largestParts.map(([value, unit]) => plural(value, unit)).join(', ')
}

/** For example '20%'; a flat rate is an amount. */
export function rateText({ rate, rate_type }: { rate: string; rate_type: string }, money: Money): string {
  if (rate_type === 'percentage') return `${figure(rate)}%`
  if (rate_type === 'flat' || rate_type === 'per_item') {
    const amount = decimalsOf(rate) <= money.decimals ? money.full(rate) : `${money.currency} ${figure(rate)}`
    return rate_type === 'flat' ? amount : `${amount} per item`
  }
  return `${figure(rate)} ${rate_type}`
}

const decimalsOf = (text: string) => text.split('.')[1]?.length ?? 0

function decimal(amount: number | string): number | `${number}` {
  const text = String(amount)
  return isDecimal(text) ? text : Number(amount)
}
