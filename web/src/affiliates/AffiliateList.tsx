import AddIcon from '@mui/icons-material/Add'
import GroupIcon from '@mui/icons-material/GroupOutlined'
import { Button, Stack, Typography } from '@mui/material'
import { useMemo } from 'react'
import { ListBase, useListContext } from 'react-admin'
import { Link } from 'react-router-dom'
import { API, orderOf, queryOf } from '../api.ts'
import { Allowed } from '../ui/Allowed.tsx'
import { Cards, Ends } from '../ui/Cards.tsx'
import type { Column } from '../ui/column.ts'
import { ExportLink } from '../ui/ExportLink.tsx'
import { DateFilter } from '../ui/filters.tsx'
import { count, day, type Money, time, useMoney } from '../ui/format.ts'
import { Filters, Rows, Search } from '../ui/ListFrame.tsx'
import { BulkMoves } from '../ui/moves.tsx'
import { Empty, Page } from '../ui/Page.tsx'
import { RecordTable } from '../ui/RecordTable.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { StatusTabs } from '../ui/StatusTabs.tsx'
import { RowLink } from '../ui/table.tsx'
import { Account, type Affiliate, moving, nameOf, statuses } from './affiliate.tsx'
import { type RateOfAffiliate, useRates } from './rate.ts'

export function AffiliateList() {
  return (
    <ListBase
      resource="affiliates"
      perPage={25}
      sort={{ field: 'date_registered', order: 'DESC' }}
      storeKey={false}
    >
      <Page title="Affiliates" actions={<Actions />}>
        <StatusTabs resource="affiliates" statuses={statuses} />
        <Filters search={<Search hint="Name, e-mail or number" />}>
          <DateFilter label="Registered" width={168} />
        </Filters>
        <Rows
          empty={<NoAffiliates />}
          table={<AffiliateTable />}
          cards={<AffiliateCards />}
          bulkActions={<BulkMoves moving={moving} />}
        />
      </Page>
    </ListBase>
  )
}

function Actions() {
  const { filterValues, sort } = useListContext()
  return (
    <>
      <Button component={Link} to="/affiliates/deleted">
        Deleted
      </Button>
      <ExportLink
        href={`${API}/exports/affiliates?${queryOf({ format: 'csv', ...filterValues, ...orderOf(sort) })}`}
      />
      <CreateAffiliate />
    </>
  )
}

const CreateAffiliate = () => (
  <Allowed to="affiliates.create">
    <Button component={Link} to="/affiliates/create" variant="contained" startIcon={<AddIcon />}>
      Create affiliate
    </Button>
  </Allowed>
)

const NoAffiliates = () => (
  <Empty icon={<GroupIcon />} title="No affiliates yet" action={<CreateAffiliate />}>
    Affiliates are the people and companies that send customers to you. Create the first one here, or let your
    shop do it through the API with a key from Tools, API Keys.
  </Empty>
)

const pageOf = (affiliate: Affiliate) => `/affiliates/${affiliate.id}/show`

function AffiliateTable() {
  const [money, rateOf] = [useMoney(), useRates()]
  const columns = useMemo(() => columnsOf(money, rateOf), [money, rateOf])
  return <RecordTable<Affiliate> label="Affiliates" columns={columns} to={pageOf} nameOf={nameOf} />
}

type Rates = ReturnType<typeof useRates>

const columnsOf = (money: Money, rateOf: Rates): Column<Affiliate>[] => [
  {
    label: 'Account',
    sort: 'name',
    cell: affiliate => (
      <Account affiliate={affiliate} name={<RowLink to={pageOf(affiliate)}>{nameOf(affiliate)}</RowLink>} />
    ),
    minWidth: 190,
  },
  { label: 'Status', sort: 'status', cell: ({ status }) => <StatusChip status={status} /> },
  {
    label: 'Rate',
    sort: 'rate_by_type',
    cell: affiliate => <Rate {...rateOf(affiliate)} />,
    figures: true,
    wideOnly: true,
  },
  { label: 'Earnings', sort: 'earnings', cell: ({ earnings }) => money.full(earnings), figures: true },
  {
    label: 'Unpaid',
    sort: 'unpaid_earnings',
    cell: ({ unpaid_earnings }) => money.full(unpaid_earnings),
    figures: true,
  },
  {
    label: 'Referrals',
    sort: 'referrals',
    cell: ({ referrals }) => count(referrals),
    figures: true,
    wideOnly: true,
  },
  { label: 'Visits', sort: 'visits', cell: ({ visits }) => count(visits), figures: true, wideOnly: true },
  {
    label: 'Registered',
    sort: 'date_registered',
    cell: ({ date_registered }) => <span title={time(date_registered)}>{day(date_registered)}</span>,
    figures: true,
    wideOnly: true,
  },
]

/** Longest rate text, in characters, that the column shows; the affiliate's page shows longer ones. */
const SHORT = 12

function Rate({ text, source }: RateOfAffiliate) {
  return (
    <Typography component="span" variant="body2" sx={{ color: source ? 'text.secondary' : 'text.primary' }}>
      {source === 'by rules' && text.length > SHORT ? source : `${text} ${source}`.trim()}
    </Typography>
  )
}

function AffiliateCards() {
  const money = useMoney()
  const rateOf = useRates()
  return (
    <Cards<Affiliate> columns={columnsOf(money, rateOf)} to={pageOf} nameOf={nameOf}>
      {affiliate => (
        <Stack sx={{ gap: 0.75 }}>
          <Ends left={<Account affiliate={affiliate} />} right={<StatusChip status={affiliate.status} />} />
          <Ends
            left={
              <Typography variant="caption" sx={{ color: 'text.secondary' }}>
                {rateOf(affiliate).text} · {day(affiliate.date_registered)}
              </Typography>
            }
            right={
              <Typography variant="caption">
                Earnings {money.full(affiliate.earnings)}
                <br />
                Unpaid {money.full(affiliate.unpaid_earnings)}
              </Typography>
            }
          />
        </Stack>
      )}
    </Cards>
  )
}
