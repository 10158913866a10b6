import { period } from '../ui/format.ts'
import { type Plot, TimePlot } from './Plot.tsx'
import { type Column, ReportCard, type ReportCardProps } from './ReportCard.tsx'
import type { ReportName, Rows } from './report.ts'

type ReportByPeriod = Extract<ReportName, `${string}-by-month`>

interface Series<R> {
  label: string
  colour: string
  value: (row: R) => number | string
}

interface Props<N extends ReportByPeriod>
  extends Pick<ReportCardProps<N>, 'title' | 'name' | 'scope' | 'choice' | 'empty'>,
    Omit<Plot, 'categories' | 'series'> {
  /** Those beside the period. */
  columns: Column<Rows[N]>[]
  series: Series<Rows[N]>[]
}

/** A report by period: a chart over time, with its numbers. */
export function PeriodCard<N extends ReportByPeriod>(props: Props<N>) {
  const { title, name, scope, choice, empty, columns, series, ...plot } = props
  const periodOf = (row: Rows[N]) => period(row.period)
  return (
    <ReportCard
      {...{ title, name, scope, choice, empty }}
      columns={[{ label: 'Period', cell: periodOf }, ...columns]}
      rowKey={row => row.period}
    >
      {rows => (
        <TimePlot
          {...plot}
          categories={rows.map(periodOf)}
          series={series.map(({ value, ...one }) => ({ ...one, data: rows.map(row => Number(value(row))) }))}
        />
      )}
    </ReportCard>
  )
}
