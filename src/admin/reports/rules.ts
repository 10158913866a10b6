/**
 * The reports: earnings, balances and payouts, by recipient and method, visits and their conversion, and new affiliates.
 * Days and months are in UTC.
 */
import type { Context } from '../../events/write.ts'
import type { Db } from '../../storage/database.ts'
import { unitsOfSum } from '../../storage/sums.ts'
import * as earning from './earning-store.ts'
import type { Period } from './periods.ts'
import { type ByPeriod, type ReportArguments, reportByPeriod, reportOfTop } from './report.ts'
import type { Report, ReportRow, Row } from './schema.ts'
import * as store from './store.ts'

const TOP = 10

const payouts: ByPeriod<Omit<ReportRow<'payouts-by-month'>, 'period'>> = {
  timesOf: store.timesOfPayouts,
  rows: async (db, periods, affiliateId) =>
    (await store.payoutsByPeriod(db, periods, affiliateId)).map(total => ({
      count: total.paid_count,
      sum: unitsOfSum(total.paid_sum),
      failed_count: total.failed_count,
      failed_sum: unitsOfSum(total.failed_sum),
    })),
}

/** Paid and failed payouts, by day or month. */
export async function payoutsByMonth(context: Context, args: ReportArguments): Promise<Report> {
  return reportByPeriod(context, args, payouts)
}

const affiliates: ByPeriod<Omit<ReportRow<'affiliates-by-month'>, 'period'>> = {
  timesOf: store.timesOfAffiliates,
  rows: async (db, periods) =>
    (await store.affiliatesByPeriod(db, periods)).map(({ active, inactive, pending, rejected }) => ({
      active,
      inactive,
      pending,
      rejected,
      total: active + inactive + pending + rejected,
    })),
}

/** New affiliates by day or month, by their current status. */
export async function affiliatesByMonth(context: Context, args: ReportArguments): Promise<Report> {
  return reportByPeriod(context, args, affiliates)
}

/** Affiliates by the sum of their paid payouts. */
export async function topAffiliates(context: Context, args: ReportArguments): Promise<Report> {
  return reportOfTop<ReportRow<'top-affiliates'>>(context, args, store.timesOfPayouts, async (db, range) => {
    const top = await store.topAffiliates(db, range, TOP)
    return top.map(({ affiliate_id, login, display_name, paid_count, paid_sum }) => ({
      affiliate_id,
      login,
      display_name,
      count: paid_count,
      sum: unitsOfSum(paid_sum),
    }))
  })
}

/** Payouts by method. */
export async function payoutsByMethod(context: Context, args: ReportArguments): Promise<Report> {
  return reportOfTop<ReportRow<'payouts-by-method'>>(
    context,
    args,
    store.timesOfPayouts,
    async (db, range) => {
      const methods = await store.payoutsByMethod(db, range)
      return methods.map(({ payout_method, paid_count, paid_sum }) => ({
        payout_method,
        count: paid_count,
        sum: unitsOfSum(paid_sum),
      }))
    },
  )
}

const earnings: ByPeriod<Omit<ReportRow<'earnings-by-month'>, 'period'>> = {
  timesOf: earning.timesOfEarning,
  standing: ['owed'],
  rows: async (db, periods, affiliateId) => {
    const earningRows = await earning.earningsByPeriod(db, periods, affiliateId)
    const payoutRows = await store.payoutsByPeriod(db, periods, affiliateId)
    const owedAmounts = await owedAtEnds(db, periods, affiliateId)
    return earningRows.map((row, number) => ({
      referrals: row.referrals,
      earned: unitsOfSum(row.earned),
      pending: unitsOfSum(row.pending),
      refused: unitsOfSum(row.refused),
      // As the ledger has it: what affiliates lost by it.
      written_off: -unitsOfSum(row.written_off),
      paid: unitsOfSum(payoutRows[number]!.paid_sum),
      owed: owedAmounts[number]!,
    }))
  },
}

/** Earned, rejected and paid amounts by day or month, and the balance owed at its end. */
export async function earningsByMonth(context: Context, args: ReportArguments): Promise<Report> {
  return reportByPeriod(context, args, earnings)
}

/** Computed backwards from the current balance, since most reports end today. */
async function owedAtEnds(db: Db, periods: readonly Period[], affiliateId?: number): Promise<bigint[]> {
  const { end } = periods.at(-1)!
  const later = { name: '', first: end, end: Number.MAX_SAFE_INTEGER }
  const changes = await earning.owedByPeriod(db, [...periods, later], affiliateId)
  let owed = await earning.owedNow(db, affiliateId)
  const ends: bigint[] = []
  for (let number = periods.length - 1; number >= 0; number -= 1) {
    owed -= unitsOfSum(changes[number + 1]!.owed)
    ends.unshift(owed)
  }
  return ends
}

const withRate = <R extends Row>(row: R) => ({
  ...row,
  rate: rateOf(Number(row.converted), Number(row.visits)),
})

/** Percentage, with two decimals. */
function rateOf(converted: number, visits: number): number {
  return visits === 0 ? 0 : Math.round((10_000 * converted) / visits) / 100
}

const conversion: ByPeriod<Omit<ReportRow<'conversion-by-month'>, 'period' | 'rate'>> = {
  timesOf: earning.timesOfVisits,
  rows: async (db, periods, affiliateId) =>
    (await earning.visitsByPeriod(db, periods, affiliateId)).map(({ visits, converted }) => ({
      visits,
      converted,
    })),
  derived: withRate,
}

/** Visits by day or month, and how many of them led to a referral. */
export async function conversionByMonth(context: Context, args: ReportArguments): Promise<Report> {
  return reportByPeriod(context, args, conversion)
}

/** Affiliates by earnings, with their visits. */
export async function bestAffiliates(context: Context, args: ReportArguments): Promise<Report> {
  return reportOfTop<ReportRow<'best-affiliates'>>(
    context,
    args,
    earning.timesOfEarning,
    async (db, range) => {
      const best = await earning.bestAffiliates(db, range, TOP)
      const ids = best.map(row => row.affiliate_id)
      const visits = await earning.visitsOf(db, range, 'affiliate_id', ids)
      return best.map(({ affiliate_id, login, display_name, referrals, earned }) =>
        withRate({
          affiliate_id,
          login,
          display_name,
          referrals,
          earned: unitsOfSum(earned),
          ...countsOf(visits, affiliate_id),
        }),
      )
    },
  )
}

/** Campaigns by earnings, with their visits; referrals without a campaign are left out. */
export async function bestCampaigns(context: Context, args: ReportArguments): Promise<Report> {
  return reportOfTop<ReportRow<'best-campaigns'>>(
    context,
    args,
    earning.timesOfEarning,
    async (db, range) => {
      const best = await earning.bestCampaigns(db, range, TOP)
      const names = best.map(row => row.campaign)
      const visits = await earning.visitsOf(db, range, 'campaign', names)
      return best.map(({ campaign, referrals, earned }) =>
        withRate({ campaign, referrals, earned: unitsOfSum(earned), ...countsOf(visits, campaign) }),
      )
    },
  )
}

function countsOf(visitsByKey: ReadonlyMap<unknown, earning.Visits>, key: number | string) {
  const { visits, converted } = visitsByKey.get(key) ?? { visits: 0, converted: 0 }
  return { visits, converted }
}
