/** Earnings, balances and conversion of visits, over time and by affiliate. */
import { useTheme } from '@mui/material'
import { count, useMoney } from '../ui/format.ts'
import { RowLink } from '../ui/table.tsx'
import { PeriodCard } from './PeriodCard.tsx'
import { RankPlot } from './Plot.tsx'
import { type Column, ReportCard } from './ReportCard.tsx'
import { axisLabel, BESIDE_TEN, nameOf, shorten, unique } from './ranks.ts'
import type { Rows, Scope } from './report.ts'

type Earnings = Rows['earnings-by-month']
type Best = Pick<Rows['best-affiliates'], 'referrals' | 'earned' | 'visits' | 'converted' | 'rate'>

const isEmpty = (row: Earnings) =>
  [row.referrals, row.earned, row.pending, row.refused, row.written_off, row.paid, row.owed].every(
    value => Number(value) === 0,
  )

const percent = (value: number) => `${count(value)}%`

function useEarningsColumns(): Column<Earnings>[] {
  const money = useMoney()
  const figure = (label: string, value: (row: Earnings) => number | string): Column<Earnings> => ({
    label,
    cell: row => money.full(value(row)),
    figures: true,
  })
  return [
    { label: 'Referrals', cell: row => count(row.referrals), figures: true },
    figure('Earned', row => row.earned),
    figure('Pending', row => row.pending),
    figure('Rejected', row => row.refused),
    figure('Written off', row => row.written_off),
    figure('Paid', row => row.paid),
    figure('Owed at the end', row => row.owed),
  ]
}

export function EarningsByMonth({ scope }: { scope: Scope }) {
  const { palette } = useTheme()
  const { full, short } = useMoney()
  return (
    <PeriodCard
      title="Earned, paid, rejected"
      name="earnings-by-month"
      scope={scope}
      empty={isEmpty}
      columns={useEarningsColumns()}
      describe="What was earned, paid and rejected over time"
      series={[
        { label: 'Earned', colour: palette.plot.paid, value: row => row.earned },
        { label: 'Paid', colour: palette.plot.inactive, value: row => row.paid },
        { label: 'Rejected', colour: palette.plot.rejected, value: row => row.refused },
      ]}
      full={full}
      short={short}
    />
  )
}

export function OwedByMonth({ scope }: { scope: Scope }) {
  const { palette } = useTheme()
  const { full, short } = useMoney()
  return (
    <PeriodCard
      title="Owed at the end"
      name="earnings-by-month"
      scope={scope}
      empty={isEmpty}
      columns={useEarningsColumns()}
      describe="What was owed at the end of each period"
      series={[{ label: 'Owed', colour: palette.plot.pending, value: row => row.owed }]}
      full={full}
      short={short}
    />
  )
}

const conversionColumns: Column<Rows['conversion-by-month']>[] = [
  { label: 'Visits', cell: row => count(row.visits), figures: true },
  { label: 'Led to a referral', cell: row => count(row.converted), figures: true },
  { label: 'Conversion rate', cell: row => percent(row.rate), figures: true },
]

export function ConversionByMonth({ scope }: { scope: Scope }) {
  const { palette } = useTheme()
  return (
    <PeriodCard
      title="Visits and referrals"
      name="conversion-by-month"
      scope={scope}
      empty={row => row.visits === 0}
      columns={conversionColumns}
      describe="Visits over time, and those that led to a referral"
      series={[
        { label: 'Visits', colour: palette.plot.inactive, value: row => row.visits },
        { label: 'Led to a referral', colour: palette.plot.paid, value: row => row.converted },
      ]}
      full={count}
      short={axisLabel}
      height={BESIDE_TEN}
    />
  )
}

function useBestColumns<R extends Best>(first: Column<R>): Column<R>[] {
  const money = useMoney()
  return [
    first,
    { label: 'Referrals', cell: row => count(row.referrals), figures: true },
    { label: 'Earned', cell: row => money.full(row.earned), figures: true },
    { label: 'Visits', cell: row => count(row.visits), figures: true },
    { label: 'Conversion rate', cell: row => percent(row.rate), figures: true },
  ]
}

function useEarnedPlot() {
  const { palette } = useTheme()
  const money = useMoney()
  return (describe: string, names: string[], rows: readonly Best[]) => (
    <RankPlot
      describe={describe}
      categories={unique(names.map(shorten))}
      series={[{ label: 'Earned', colour: palette.plot.paid, data: rows.map(row => Number(row.earned)) }]}
      full={money.full}
      short={money.short}
    />
  )
}

export function BestAffiliates({ scope }: { scope: Scope }) {
  const plot = useEarnedPlot()
  const columns = useBestColumns<Rows['best-affiliates']>({
    label: 'Affiliate',
    cell: row => <RowLink to={`/affiliates/${row.affiliate_id}/show`}>{nameOf(row)}</RowLink>,
  })
  return (
    <ReportCard
      title="Top affiliates by earnings"
      name="best-affiliates"
      scope={scope}
      columns={columns}
      rowKey={row => row.affiliate_id}
    >
      {rows => plot('The ten affiliates who earned most', rows.map(nameOf), rows)}
    </ReportCard>
  )
}

const campaignOf = (row: Rows['best-campaigns']) => row.campaign || 'No campaign'

export function BestCampaigns({ scope }: { scope: Scope }) {
  const plot = useEarnedPlot()
  const columns = useBestColumns<Rows['best-campaigns']>({ label: 'Campaign', cell: campaignOf })
  return (
    <ReportCard
      title="Top campaigns by earnings"
      name="best-campaigns"
      scope={scope}
      columns={columns}
      rowKey={row => row.campaign}
      wide
    >
      {rows => plot('The ten campaigns that earned most', rows.map(campaignOf), rows)}
    </ReportCard>
  )
}
