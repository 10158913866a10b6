import { Typography } from '@mui/material'
import { count, day, useMoney } from '../ui/format.ts'
import { Problem } from '../ui/Page.tsx'
import { Tile, Tiles } from '../ui/Tile.tsx'
import { isRefused, type Scope, useReport } from './report.ts'

/** Totals of the period, next to those of the preceding period of the same length. */
export function Summary({ scope }: { scope: Scope }) {
  const money = useMoney()
  const earnings = useReport('earnings-by-month', scope)
  const conversion = useReport('conversion-by-month', scope)
  const error = earnings.error ?? conversion.error
  if (error && !isRefused(error)) return <Problem error={error} />
  const { totals, before } = earnings.data ?? {}
  const visits = conversion.data?.totals
  const visitsBefore = conversion.data?.before
  const sums = [
    ['Earned', totals?.earned, before?.earned],
    ['Paid', totals?.paid, before?.paid],
    ['Rejected', totals?.refused, before?.refused],
    ['Written off', totals?.written_off, before?.written_off],
    ['Owed at the end', totals?.owed, before?.owed],
  ] as const
  const reported = earnings.data
  return (
    <>
      {reported && (
        <Typography variant="body2" sx={{ color: 'text.secondary', mb: 1.5 }}>
          From {day(`${reported.from} 00:00:00`)} until {day(`${reported.to} 00:00:00`)}
          {before &&
            `, compared with ${day(`${before.from} 00:00:00`)} until ${day(`${before.to} 00:00:00`)}`}
          . Earned, rejected and written off count by the date of the referral, paid by that of the payout,
          and owed by when it was recorded. A payout that names no referrals counts as paid, and leaves what
          is owed as it is.
        </Typography>
      )}
      <Tiles busy={earnings.isPlaceholderData || conversion.isPlaceholderData}>
        {sums.map(([label, now, then]) => (
          <Tile
            key={label}
            label={label}
            value={now === undefined ? '…' : money.full(now)}
            hint={
              then !== undefined && now !== undefined && compared(Number(now), Number(then), money.full(then))
            }
          />
        ))}
        <Tile
          label="Visits"
          value={visits ? count(visits.visits) : '…'}
          hint={
            visits && visitsBefore && compared(visits.visits, visitsBefore.visits, count(visitsBefore.visits))
          }
        />
        <Tile
          label="Conversion rate"
          value={visits ? `${count(visits.rate)}%` : '…'}
          hint={visitsBefore && `${count(visitsBefore.rate)}% before`}
        />
      </Tiles>
    </>
  )
}

/** For example '+12% from $100.00'. */
function compared(now: number, before: number, beforeText: string): string {
  if (before === 0) return `${beforeText} before`
  const change = Math.round(((now - before) / Math.abs(before)) * 100)
  return `${change > 0 ? '+' : change < 0 ? '−' : '±'}${Math.abs(change)}% from ${beforeText}`
}
