import EditIcon from '@mui/icons-material/EditOutlined'
import { Box, Button, Card, Link, Skeleton, Stack, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { Fragment, Suspense } from 'react'
import { useGetList } from 'react-admin'
import { Link as RouterLink } from 'react-router-dom'
import { reachable } from '../../../src/accounts/users/erased.ts'
import { get } from '../api.ts'
import { DetailsOfAffiliate } from '../details/DetailsOfAffiliate.tsx'
import { Balances } from '../ledger/Balances.tsx'
import { Settling } from '../ledger/Settling.tsx'
import { DefaultLink } from '../links/DefaultLink.tsx'
import { PayoutRows } from '../payouts/PayoutRows.tsx'
import type { Payout, PayoutTotals } from '../payouts/payout.ts'
import { LatestReferrals } from '../referrals/LatestReferrals.tsx'
import { Allowed } from '../ui/Allowed.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Details, LongText } from '../ui/Details.tsx'
import { count, plural, time, useMoney } from '../ui/format.ts'
import { lazily } from '../ui/lazily.ts'
import { Moves } from '../ui/moves.tsx'
import { Problem } from '../ui/Page.tsx'
import { DeleteRecord } from '../ui/RecordForms.tsx'
import { RecordShow } from '../ui/RecordShow.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { Tile, Tiles } from '../ui/Tile.tsx'
import { RowLink } from '../ui/table.tsx'
import { AccountLink } from '../users/AccountLink.tsx'
import { type Affiliate, moving, nameOf } from './affiliate.tsx'
import { affiliates } from './pages.ts'
import { useRates } from './rate.ts'

const AffiliatePlot = lazily(() => import('../reports/AffiliatePlot.tsx'), 'AffiliatePlot')

const LATEST = 10

export function AffiliateShow() {
  return (
    <RecordShow<Affiliate>
      of={affiliates}
      nameOf={nameOf}
      aside={({ status }) => <StatusChip status={status} />}
      actions={affiliate => <Actions affiliate={affiliate} />}
    >
      {affiliate => <Content affiliate={affiliate} />}
    </RecordShow>
  )
}

function Content({ affiliate }: { affiliate: Affiliate }) {
  return (
    <>
      <Figures affiliate={affiliate} />
      <Box
        sx={{
          display: 'grid',
          gap: 2,
          gridTemplateColumns: { xs: 'minmax(0, 1fr)', lg: 'minmax(0, 5fr) minmax(0, 7fr)' },
          mb: 2,
        }}
      >
        <AffiliateDetails affiliate={affiliate} />
        <Card sx={{ p: 2 }}>
          <Typography variant="h2" sx={{ mb: 1 }}>
            Payouts by month
          </Typography>
          <Suspense fallback={<Skeleton variant="rounded" height={300} />}>
            <AffiliatePlot affiliateId={affiliate.id} />
          </Suspense>
        </Card>
      </Box>
      <Balances
        affiliateId={affiliate.id}
        actions={
          <>
            <Button component={RouterLink} to={`/affiliates/${affiliate.id}/ledger`}>
              Ledger
            </Button>
            <Settling affiliateId={affiliate.id} />
          </>
        }
      />
      <DetailsOfAffiliate affiliate={affiliate} />
      <LatestPayouts affiliate={affiliate} />
      <LatestReferrals of={{ affiliate_id: affiliate.id }} />
    </>
  )
}

/** Key figures of the affiliate. */
function Figures({ affiliate }: { affiliate: Affiliate }) {
  const money = useMoney()
  return (
    <Tiles>
      <Tile label="Earnings" value={money.full(affiliate.earnings)} hint="paid referrals" />
      <Tile
        label="Unpaid"
        value={money.full(affiliate.unpaid_earnings)}
        hint="approved; in payout runs, too"
      />
      <Tile
        label="Referrals"
        value={<CountLink resource="referrals" id={affiliate.id} number={affiliate.referrals} />}
        hint="unpaid and paid, without refunds"
      />
      <Tile
        label="Visits"
        value={<CountLink resource="visits" id={affiliate.id} number={affiliate.visits} />}
      />
      <Tile label="Customers" value={<CustomersOf id={affiliate.id} />} />
    </Tiles>
  )
}

/** A count that links to the list of the counted records. */
function CountLink({ resource, id, number }: { resource: string; id: number; number: number }) {
  return (
    <Link
      component={RouterLink}
      color="inherit"
      to={`/${resource}?filter=${encodeURIComponent(JSON.stringify({ affiliate_id: id }))}`}
    >
      {count(number)}
    </Link>
  )
}

function CustomersOf({ id }: { id: number }) {
  const { total } = useGetList('customers', {
    filter: { affiliate_id: id },
    pagination: { page: 1, perPage: 1 },
  })
  return total === undefined ? '…' : <CountLink resource="customers" id={id} number={total} />
}

function AffiliateDetails({ affiliate }: { affiliate: Affiliate }) {
  const { user, effective } = affiliate
  const rate = useRates()(affiliate)
  const defaultNote = (value: string) => (value === '' ? ' (default)' : '')
  return (
    <Details
      items={[
        ['Number', affiliate.id],
        [
          'Link',
          <DefaultLink key="link" affiliateId={affiliate.id} active={affiliate.status === 'active'} />,
        ],
        [
          'Account',
          <AccountLink key="link" id={affiliate.user_id}>
            {user.user_login}
          </AccountLink>,
        ],
        ['Account e-mail', <Address key="own" text={user.user_email} name="account e-mail" />],
        [
          'Payment e-mail',
          <Fragment key="payment">
            <Address text={effective.payment_email} name="payment e-mail" />
            {affiliate.payment_email === '' &&
              reachable(user.user_email) !== '' &&
              ' (the account’s, for runs by plain CSV)'}
          </Fragment>,
        ],
        [
          'Rate',
          <Fragment key="rate">
            {rate.text}
            {rate.source === 'default' && ' (default)'}
            {rate.source === 'by rules' && (
              <>
                {', '}
                <Link component={RouterLink} to="/rules">
                  by rules
                </Link>
              </>
            )}
          </Fragment>,
        ],
        ['Rate type', <bdi key="type">{effective.rate_type + defaultNote(affiliate.rate_type)}</bdi>],
        ['Group', <GroupName key="group" group={affiliate.group} />],
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
        </Stack>
      </Stack>
      {error && <Problem error={error} />}
      {data && <PayoutRows payouts={data} />}
    </Card>
  )
}

function Actions({ affiliate }: { affiliate: Affiliate }) {
  return (
    <>
      <Moves moving={moving} record={affiliate} />
      <Allowed to="affiliates.edit">
        <Button component={RouterLink} to={`/affiliates/${affiliate.id}`} startIcon={<EditIcon />}>
          Edit
        </Button>
      </Allowed>
      <DeleteAffiliate affiliate={affiliate} />
    </>
  )
}

function DeleteAffiliate({ affiliate }: { affiliate: Affiliate }) {
  const money = useMoney()
  return (
    <DeleteRecord of={affiliates} record={affiliate} name={`affiliate ${nameOf(affiliate)}`}>
      <Typography>
        The affiliate with its rate, notes and counters is gone for good, and the number {affiliate.id} is
        never used again.
      </Typography>
      <Typography sx={{ mt: 1 }}>
        What stays: the account {affiliate.user.user_login}, the referrals and the ledger, and every payout
        that was made. The account can become an affiliate again.
      </Typography>
      {affiliate.unpaid_earnings !== 0 && (
        <Typography sx={{ mt: 1 }}>
          {money.full(affiliate.unpaid_earnings)} are still unpaid, and stay owed: under Affiliates, Deleted.
        </Typography>
      )}
    </DeleteRecord>
  )
}

function GroupName({ group: { group_id, name } }: Pick<Affiliate, 'group'>) {
  if (group_id === 0) return <>–</>
  return (
    <RowLink to={`/groups/${group_id}`}>
      <bdi>{name}</bdi>
    </RowLink>
  )
}
