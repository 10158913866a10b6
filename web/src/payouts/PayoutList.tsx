import AddIcon from '@mui/icons-material/Add'
import PaymentsIcon from '@mui/icons-material/PaymentsOutlined'
import { Button, Stack, Typography } from '@mui/material'
import {
  AutocompleteInput,
  DataTable,
  DateInput,
  ListBase,
  ReferenceInput,
  SearchInput,
  SelectInput,
  TextInput,
  useListContext,
} from 'react-admin'
import { Link } from 'react-router-dom'
import { type Affiliate, nameOf } from '../affiliates/affiliate.tsx'
import { API, queryOf } from '../api.ts'
import { ExportLink } from '../ui/ExportLink.tsx'
import { day, time, useMoney } from '../ui/format.ts'
import { Filters, Rows } from '../ui/ListFrame.tsx'
import { Empty, Page } from '../ui/Page.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { Cards, Ends, Figures, RowLink, tableStyle } from '../ui/table.tsx'
import { AffiliateName } from './AffiliateName.tsx'
import { MarkPaid } from './MarkPaid.tsx'
import { PayoutTotals } from './PayoutTotals.tsx'
import { type Payout, statusChoices } from './payout.ts'

export function PayoutList() {
  return (
    <ListBase resource="payouts" perPage={25} sort={{ field: 'id', order: 'DESC' }} storeKey={false}>
      <Page title="Payouts" actions={<Actions />}>
        <PayoutTotals />
        <Filters search={<SearchInput source="search" placeholder="Number or method" alwaysOn fullWidth />}>
          <PayoutFilters />
        </Filters>
        <Rows empty={<NoPayouts />} table={<PayoutTable />} cards={<PayoutCards />} />
      </Page>
    </ListBase>
  )
}

function Actions() {
  const { filterValues } = useListContext()
  return (
    <>
      <ExportLink href={`${API}/exports/payouts?${queryOf({ format: 'csv', ...filterValues })}`} />
      <CreatePayout />
    </>
  )
}

const CreatePayout = () => (
  <Button component={Link} to="/payouts/create" variant="contained" startIcon={<AddIcon />}>
    Create payout
  </Button>
)

const NoPayouts = () => (
  <Empty icon={<PaymentsIcon />} title="No payouts yet" action={<CreatePayout />}>
    A payout says that money was sent to an affiliate, or that sending it failed. Record the first one here,
    or let your payment system do it through the API.
  </Empty>
)

const width = (pixels: number) => ({ width: { sm: pixels } })
const text = (typed: string) => typed

function PayoutFilters() {
  return (
    <>
      <ReferenceInput source="affiliate_id" reference="affiliates" sort={{ field: 'id', order: 'DESC' }}>
        <AutocompleteInput
          label="Affiliate"
          optionText={(affiliate?: Affiliate) => (affiliate ? `${nameOf(affiliate)} #${affiliate.id}` : '')}
          filterToQuery={search => (search ? { search } : {})}
          helperText={false}
          sx={width(220)}
        />
      </ReferenceInput>
      <SelectInput
        source="status"
        label="Status"
        choices={statusChoices}
        emptyText="Any"
        helperText={false}
        sx={{ ...width(110), minWidth: 110 }}
      />
      <TextInput source="payout_method" label="Method" helperText={false} sx={width(140)} />
      <TextInput
        source="amount.min"
        label="Amount from"
        parse={text}
        helperText={false}
        sx={width(124)}
        slotProps={{ htmlInput: { inputMode: 'decimal' } }}
      />
      <TextInput
        source="amount.max"
        label="Amount until"
        parse={text}
        helperText={false}
        sx={width(124)}
        slotProps={{ htmlInput: { inputMode: 'decimal' } }}
      />
      <DateInput source="date.start" label="Date from" helperText={false} sx={width(158)} />
      <DateInput source="date.end" label="Date until" helperText={false} sx={width(158)} />
    </>
  )
}

const pageOf = (payout: Payout) => `/payouts/${payout.id}`

function PayoutTable() {
  const money = useMoney()
  return (
    <DataTable<Payout> rowClick="edit" bulkActionButtons={false} sx={tableStyle}>
      <DataTable.Col
        source="id"
        label="Payout"
        render={(payout: Payout) => <RowLink to={pageOf(payout)}>#{payout.id}</RowLink>}
      />
      <DataTable.Col
        source="date"
        label="Date"
        render={(payout: Payout) => (
          <Typography component="span" variant="body2" noWrap title={time(payout.date)}>
            {day(payout.date)}
          </Typography>
        )}
      />
      <DataTable.Col
        source="affiliate_id"
        label="Affiliate"
        render={(payout: Payout) => <AffiliateName id={payout.affiliate_id} link />}
      />
      <DataTable.Col
        source="payout_method"
        label="Method"
        render={(payout: Payout) => <bdi>{payout.payout_method || '–'}</bdi>}
        sx={{ overflowWrap: 'anywhere', maxWidth: 260 }}
      />
      <DataTable.Col
        source="status"
        label="Status"
        render={(payout: Payout) => (
          <Stack direction="row" sx={{ gap: 1.25, alignItems: 'center' }}>
            <StatusChip status={payout.status} />
            {payout.status === 'failed' && <MarkPaid payout={payout} variant="text" sx={{ my: -0.5 }} />}
          </Stack>
        )}
      />
      <Figures<Payout>
        source="amount"
        label="Amount"
        show={({ amount }) => <strong className="amount">{money.full(amount)}</strong>}
      />
    </DataTable>
  )
}

function PayoutCards() {
  const money = useMoney()
  return (
    <Cards<Payout> to={pageOf}>
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
                    <bdi>{payout.payout_method}</bdi>
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
