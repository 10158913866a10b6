import AddIcon from '@mui/icons-material/Add'
import GroupIcon from '@mui/icons-material/GroupOutlined'
import { Button, Stack, Typography } from '@mui/material'
import { BulkActionsToolbar, DataTable, DateInput, ListBase, SearchInput, useListContext } from 'react-admin'
import { Link } from 'react-router-dom'
import { API, queryOf } from '../api.ts'
import { ExportLink } from '../ui/ExportLink.tsx'
import { count, day, rateText, time, useMoney } from '../ui/format.ts'
import { Filters, Rows } from '../ui/ListFrame.tsx'
import { Empty, Page } from '../ui/Page.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { Cards, Ends, Figures, RowLink, tableStyle } from '../ui/table.tsx'
import { Account, type Affiliate, nameOf } from './affiliate.tsx'
import { BulkMoves } from './MoveButtons.tsx'
import { StatusTabs } from './StatusTabs.tsx'

export function AffiliateList() {
  return (
    <ListBase resource="affiliates" perPage={25} sort={{ field: 'id', order: 'DESC' }} storeKey={false}>
      <Page title="Affiliates" actions={<Actions />}>
        <StatusTabs />
        <Filters
          search={<SearchInput source="search" placeholder="Name, e-mail or number" alwaysOn fullWidth />}
        >
          <DateInput
            source="date.start"
            label="Registered from"
            sx={{ width: { sm: 168 } }}
            helperText={false}
          />
          <DateInput
            source="date.end"
            label="Registered until"
            sx={{ width: { sm: 168 } }}
            helperText={false}
          />
        </Filters>
        <Rows empty={<NoAffiliates />} table={<AffiliateTable />} cards={<AffiliateCards />} />
      </Page>
    </ListBase>
  )
}

function Actions() {
  const { filterValues } = useListContext()
  return (
    <>
      <ExportLink href={`${API}/exports/affiliates?${queryOf({ format: 'csv', ...filterValues })}`} />
      <CreateAffiliate />
    </>
  )
}

const CreateAffiliate = () => (
  <Button component={Link} to="/affiliates/create" variant="contained" startIcon={<AddIcon />}>
    Create affiliate
  </Button>
)

const NoAffiliates = () => (
  <Empty icon={<GroupIcon />} title="No affiliates yet" action={<CreateAffiliate />}>
    Affiliates are the people and companies that send customers to you. Create the first one here, or let your
    shop do it through the API with a key from Tools, API Keys.
  </Empty>
)

const pageOf = (affiliate: Affiliate) => `/affiliates/${affiliate.id}/show`

function AffiliateTable() {
  const money = useMoney()
  return (
    <DataTable<Affiliate>
      rowClick="show"
      bulkActionsToolbar={
        <BulkActionsToolbar>
          <BulkMoves />
        </BulkActionsToolbar>
      }
      sx={tableStyle}
    >
      <DataTable.Col
        source="id"
        label="Account"
        render={(affiliate: Affiliate) => (
          <Account
            affiliate={affiliate}
            name={<RowLink to={pageOf(affiliate)}>{nameOf(affiliate)}</RowLink>}
          />
        )}
      />
      <DataTable.Col
        source="status"
        label="Status"
        render={(affiliate: Affiliate) => <StatusChip status={affiliate.status} />}
      />
      <Figures<Affiliate>
        source="rate"
        label="Rate"
        show={({ effective, rate }) => (
          <Typography
            component="span"
            variant="body2"
            sx={{ color: rate === '' ? 'text.secondary' : 'text.primary' }}
          >
            {rateText(effective, money)}
            {rate === '' && ' default'}
          </Typography>
        )}
      />
      <Figures<Affiliate> source="earnings" label="Earnings" show={({ earnings }) => money.full(earnings)} />
      <Figures<Affiliate>
        source="unpaid_earnings"
        label="Unpaid"
        show={({ unpaid_earnings }) => money.full(unpaid_earnings)}
      />
      <Figures<Affiliate> source="referrals" label="Referrals" show={({ referrals }) => count(referrals)} />
      <Figures<Affiliate> source="visits" label="Visits" show={({ visits }) => count(visits)} />
      <Figures<Affiliate>
        source="date_registered"
        label="Registered"
        show={({ date_registered }) => <span title={time(date_registered)}>{day(date_registered)}</span>}
      />
    </DataTable>
  )
}

function AffiliateCards() {
  const money = useMoney()
  return (
    <Cards<Affiliate> to={pageOf}>
      {affiliate => (
        <Stack sx={{ gap: 0.75 }}>
          <Ends left={<Account affiliate={affiliate} />} right={<StatusChip status={affiliate.status} />} />
          <Ends
            left={
              <Typography variant="caption" sx={{ color: 'text.secondary' }}>
                {rateText(affiliate.effective, money)} · {day(affiliate.date_registered)}
              </Typography>
            }
            right={
              <Typography variant="body2" sx={{ fontVariantNumeric: 'tabular-nums' }}>
                {money.full(affiliate.earnings)}
              </Typography>
            }
          />
        </Stack>
      )}
    </Cards>
  )
}
