/** The reports: what was paid, to whom and how, and who registered. Days and months are those of UTC. */

import { formatTime, now } from '../../base/time.ts'
import type { Context } from '../../events/write.ts'
import { unitsOfSum } from '../../storage/sums.ts'
import { type Period, periodsOf } from './periods.ts'
import type { Report, Row, Span } from './schema.ts'
import * as store from './store.ts'

const TOP = 10

export interface Wanted {
  span?: Span
  affiliate_id?: number
}

/** What was paid and what failed, by day or month. */
export async function payoutsByMonth(
  context: Context,
  { span = '12m', affiliate_id }: Wanted,
): Promise<Report> {
  const { replica } = context.database
  const periods = periodsOf(span, now(), await store.timesOfPayouts(replica, affiliate_id))
  const totals = await store.payoutsByPeriod(replica, periods, affiliate_id)
  const rows = totals.map((total, number) => ({
    period: periods[number]!.name,
    count: total.paid_count,
    sum: unitsOfSum(total.paid_sum),
    failed_count: total.failed_count,
    failed_sum: unitsOfSum(total.failed_sum),
  }))
  return report(context, span, periods, rows)
}

/** How many were registered, by day or month and by the status that they have now. */
export async function affiliatesByMonth(context: Context, { span = '12m' }: Wanted): Promise<Report> {
  const { replica } = context.database
  const periods = periodsOf(span, now(), await store.timesOfAffiliates(replica))
  const counts = await store.affiliatesByPeriod(replica, periods)
  const rows = counts.map(({ active, inactive, pending, rejected }, number) => ({
    period: periods[number]!.name,
    active,
    inactive,
    pending,
    rejected,
    total: active + inactive + pending + rejected,
  }))
  return report(context, span, periods, rows)
}

/** The affiliates that were paid most. */
export async function topAffiliates(context: Context, { span = '12m' }: Wanted): Promise<Report> {
  const { replica } = context.database
  const periods = periodsOf(span, now(), await store.timesOfPayouts(replica))
  const top = await store.topAffiliates(replica, rangeOf(span, periods), TOP)
  const rows = top.map(({ affiliate_id, login, display_name, paid_count, paid_sum }) => ({
    affiliate_id,
    login,
    display_name,
    count: paid_count,
    sum: unitsOfSum(paid_sum),
  }))
  return report(context, span, periods, rows)
}

/** What was paid by each method. */
export async function payoutsByMethod(context: Context, { span = '12m' }: Wanted): Promise<Report> {
  const { replica } = context.database
  const periods = periodsOf(span, now(), await store.timesOfPayouts(replica))
  const methods = await store.payoutsByMethod(replica, rangeOf(span, periods))
  const rows = methods.map(({ payout_method, paid_count, paid_sum }) => ({
    payout_method,
    count: paid_count,
    sum: unitsOfSum(paid_sum),
  }))
  return report(context, span, periods, rows)
}

function rangeOf(span: Span, periods: readonly Period[]): store.Range {
  return span === 'all' ? undefined : { first: periods[0]!.first, end: periods.at(-1)!.end }
}

async function report(
  { settings }: Context,
  span: Span,
  periods: readonly Period[],
  rows: Row[],
): Promise<Report> {
  const { currency, decimals } = await settings.current()
  const from = formatTime(periods[0]!.first).slice(0, 10)
  const to = formatTime(periods.at(-1)!.end - 1).slice(0, 10)
  return { span, from, to, currency, decimals, rows }
}
