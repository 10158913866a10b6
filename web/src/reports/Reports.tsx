import { Box, useTheme } from '@mui/material'
import { useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router-dom'
import type { Sum } from '../payouts/payout.ts'
import { DayField } from '../ui/DayField.tsx'
import { count, useMoney } from '../ui/format.ts'
import { Page, Problem } from '../ui/Page.tsx'
import { RowLink } from '../ui/table.tsx'
import { capital } from '../ui/words.ts'
import {
  BestAffiliates,
  BestCampaigns,
  ConversionByMonth,
  EarningsByMonth,
  OwedByMonth,
} from './Earnings.tsx'
import { PeriodCard } from './PeriodCard.tsx'
import { RankPlot } from './Plot.tsx'
import { type Column, ReportCard } from './ReportCard.tsx'
import { axisLabel, BESIDE_TEN, MOST_METHODS, methodOf, nameOf, shorten, unique } from './ranks.ts'
import { isRefused, type Rows, type Scope, spans, useReport } from './report.ts'
import { Summary } from './Summary.tsx'
import { Toggle } from './Toggle.tsx'

export function Reports() {
  const [parameters, setParameters] = useSearchParams()
  const scope = scopeOf(parameters)
  const setScope = (scope: Scope, replace: boolean) =>
    setParameters(Object.fromEntries(Object.entries(scope).map(([name, value]) => [name, String(value)])), {
      replace,
    })
  return (
    <Page title="Reports" actions={<Days scope={scope} onChange={setScope} />}>
      <OfScope scope={scope} />
    </Page>
  )
}

function OfScope({ scope }: { scope: Scope }) {
  const { error } = useReport('earnings-by-month', scope)
  if (isRefused(error)) return <Problem error={error} />
  return (
    <>
      <Summary scope={scope} />
      <Box
        sx={{
          display: 'grid',
          gap: 2,
          gridTemplateColumns: { xs: 'minmax(0, 1fr)', lg: 'repeat(2, minmax(0, 1fr))' },
          alignItems: 'start',
        }}
      >
        <EarningsByMonth scope={scope} />
        <OwedByMonth scope={scope} />
        <ConversionByMonth scope={scope} />
        <BestAffiliates scope={scope} />
        <BestCampaigns scope={scope} />
        <PaidByMonth scope={scope} />
        <FailedAgainstPaid scope={scope} />
        <AffiliatesByMonth scope={scope} />
        <TopAffiliates scope={scope} />
        <ByMethod scope={scope} />
      </Box>
    </>
  )
}

/** The scope is in the query string, so that a report can be shared by its URL. */
function scopeOf(parameters: URLSearchParams): Scope {
  const [from, to] = [parameters.get('from'), parameters.get('to')]
  if (from || to) return { ...(from && { from }), ...(to && { to }) }
  return { span: spans.find(({ value }) => value === parameters.get('span'))?.value ?? '12m' }
}

/** Selects a span, or a range of days. */
function Days({
  scope,
  onChange,
}: {
  scope: Scope
  /** @param replaces whether the way back leads to what was before the scope that this one replaces */
  onChange: (scope: Scope, replaces: boolean) => void
}) {
  const { span, from = '', to = '' } = scope
  // The URL is updated later than the fields: without this, the second day would overwrite the first.
  const typed = useRef({ from, to })
  useEffect(() => {
    typed.current = { from, to }
  }, [from, to])
  const filledDays = () => Object.entries(typed.current).filter(([, value]) => value !== '')
  const change = (day: { from?: string; to?: string }) => {
    // The two days of a range, and what is typed of each, are one step.
    const isSameStep = filledDays().length > 0
    typed.current = { ...typed.current, ...day }
    const days = filledDays()
    onChange(days.length > 0 ? Object.fromEntries(days) : { span: '12m' }, isSameStep)
  }
  return (
    <>
      <Toggle
        label="Span"
        value={span ?? ''}
        choices={spans}
        onChange={value => value && onChange({ span: value }, false)}
      />
      <DayField label="From" value={from} onChange={day => change({ from: day })} />
      <DayField label="To" value={to} onChange={day => change({ to: day })} />
    </>
  )
}

type Measure = 'sum' | 'count'

const measures = [
  { value: 'sum', label: 'Amount' },
  { value: 'count', label: 'Count' },
] as const

function useMeasure(title: string) {
  const [measure, setMeasure] = useState<Measure>('sum')
  const money = useMoney()
  return {
    measure,
    full: measure === 'sum' ? money.full : count,
    short: measure === 'sum' ? money.short : count,
    choice: <Toggle label={`Measure of ${title}`} value={measure} choices={measures} onChange={setMeasure} />,
  }
}

const columnsOfPayouts = (full: (amount: Sum) => string): Column<Rows['payouts-by-month']>[] => [
  { label: 'Paid', cell: row => full(row.sum), figures: true },
  { label: 'Payouts paid', cell: row => count(row.count), figures: true },
  { label: 'Failed', cell: row => full(row.failed_sum), figures: true },
  { label: 'Payouts failed', cell: row => count(row.failed_count), figures: true },
]

function PaidByMonth({ scope }: { scope: Scope }) {
  const title = 'Payouts paid'
  const { palette } = useTheme()
  const money = useMoney()
  const { measure, ...how } = useMeasure(title)
  return (
    <PeriodCard
      title={title}
      name="payouts-by-month"
      scope={scope}
      empty={row => row.count + row.failed_count === 0}
      columns={columnsOfPayouts(money.full).slice(0, 2)}
      describe="Payouts paid over time"
      series={[{ label: 'Paid', colour: palette.plot.paid, value: row => row[measure] }]}
      {...how}
    />
  )
}

function FailedAgainstPaid({ scope }: { scope: Scope }) {
  const title = 'Failed against paid'
  const { palette } = useTheme()
  const money = useMoney()
  const { measure, ...how } = useMeasure(title)
  return (
    <PeriodCard
      title={title}
      name="payouts-by-month"
      scope={scope}
      empty={row => row.count + row.failed_count === 0}
      columns={columnsOfPayouts(money.full)}
      describe="Payouts that failed beside those that were paid, over time"
      series={[
        { label: 'Paid', colour: palette.plot.paid, value: row => row[measure] },
        { label: 'Failed', colour: palette.plot.failed, value: row => row[`failed_${measure}`] },
      ]}
      {...how}
    />
  )
}

function AffiliatesByMonth({ scope }: { scope: Scope }) {
  const { palette } = useTheme()
  return (
    <PeriodCard
      title="Affiliates registered"
      name="affiliates-by-month"
      scope={scope}
      empty={row => row.total === 0}
      columns={[
        ...statusesFromBelow.map(status => ({
          label: capital(status),
          cell: (row: Rows['affiliates-by-month']) => count(row[status]),
          figures: true,
        })),
        { label: 'Total', cell: row => count(row.total), figures: true },
      ]}
      describe="Affiliates registered over time, by current status"
      series={statusesFromBelow.map(status => ({
        label: capital(status),
        colour: palette.plot[status],
        value: (row: Rows['affiliates-by-month']) => row[status],
      }))}
      full={count}
      short={axisLabel}
      height={BESIDE_TEN}
      stacked
    />
  )
}

const statusesFromBelow = ['active', 'pending', 'inactive', 'rejected'] as const

function TopAffiliates({ scope }: { scope: Scope }) {
  const { palette } = useTheme()
  const money = useMoney()
  return (
    <ReportCard
      title="Top affiliates by payouts"
      name="top-affiliates"
      scope={scope}
      columns={[
        {
          label: 'Affiliate',
          cell: row => <RowLink to={`/affiliates/${row.affiliate_id}/show`}>{nameOf(row)}</RowLink>,
        },
        { label: 'Payouts', cell: row => count(row.count), figures: true },
        { label: 'Paid', cell: row => money.full(row.sum), figures: true },
      ]}
      rowKey={row => row.affiliate_id}
    >
      {rows => (
        <RankPlot
          describe="The ten affiliates that were paid most"
          categories={unique(rows.map(row => shorten(nameOf(row))))}
          series={[{ label: 'Paid', colour: palette.plot.paid, data: rows.map(row => Number(row.sum)) }]}
          full={money.full}
          short={money.short}
        />
      )}
    </ReportCard>
  )
}

function ByMethod({ scope }: { scope: Scope }) {
  const title = 'Payouts by method'
  const { palette } = useTheme()
  const money = useMoney()
  const { measure, full, short, choice } = useMeasure(title)
  return (
    <ReportCard
      title={title}
      name="payouts-by-method"
      scope={scope}
      columns={[
        { label: 'Method', cell: row => methodOf(row) },
        { label: 'Payouts', cell: row => count(row.count), figures: true },
        { label: 'Paid', cell: row => money.full(row.sum), figures: true },
      ]}
      choice={choice}
      rowKey={row => row.payout_method}
      wide
    >
      {rows => {
        const topRows = rows
          .toSorted((a, b) => Number(b[measure]) - Number(a[measure]))
          .slice(0, MOST_METHODS)
        return (
          <RankPlot
            describe="Payouts paid by method"
            categories={unique(topRows.map(row => shorten(methodOf(row))))}
            series={[
              { label: 'Paid', colour: palette.plot.paid, data: topRows.map(row => Number(row[measure])) },
            ]}
            full={full}
            short={short}
          />
        )
      }}
    </ReportCard>
  )
}
