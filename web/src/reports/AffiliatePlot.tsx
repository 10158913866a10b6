import { Skeleton, Typography, useTheme } from '@mui/material'
import { period, useMoney } from '../ui/format.ts'
import { Problem } from '../ui/Page.tsx'
import { TimePlot } from './Plot.tsx'
import { useReport } from './report.ts'

/** Payouts to one affiliate by month. */
export function AffiliatePlot({ affiliateId }: { affiliateId: number }) {
  const { palette } = useTheme()
  const money = useMoney()
  const { data, error, refetch } = useReport('payouts-by-month', { span: 'all', affiliate_id: affiliateId })
  if (error) return <Problem error={error} retry={() => refetch()} />
  if (!data) return <Skeleton variant="rounded" height={300} />
  const { rows } = data
  if (rows.every(row => row.count + row.failed_count === 0)) {
    return (
      <Typography variant="body2" sx={{ color: 'text.secondary', py: 3 }}>
        No payouts to show yet.
      </Typography>
    )
  }
  return (
    <TimePlot
      describe="Payouts by month; the same numbers are in the list of payouts"
      categories={rows.map(row => period(row.period))}
      series={[
        { label: 'Paid', colour: palette.plot.paid, data: rows.map(row => Number(row.sum)) },
        { label: 'Failed', colour: palette.plot.failed, data: rows.map(row => Number(row.failed_sum)) },
      ]}
      full={money.full}
      short={money.short}
      height={300}
      stacked
    />
  )
}
