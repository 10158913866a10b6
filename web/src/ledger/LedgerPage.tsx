import { Typography } from '@mui/material'
import { ListBase, useListContext } from 'react-admin'
import { useParams } from 'react-router-dom'
import { accounts as allAccounts } from '../../../src/programme/ledger/holdings.ts'
import { deletedName, nameOf } from '../affiliates/affiliate.tsx'
import { useAffiliate } from '../affiliates/useAffiliate.ts'
import { API, queryOf } from '../api.ts'
import { Cards, Ends } from '../ui/Cards.tsx'
import type { Column } from '../ui/column.ts'
import { Day } from '../ui/Day.tsx'
import { ExportLink } from '../ui/ExportLink.tsx'
import { ChoiceFilter, DateFilter } from '../ui/filters.tsx'
import { type Money, useMoney } from '../ui/format.ts'
import { Filters, Rows } from '../ui/ListFrame.tsx'
import { Empty, Page } from '../ui/Page.tsx'
import { RecordTable } from '../ui/RecordTable.tsx'
import { capital } from '../ui/words.ts'
import { Balances } from './Balances.tsx'
import { Settling } from './Settling.tsx'
import { Cause, type Transfer } from './Transfers.tsx'

type Row = Transfer & { id: number }

/** Earnings come from `commission`, so that a filter by it would be one by earnings. */
const accounts = allAccounts.filter(account => account !== 'commission')

/** Every transfer of an affiliate, deleted or not, with the running balance. */
export function LedgerPage() {
  const affiliateId = Number(useParams().id)
  const { affiliate, isDeleted } = useAffiliate(affiliateId)
  const name = affiliate ? nameOf(affiliate) : `Affiliate ${affiliateId}`
  const parent = isDeleted
    ? { to: '/affiliates/deleted', label: 'Deleted affiliates' }
    : { to: `/affiliates/${affiliateId}/show`, label: name }
  const ofWhom = isDeleted ? deletedName(affiliateId) : affiliate && name
  return (
    <ListBase
      resource={`affiliates/${affiliateId}/ledger`}
      perPage={25}
      sort={{ field: 'transfer_id', order: 'DESC' }}
      storeKey={false}
    >
      <Page
        title={ofWhom === undefined ? 'Ledger' : `Ledger of ${ofWhom}`}
        parent={parent}
        actions={
          <>
            <Statement affiliateId={affiliateId} />
            <Settling affiliateId={affiliateId} />
          </>
        }
      >
        <Balances affiliateId={affiliateId} />
        <Filters>
          <ChoiceFilter source="account" label="Account" choices={accounts} />
          <DateFilter />
        </Filters>
        <Rows
          empty={
            <Empty title="No transfers yet">
              Each referral and payout posts transfers from one account to another.
            </Empty>
          }
          table={<TransferTable />}
          cards={<TransferCards />}
        />
      </Page>
    </ListBase>
  )
}

/** Of the days that the list shows. */
function Statement({ affiliateId }: { affiliateId: number }) {
  const { date: { start, end } = {} } = useListContext().filterValues
  const days = queryOf({ ...(start && { from: start }), ...(end && { to: end }) })
  const path = `${API}/affiliates/${affiliateId}/statement`
  return <ExportLink href={days === '' ? path : `${path}?${days}`} label="Statement as CSV" />
}

const TransferTable = () => <RecordTable<Row> label="Ledger" columns={columnsOf(useMoney())} />

const columnsOf = (money: Money): Column<Row>[] => [
  { label: 'Date', sort: 'transfer_id', cell: ({ date }) => <Day text={date} /> },
  { label: 'Cause', cell: transfer => <Cause transfer={transfer} />, minWidth: 150 },
  { label: 'From', cell: ({ debit }) => capital(debit) },
  { label: 'To', cell: ({ credit }) => capital(credit) },
  { label: 'Amount', cell: ({ amount }) => money.full(amount), figures: true },
  { label: 'Owed afterwards', cell: ({ balance }) => <strong>{money.full(balance)}</strong>, figures: true },
]

function TransferCards() {
  const money = useMoney()
  return (
    <Cards<Row> columns={columnsOf(money)}>
      {transfer => (
        <>
          <Ends left={<Cause transfer={transfer} />} right={money.full(transfer.amount)} />
          <Ends
            left={
              <Typography variant="caption" component="div" sx={{ color: 'text.secondary' }}>
                {capital(transfer.debit)} → {capital(transfer.credit)}
                <br />
                <Day text={transfer.date} />
              </Typography>
            }
            right={<Typography variant="caption">owed {money.full(transfer.balance)}</Typography>}
          />
        </>
      )}
    </Cards>
  )
}
