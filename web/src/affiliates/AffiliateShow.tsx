import DeleteIcon from '@mui/icons-material/DeleteOutlined'
import EditIcon from '@mui/icons-material/EditOutlined'
import { Box, Button, Card, Link, Skeleton, Stack, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { Fragment, Suspense, useState } from 'react'
import { ShowBase, useDataProvider, useGetList, useNotify, useRefresh, useShowContext } from 'react-admin'
import { Link as RouterLink, useNavigate } from 'react-router-dom'
import { get } from '../api.ts'
import { PayoutRows } from '../payouts/PayoutRows.tsx'
import type { Payout, PayoutTotals } from '../payouts/payout.ts'
import { History } from '../tools/AuditLog.tsx'
import { Confirm } from '../ui/Confirm.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Details, LongText } from '../ui/Details.tsx'
import { count, plural, rateText, time, useMoney } from '../ui/format.ts'
import { lazily } from '../ui/lazily.ts'
import { listAt } from '../ui/lists.ts'
import { Moves } from '../ui/moves.tsx'
import { Page, Problem, RecordProblem, toldByThePage } from '../ui/Page.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { Tile, Tiles } from '../ui/Tile.tsx'
import { Waiting } from '../ui/Waiting.tsx'
import { type Affiliate, moving, nameOf, parent } from './affiliate.tsx'

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
          <Moves moving={moving} record={affiliate} />
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
        <AffiliateDetails affiliate={affiliate} />
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

function AffiliateDetails({ affiliate }: { affiliate: Affiliate }) {
  const money = useMoney()
  const { user, effective } = affiliate
  const own = (value: string) => (value === '' ? ' (default)' : '')
  return (
    <Details
      items={[
        ['Number', affiliate.id],
        [
          'Account',
          <Link key="link" component={RouterLink} to={`/users/${affiliate.user_id}`}>
            <bdi>{user.user_login}</bdi>
          </Link>,
        ],
        ['Account e-mail', <Address key="own" text={user.user_email} name="account e-mail" />],
        [
          'Payment e-mail',
          <Fragment key="payment">
            <Address text={effective.payment_email} name="payment e-mail" />
            {affiliate.payment_email === '' && ' (the account’s)'}
          </Fragment>,
        ],
        ['Rate', rateText(effective, money) + own(affiliate.rate)],
        ['Rate type', <bdi key="type">{effective.rate_type + own(affiliate.rate_type)}</bdi>],
        ['Registered', time(affiliate.date_registered)],
        ['Notes', affiliate.notes ? <LongText key="notes" text={affiliate.notes} /> : '–'],
      ]}
    />
  )
}

function Address({ text, name }: { text: string; name: string }) {
  return (
    <>
      <bdi>{text}</bdi>
      <CopyButton text={text} name={name} />
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
