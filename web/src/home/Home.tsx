/** The home page: what needs a decision, and how the month is going. */
import { Alert, Box, Button, Card, Link, List, ListItem, Stack, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type RaRecord, useGetList, useGetMany } from 'react-admin'
import { Link as RouterLink } from 'react-router-dom'
import type { Static } from 'typebox'
import type { referralTotals } from '../../../src/programme/referrals/totals.ts'
import type { SettingsRecord } from '../../../src/settings/schema.ts'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { Account, type Affiliate, moving, nameOf } from '../affiliates/affiliate.tsx'
import { get } from '../api.ts'
import { useDeletedButOwed } from '../ledger/DeletedButOwed.tsx'
import { MarkPaid, useIsOpen } from '../payouts/MarkPaid.tsx'
import type { Payout, WithSums } from '../payouts/payout.ts'
import { numbersIn } from '../payouts/sum.ts'
import { useReport } from '../reports/report.ts'
import { useCan } from '../session.tsx'
import { count, day, useMoney } from '../ui/format.ts'
import { Moves } from '../ui/moves.tsx'
import { Page, Problem } from '../ui/Page.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { Tile, Tiles } from '../ui/Tile.tsx'
import { RowLink } from '../ui/table.tsx'
import { visuallyHidden } from '../ui/visually.ts'

const LISTED = 5

const listOf = (resource: string, filter: object) =>
  `/${resource}?filter=${encodeURIComponent(JSON.stringify(filter))}`

export function Home() {
  return (
    <Page title="Home">
      <SetupAdvice />
      <ThisMonth />
      <OpenDecisions />
      <Box
        sx={{
          display: 'grid',
          gap: 2,
          alignItems: 'start',
          gridTemplateColumns: { xs: 'minmax(0, 1fr)', lg: 'repeat(2, minmax(0, 1fr))' },
        }}
      >
        <Applications />
        <FailedPayouts />
      </Box>
    </Page>
  )
}

/** Setup advice, shown until the first amount is recorded and the currency becomes fixed. */
function SetupAdvice() {
  const may = useCan()('settings.edit')
  const { data } = useQuery({
    queryKey: ['settings'],
    queryFn: () => get<SettingsRecord>('settings'),
    enabled: may,
  })
  if (!data || data.currency_locked) return null
  const { currency, programme_page, default_rate, default_rate_type } = data
  return (
    <Alert
      severity="info"
      role="note"
      sx={{ mb: 2 }}
      action={
        <Button component={RouterLink} to="/settings" color="inherit">
          Settings
        </Button>
      }
    >
      Before you begin: all amounts are in {currency}, and the first one that is recorded fixes that.
      Affiliates earn {default_rate}
      {default_rate_type === 'percentage' ? '%' : ` (${default_rate_type})`} where nothing else is said.
      {programme_page === '' && ' Links lead nowhere before a programme page is set.'}
    </Alert>
  )
}

/** This month's figures so far, next to last month's. */
function ThisMonth() {
  const money = useMoney()
  const { data, error, refetch } = useReport('earnings-by-month', { span: '12m' })
  if (error) return <Problem error={error} retry={() => refetch()} />
  const [last, now] = data?.rows.slice(-2) ?? []
  const tile = (label: string, of: 'paid' | 'earned' | 'owed', comparison: string) => (
    <Tile
      label={label}
      value={now ? money.full(now[of]) : '…'}
      hint={last && `${money.full(last[of])} ${comparison}`}
    />
  )
  return (
    <Tiles>
      {tile('Paid this month', 'paid', 'last month')}
      {tile('Earned this month', 'earned', 'last month')}
      {tile('Owed now', 'owed', 'at the end of last month')}
    </Tiles>
  )
}

type ReferralTotals = WithSums<Static<typeof referralTotals>>

/** Open decisions, as counts that link to the lists. */
function OpenDecisions() {
  const money = useMoney()
  const referrals = useQuery({
    queryKey: ['referrals', 'totals', ''],
    queryFn: () => get<ReferralTotals>('referrals/totals'),
  })
  const deleted = useDeletedButOwed()
  const { pending, draft, unpaid } = referrals.data?.by_status ?? {}
  return (
    <Tiles>
      <Waiting
        label="Pending referrals"
        to={listOf('referrals', { status: 'pending' })}
        number={pending?.count}
      >
        {pending && money.full(pending.sum)}
      </Waiting>
      <Waiting label="Drafts" to={listOf('referrals', { status: 'draft' })} number={draft?.count}>
        wait for a rate or a rule
      </Waiting>
      <Waiting label="Unpaid referrals" to={listOf('referrals', { status: 'unpaid' })} number={unpaid?.count}>
        {unpaid && money.full(unpaid.sum)}
      </Waiting>
      {deleted.data && deleted.data.length > 0 && (
        <Waiting label="Deleted and owed" to="/affiliates/deleted" number={deleted.data.length}>
          affiliates with a balance
        </Waiting>
      )}
    </Tiles>
  )
}

function Waiting({
  label,
  to,
  number,
  children,
}: {
  label: string
  to: string
  number: number | undefined
  children: ReactNode
}) {
  const value = (
    <Link component={RouterLink} to={to} color="inherit" aria-label={`${label}: ${number ?? ''}`}>
      {number === undefined ? '…' : count(number)}
    </Link>
  )
  return <Tile label={label} value={value} hint={children} />
}

function useLatest<R extends RaRecord<number>>(resource: string, filter: object) {
  return useGetList<R>(resource, {
    filter,
    pagination: { page: 1, perPage: LISTED },
    sort: { field: 'id', order: 'DESC' },
  })
}

/**
 * The records that were listed at first: one that is approved or rejected keeps its place, so that it can be undone.
 */
function useSteadyRecords<R extends RaRecord<number>>(resource: string, records: R[] | undefined): R[] {
  const [ids, setIds] = useState<number[]>([])
  if (ids.length === 0 && records && records.length > 0) setIds(records.map(({ id }) => id))
  const { data } = useGetMany<R>(resource, { ids }, { enabled: ids.length > 0 })
  // They come in the order of their numbers.
  return ids.flatMap(id => data?.find(record => record?.id === id) ?? [])
}

function Applications() {
  const { data, total, error } = useLatest<Affiliate>('affiliates', { status: 'pending' })
  const steady = useSteadyRecords('affiliates', data)
  return (
    <LatestCard
      title="Pending applications"
      all={listOf('affiliates', { status: 'pending' })}
      total={total}
      error={error}
      none="No applications to approve."
    >
      {steady.map(affiliate => (
        <Line
          key={affiliate.id}
          left={
            <Account
              affiliate={affiliate}
              name={<RowLink to={`/affiliates/${affiliate.id}/show`}>{nameOf(affiliate)}</RowLink>}
            />
          }
          right={
            <>
              {affiliate.status !== 'pending' && <StatusChip status={affiliate.status} />}
              <Moves moving={moving} record={affiliate} />
            </>
          }
        />
      ))}
    </LatestCard>
  )
}

function FailedPayouts() {
  const { data, total, error } = useLatest<Payout>('payouts', { failure: 'open' })
  const steady = useSteadyRecords('payouts', data)
  return (
    <LatestCard
      title="Failed payouts"
      all={listOf('payouts', { status: 'failed', failure: 'open' })}
      total={total}
      error={error}
      none="No failed payouts left to pay."
    >
      {steady.map(payout => (
        <Line
          key={payout.id}
          left={
            <>
              <Typography component="div" variant="body2">
                <RecordLink kind="payout" id={payout.id} /> · <StillOwed payout={payout} />
              </Typography>
              <Typography component="div" variant="caption" sx={{ color: 'text.secondary' }}>
                <AffiliateName id={payout.affiliate_id} link />, {day(payout.date)}
              </Typography>
            </>
          }
          right={
            <>
              <MarkPaid payout={payout} />
              <WithNextRun payout={payout} />
            </>
          }
        />
      ))}
    </LatestCard>
  )
}

function WithNextRun({ payout }: { payout: Payout }) {
  if (!useIsOpen(payout, 'run')) return null
  return (
    <Typography variant="caption" sx={{ color: 'text.secondary' }}>
      A payout run can pay it
    </Typography>
  )
}

/** The most referrals of a payout that are summed up; of one with more, its amount is all there is to say. */
const MOST_SUMMED = 500

/** What of a failed payout is still unpaid: some of its referrals may have been paid otherwise since. */
function StillOwed({ payout: { status, amount, referrals } }: { payout: Payout }) {
  const money = useMoney()
  const numbers = numbersIn(referrals)
  const { data } = useQuery({
    queryKey: ['referrals', 'totals', 'of payout', referrals],
    queryFn: () => get<ReferralTotals>(`referrals/totals?referral_id=${numbers.join()}`),
    enabled: status === 'failed' && numbers.length > 0 && numbers.length <= MOST_SUMMED,
  })
  const whole = money.full(amount)
  const unpaid = data?.by_status.unpaid
  const isLess = unpaid && unpaid.count < data.count && Number(unpaid.sum) < Number(amount)
  if (status !== 'failed' || !isLess) return <>{whole}</>
  return (
    <>
      {money.full(unpaid.sum)} of {whole} still unpaid
    </>
  )
}

/** The latest records that need a decision. */
function LatestCard({
  title,
  all,
  total,
  error,
  none,
  children,
}: {
  title: string
  all: string
  total: number | undefined
  error: unknown
  none: string
  children: ReactNode
}) {
  return (
    <Card component="section" aria-label={title}>
      <Stack
        direction="row"
        sx={{ p: 2, pb: 1, justifyContent: 'space-between', alignItems: 'center', gap: 1 }}
      >
        <Typography variant="h2">{title}</Typography>
        {total !== undefined && total > 0 && (
          <Button component={RouterLink} to={all}>
            All {count(total)}
            <Box component="span" sx={visuallyHidden}>
              {' '}
              {title.toLowerCase()}
            </Box>
          </Button>
        )}
      </Stack>
      {Boolean(error) && <Problem error={error} />}
      {total === 0 && (
        <Typography variant="body2" sx={{ px: 2, pb: 2, color: 'text.secondary' }}>
          {none}
        </Typography>
      )}
      <List disablePadding>{children}</List>
    </Card>
  )
}

function Line({ left, right }: { left: ReactNode; right: ReactNode }) {
  return (
    <ListItem divider sx={{ gap: 1, justifyContent: 'space-between', flexWrap: 'wrap' }}>
      <Box sx={{ minWidth: 0 }}>{left}</Box>
      <Stack direction="row" sx={{ gap: 1, alignItems: 'center' }}>
        {right}
      </Stack>
    </ListItem>
  )
}
