import AddIcon from '@mui/icons-material/Add'
import PaymentsIcon from '@mui/icons-material/PaymentsOutlined'
import { Button, Stack, Typography } from '@mui/material'
import { ListBase, useListContext } from 'react-admin'
import { Link } from 'react-router-dom'
import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { numberedName } from '../affiliates/affiliate.tsx'
import { API, orderOf, queryOf } from '../api.ts'
import { methodName, methodOf } from '../runs/run.ts'
import { Allowed } from '../ui/Allowed.tsx'
import { Cards, Ends } from '../ui/Cards.tsx'
import type { Column } from '../ui/column.ts'
import { ExportLink } from '../ui/ExportLink.tsx'
import { AmountFilter, ChoiceFilter, DateFilter, NamedFilter, TextFilter } from '../ui/filters.tsx'
import { day, type Money, time, useMoney } from '../ui/format.ts'
import { Filters, Rows, Search } from '../ui/ListFrame.tsx'
import { Empty, Page } from '../ui/Page.tsx'
import { RecordTable } from '../ui/RecordTable.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { RowLink } from '../ui/table.tsx'
import { MarkPaid } from './MarkPaid.tsx'
import { PayoutTotals } from './PayoutTotals.tsx'
import { type Payout, statusChoices } from './payout.ts'

export function PayoutList() {
  return (
    <ListBase resource="payouts" perPage={25} sort={{ field: 'id', order: 'DESC' }} storeKey={false}>
      <Page title="Payouts" actions={<Actions />}>
        <PayoutTotals />
        <Filters search={<Search hint="Number or method" />}>
          <PayoutFilters />
        </Filters>
        <Rows empty={<NoPayouts />} table={<PayoutTable />} cards={<PayoutCards />} />
      </Page>
    </ListBase>
  )
}

function Actions() {
  const { filterValues, sort } = useListContext()
  return (
    <>
      <ExportLink
        href={`${API}/exports/payouts?${queryOf({ format: 'csv', ...filterValues, ...orderOf(sort) })}`}
      />
      <RecordPayout />
    </>
  )
}

const RecordPayout = () => (
  <Allowed to="payouts.create">
    <Button component={Link} to="/payouts/create" variant="contained" startIcon={<AddIcon />}>
      Record payout
    </Button>
  </Allowed>
)

const NoPayouts = () => (
  <Empty icon={<PaymentsIcon />} title="No payouts yet" action={<RecordPayout />}>
    A payout records that money was sent to an affiliate, or that sending it failed. Record the first one
    here, or let your payment system do it through the API.
  </Empty>
)

function PayoutFilters() {
  return (
    <>
      <AffiliateInput nameOf={numberedName} helperText={false} sx={{ width: { sm: 220 } }} />
      <ChoiceFilter source="status" label="Status" choices={statusChoices.map(({ id }) => id)} width={110} />
      <ChoiceFilter source="failure" label="Failed payouts" choices={['open', 'settled']} width={160} />
      <NamedFilter source="payout_method" label="Method" idOf={methodOf} />
      <TextFilter source="reference" label="Reference" />
      <AmountFilter />
      <DateFilter />
    </>
  )
}

const pageOf = (payout: Payout) => `/payouts/${payout.id}`

function PayoutTable() {
  return <RecordTable<Payout> label="Payouts" columns={columnsOf(useMoney())} to={pageOf} />
}

const columnsOf = (money: Money): Column<Payout>[] => [
  { label: 'Payout', sort: 'id', cell: payout => <RowLink to={pageOf(payout)}>#{payout.id}</RowLink> },
  {
    label: 'Date',
    sort: 'date',
    cell: ({ date }) => (
      <Typography component="span" variant="body2" noWrap title={time(date)}>
        {day(date)}
      </Typography>
    ),
  },
  {
    label: 'Affiliate',
    sort: 'affiliate_name',
    cell: payout => <AffiliateName id={payout.affiliate_id} link />,
    minWidth: 120,
  },
  {
    label: 'Method',
    sort: 'payout_method',
    cell: ({ payout_method }) => <bdi>{methodName(payout_method) || '–'}</bdi>,
    maxWidth: 260,
    wideOnly: true,
  },
  {
    label: 'Status',
    sort: 'status',
    cell: payout => (
      <Stack direction="row" sx={{ gap: 1.25, alignItems: 'center' }}>
        <StatusChip status={payout.status} />
        <MarkPaid payout={payout} variant="text" sx={{ my: -0.5 }} />
      </Stack>
    ),
  },
  {
    label: 'Amount',
    sort: 'amount',
    cell: ({ amount }) => <strong>{money.full(amount)}</strong>,
    figures: true,
  },
]

function PayoutCards() {
  const money = useMoney()
  return (
    <Cards<Payout> columns={columnsOf(money)} to={pageOf} action={payout => <MarkPaid payout={payout} />}>
      {payout => (
        <Stack sx={{ gap: 0.5 }}>
          <Ends
            left={
              <Typography variant="body2" component="span" sx={{ fontWeight: 580 }}>
                <AffiliateName id={payout.affiliate_id} />
              </Typography>
            }
            right={<strong>{money.full(payout.amount)}</strong>}
          />
          <Ends
            left={
              <Typography variant="caption" sx={{ color: 'text.secondary' }}>
                #{payout.id} · {day(payout.date)}
                {payout.payout_method && (
                  <>
                    {' · '}
                    <bdi>{methodName(payout.payout_method)}</bdi>
                  </>
                )}
              </Typography>
            }
            right={<StatusChip status={payout.status} />}
          />
        </Stack>
      )}
    </Cards>
  )
}
