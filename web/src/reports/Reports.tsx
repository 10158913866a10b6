import { Box, ToggleButton, ToggleButtonGroup, useTheme } from '@mui/material'
import { useState } from 'react'
import { useSearchParams } from 'react-router-dom'
import { statuses } from '../affiliates/affiliate.tsx'
import { capital } from '../names.ts'
import type { Sum } from '../payouts/payout.ts'
import { count, period, useMoney } from '../ui/format.ts'
import { Page } from '../ui/Page.tsx'
import { RowLink } from '../ui/table.tsx'
import { RankPlot, TimePlot } from './Plot.tsx'
import { type Column, ReportCard } from './ReportCard.tsx'
import { type Rows, type Span, spans } from './report.ts'

export function Reports() {
  const [parameters, setParameters] = useSearchParams()
  const span = spans.find(({ value }) => value === parameters.get('span'))?.value ?? '12m'
  return (
    <Page
      title="Reports"
      actions={
        <Toggle
          label="Span"
          value={span}
          choices={spans}
          onChange={value => setParameters({ span: value }, { replace: true })}
        />
      }
    >
      <Box
        sx={{
          display: 'grid',
          gap: 2,
          gridTemplateColumns: { xs: 'minmax(0, 1fr)', lg: 'repeat(2, minmax(0, 1fr))' },
          alignItems: 'start',
        }}
      >
        <PaidByMonth span={span} />
        <FailedAgainstPaid span={span} />
        <AffiliatesByMonth span={span} />
        <TopAffiliates span={span} />
        <ByMethod span={span} />
      </Box>
    </Page>
  )
}

type Measure = 'sum' | 'count'

const measures = [
  { value: 'sum', label: 'Amount' },
  { value: 'count', label: 'Count' },
] as const

function Toggle<V extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string
  value: V
  choices: readonly { value: V; label: string }[]
  onChange: (value: V) => void
}) {
  return (
    <ToggleButtonGroup
      exclusive
      size="small"
      value={value}
      aria-label={label}
      onChange={(_, chosen: V | null) => chosen && onChange(chosen)}
    >
      {choices.map(choice => (
        <ToggleButton
          key={choice.value}
          value={choice.value}
          sx={{ textTransform: 'none', px: 1.5, py: 0.5 }}
        >
          {choice.label}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  )
}

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
  { label: 'Period', cell: row => period(row.period) },
  { label: 'Paid', cell: row => full(row.sum), figures: true },
  { label: 'Payouts paid', cell: row => count(row.count), figures: true },
  { label: 'Failed', cell: row => full(row.failed_sum), figures: true },
  { label: 'Payouts failed', cell: row => count(row.failed_count), figures: true },
]

function PaidByMonth({ span }: { span: Span }) {
  const title = 'Payouts paid'
  const { palette } = useTheme()
  const money = useMoney()
  const { measure, full, short, choice } = useMeasure(title)
  return (
    <ReportCard
      title={title}
      name="payouts-by-month"
      span={span}
      empty={row => row.count + row.failed_count === 0}
      columns={columnsOfPayouts(money.full).slice(0, 3)}
      choice={choice}
      rowKey={row => row.period}
    >
      {rows => (
        <TimePlot
          describe="Payouts paid over time"
          categories={rows.map(row => period(row.period))}
          series={[{ label: 'Paid', colour: palette.plot.paid, data: rows.map(row => Number(row[measure])) }]}
          full={full}
          short={short}
        />
      )}
    </ReportCard>
  )
}

function FailedAgainstPaid({ span }: { span: Span }) {
  const title = 'Failed against paid'
  const { palette } = useTheme()
  const money = useMoney()
  const { measure, full, short, choice } = useMeasure(title)
  return (
    <ReportCard
      title={title}
      name="payouts-by-month"
      span={span}
      empty={row => row.count + row.failed_count === 0}
      columns={columnsOfPayouts(money.full)}
      choice={choice}
      rowKey={row => row.period}
    >
      {rows => (
        <TimePlot
          describe="Payouts that failed beside those that were paid, over time"
          categories={rows.map(row => period(row.period))}
          series={[
            { label: 'Paid', colour: palette.plot.paid, data: rows.map(row => Number(row[measure])) },
            {
              label: 'Failed',
              colour: palette.plot.failed,
              data: rows.map(row => Number(row[`failed_${measure}`])),
            },
          ]}
          full={full}
          short={short}
        />
      )}
    </ReportCard>
  )
}

function AffiliatesByMonth({ span }: { span: Span }) {
  const { palette } = useTheme()
  return (
    <ReportCard
      title="Affiliates registered"
      name="affiliates-by-month"
      span={span}
      empty={row => row.total === 0}
      columns={[
        { label: 'Period', cell: row => period(row.period) },
        ...statuses.map(status => ({
          label: capital(status),
          cell: (row: Rows['affiliates-by-month']) => count(row[status]),
          figures: true,
        })),
        { label: 'Total', cell: row => count(row.total), figures: true },
      ]}
      rowKey={row => row.period}
    >
      {rows => (
        <TimePlot
          describe="Affiliates registered over time, by the status that they have now"
          categories={rows.map(row => period(row.period))}
          series={statusesFromBelow.map(status => ({
            label: capital(status),
            colour: palette.plot[status],
            data: rows.map(row => row[status]),
          }))}
          full={count}
          short={whole}
          height={BESIDE_TEN}
          stacked
        />
      )}
    </ReportCard>
  )
}

const statusesFromBelow = ['active', 'pending', 'inactive', 'rejected'] as const

/** Half an affiliate is no mark on an axis. */
const whole = (value: number) => (Number.isInteger(value) ? count(value) : '')

function TopAffiliates({ span }: { span: Span }) {
  const { palette } = useTheme()
  const money = useMoney()
  return (
    <ReportCard
      title="Ten affiliates paid most"
      name="top-affiliates"
      span={span}
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

function ByMethod({ span }: { span: Span }) {
  const title = 'Payouts by method'
  const { palette } = useTheme()
  const money = useMoney()
  const { measure, full, short, choice } = useMeasure(title)
  return (
    <ReportCard
      title={title}
      name="payouts-by-method"
      span={span}
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
        const shown = rows.toSorted((a, b) => Number(b[measure]) - Number(a[measure])).slice(0, MOST_METHODS)
        return (
          <RankPlot
            describe="Payouts paid by method"
            categories={unique(shown.map(row => shorten(methodOf(row))))}
            series={[
              { label: 'Paid', colour: palette.plot.paid, data: shown.map(row => Number(row[measure])) },
            ]}
            full={full}
            short={short}
          />
        )
      }}
    </ReportCard>
  )
}

/** As high as ten names beside it, in pixels. */
const BESIDE_TEN = 316
const MOST_METHODS = 12
const LONGEST_NAME = 18

const methodOf = (row: Rows['payouts-by-method']) => row.payout_method || 'No method'
const nameOf = (row: Rows['top-affiliates']) =>
  row.display_name || row.login || `Affiliate ${row.affiliate_id}`

function shorten(name: string): string {
  const characters = [...name]
  return characters.length > LONGEST_NAME ? `${characters.slice(0, LONGEST_NAME - 1).join('')}…` : name
}

/** Bars that have the same name would fall together: a space that is not seen keeps them apart. */
function unique(names: string[]): string[] {
  return names.map(
    (name, index) => name + '\u200b'.repeat(names.slice(0, index).filter(other => other === name).length),
  )
}
