import DeleteIcon from '@mui/icons-material/DeleteOutlined'
import EditIcon from '@mui/icons-material/EditOutlined'
import { Box, Button, Card, Link, Skeleton, Stack, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, Suspense, useState } from 'react'
import { ShowBase, useDataProvider, useGetList, useNotify, useRefresh, useShowContext } from 'react-admin'
import { Link as RouterLink, useNavigate } from 'react-router-dom'
import { get } from '../api.ts'
import { PayoutRows } from '../payouts/PayoutRows.tsx'
import type { Payout, PayoutTotals } from '../payouts/payout.ts'
import { Waiting } from '../Shell.tsx'
import { History } from '../tools/AuditLog.tsx'
import { Confirm } from '../ui/Confirm.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { count, plural, rateText, time, useMoney } from '../ui/format.ts'
import { lazily } from '../ui/lazily.ts'
import { listAt } from '../ui/lists.ts'
import { Page, Problem, RecordProblem, toldByThePage } from '../ui/Page.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { Tile, Tiles } from '../ui/Tile.tsx'
import { type Affiliate, nameOf, parent } from './affiliate.tsx'
import { Moves } from './MoveButtons.tsx'

const AffiliatePlot = lazily(() => import('../reports/AffiliatePlot.tsx'), 'AffiliatePlot')

const LATEST = 10

export function AffiliateShow() {
  return (
    <ShowBase resource="affiliates" queryOptions={toldByThePage}>
      <ShowPage />
    </ShowBase>
  )
}

function ShowPage() {
  const { record: affiliate, error, isPending, refetch } = useShowContext<Affiliate>()
  const money = useMoney()
  if (error) {
    return <RecordProblem kind="affiliate" parent={parent} error={error} retry={() => refetch()} />
  }
  if (isPending || !affiliate) return <Waiting />
  return (
    <Page
      title={nameOf(affiliate)}
      heading={<bdi>{nameOf(affiliate)}</bdi>}
      parent={parent}
      aside={<StatusChip status={affiliate.status} />}
      actions={
        <>
          <Moves affiliate={affiliate} />
          <Button component={RouterLink} to={`/affiliates/${affiliate.id}`} startIcon={<EditIcon />}>
            Edit
          </Button>
          <DeleteAffiliate affiliate={affiliate} />
        </>
      }
    >
      <Tiles>
        <Tile label="Earnings" value={money.full(affiliate.earnings)} />
        <Tile label="Unpaid" value={money.full(affiliate.unpaid_earnings)} />
        <Tile label="Referrals" value={count(affiliate.referrals)} />
        <Tile label="Visits" value={count(affiliate.visits)} />
      </Tiles>
      <Box
        sx={{
          display: 'grid',
          gap: 2,
          gridTemplateColumns: { xs: 'minmax(0, 1fr)', lg: 'minmax(0, 5fr) minmax(0, 7fr)' },
          mb: 2,
        }}
      >
        <Details affiliate={affiliate} />
        <Card sx={{ p: { xs: 2, sm: 2.5 } }}>
          <Typography variant="h2" sx={{ mb: 1 }}>
            Payouts by month
          </Typography>
          <Suspense fallback={<Skeleton variant="rounded" height={220} />}>
            <AffiliatePlot affiliateId={affiliate.id} />
          </Suspense>
        </Card>
      </Box>
      <LatestPayouts affiliate={affiliate} />
      <History record="affiliate" id={affiliate.id} />
    </Page>
  )
}

function Details({ affiliate }: { affiliate: Affiliate }) {
  const money = useMoney()
  const { user, effective } = affiliate
  const own = (value: string) => (value === '' ? ' (default)' : '')
  return (
    <Card component="section" aria-label="Details" sx={{ p: { xs: 2, sm: 2.5 } }}>
      <Typography variant="h2" sx={{ mb: 1.5 }}>
        Details
      </Typography>
      <Box
        component="dl"
        sx={{
          m: 0,
          display: 'grid',
          gridTemplateColumns: 'minmax(104px, auto) minmax(0, 1fr)',
          gap: '8px 16px',
          '& dt': { color: 'text.secondary' },
          '& dd': { m: 0, overflowWrap: 'anywhere' },
          fontSize: '0.875rem',
        }}
      >
        <Detail label="Number">{affiliate.id}</Detail>
        <Detail label="Account">
          <Link component={RouterLink} to={`/users/${affiliate.user_id}`}>
            <bdi>{user.user_login}</bdi>
          </Link>
        </Detail>
        <Detail label="Account e-mail">
          <bdi>{user.user_email}</bdi>
          <CopyButton text={user.user_email} name="account e-mail" />
        </Detail>
        <Detail label="Payment e-mail">
          <bdi>{effective.payment_email}</bdi>
          {affiliate.payment_email === '' && ' (the account’s)'}
          <CopyButton text={effective.payment_email} name="payment e-mail" />
        </Detail>
        <Detail label="Rate">
          {rateText(effective, money)}
          {own(affiliate.rate)}
        </Detail>
        <Detail label="Rate type">
          <bdi>{effective.rate_type}</bdi>
          {own(affiliate.rate_type)}
        </Detail>
        <Detail label="Registered">{time(affiliate.date_registered)}</Detail>
        <Detail label="Notes">{affiliate.notes ? <Notes text={affiliate.notes} /> : '–'}</Detail>
      </Box>
    </Card>
  )
}

function Notes({ text }: { text: string }) {
  return (
    <Box
      component="span"
      dir="auto"
      sx={{ whiteSpace: 'pre-wrap', display: 'block', maxHeight: 200, overflowY: 'auto' }}
      tabIndex={0}
    >
      {text}
    </Box>
  )
}

function Detail({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  )
}

function LatestPayouts({ affiliate }: { affiliate: Affiliate }) {
  const money = useMoney()
  const list = `/payouts?filter=${encodeURIComponent(JSON.stringify({ affiliate_id: affiliate.id }))}`
  const { data, total, error } = useGetList<Payout>('payouts', {
    filter: { affiliate_id: affiliate.id },
    pagination: { page: 1, perPage: LATEST },
    sort: { field: 'id', order: 'DESC' },
  })
  const totals = useQuery({
    queryKey: ['payouts', 'totals', `affiliate_id=${affiliate.id}`],
    queryFn: () => get<PayoutTotals>(`payouts/totals?affiliate_id=${affiliate.id}`),
  })
  return (
    <Card component="section" aria-label="Payouts">
      <Stack
        direction="row"
        sx={{ p: 2, pb: 1, justifyContent: 'space-between', flexWrap: 'wrap', gap: 1, alignItems: 'center' }}
      >
        <Box>
          <Typography variant="h2">Payouts</Typography>
          {totals.data && (
            <Typography variant="body2" sx={{ color: 'text.secondary', fontVariantNumeric: 'tabular-nums' }}>
              {money.full(totals.data.paid.sum)} paid in {plural(totals.data.paid.count, 'payout')}
              {totals.data.failed.count > 0 && `, ${plural(totals.data.failed.count, 'payout')} failed`}
            </Typography>
          )}
        </Box>
        <Stack direction="row" sx={{ gap: 1 }}>
          {total !== undefined && total > LATEST && (
            <Button component={RouterLink} to={list}>
              All {count(total)}
            </Button>
          )}
          <Button
            component={RouterLink}
            variant="outlined"
            to={`/payouts/create?affiliate_id=${affiliate.id}`}
          >
            Record payout
          </Button>
        </Stack>
      </Stack>
      {error && <Problem error={error} />}
      {data && <PayoutRows payouts={data} />}
    </Card>
  )
}

function DeleteAffiliate({ affiliate }: { affiliate: Affiliate }) {
  const dataProvider = useDataProvider()
  const notify = useNotify()
  const navigate = useNavigate()
  const refresh = useRefresh()
  const [asking, setAsking] = useState(false)
  const confirm = async () => {
    await dataProvider.delete('affiliates', { id: affiliate.id, previousData: affiliate })
    notify(`Affiliate ${nameOf(affiliate)} deleted`, { type: 'success' })
    navigate(listAt(parent.to))
    refresh()
  }
  return (
    <>
      <Button color="error" startIcon={<DeleteIcon />} onClick={() => setAsking(true)}>
        Delete
      </Button>
      <Confirm
        open={asking}
        title={`Delete affiliate ${nameOf(affiliate)}?`}
        action="Delete"
        onConfirm={confirm}
        onClose={() => setAsking(false)}
      >
        <Typography>
          The affiliate with its rate, notes and counters is gone for good, and the number {affiliate.id} is
          never used again.
        </Typography>
        <Typography>
          What stays: the account {affiliate.user.user_login}, and every payout that was made. The account can
          become an affiliate again.
        </Typography>
      </Confirm>
    </>
  )
}
