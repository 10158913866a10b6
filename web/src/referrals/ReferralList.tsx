import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { numberedName } from '../affiliates/affiliate.tsx'
import type { Column } from '../ui/column.ts'
import { Day } from '../ui/Day.tsx'
import { AmountFilter, ChoiceFilter, DateFilter, TextFilter } from '../ui/filters.tsx'
import { type Money, useMoney } from '../ui/format.ts'
import { BulkMoves } from '../ui/moves.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { RecordList } from '../ui/RecordList.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { StatusTabs } from '../ui/StatusTabs.tsx'
import { capital } from '../ui/words.ts'
import { referrals } from './pages.ts'
import { moving, nameOf, type Referral, statuses, types } from './referral.ts'

export function ReferralList() {
  return (
    <RecordList<Referral>
      of={referrals}
      columns={columnsOf(useMoney())}
      search="Number or words"
      above={<StatusTabs resource="referrals" statuses={statuses} />}
      filters={
        <>
          <AffiliateInput nameOf={numberedName} helperText={false} sx={{ width: { sm: 220 } }} />
          <ChoiceFilter source="type" label="Type" choices={types} />
          <TextFilter source="campaign" label="Campaign" />
          <TextFilter source="context" label="Context" />
          <AmountFilter />
          <DateFilter />
        </>
      }
      empty="A referral is an affiliate's earning from a sale, a lead or a sign-up. Your shop sends referrals through the API, or you record one here."
      createLabel="Record referral"
      bulk={{ nameOf, actions: <BulkMoves moving={moving} /> }}
    />
  )
}

const columnsOf = (money: Money): Column<Referral>[] => [
  {
    label: 'Referral',
    sort: 'id',
    cell: ({ id }) => <RecordLink kind="referral" id={id} />,
    card: '3 right',
  },
  { label: 'Date', sort: 'date', cell: ({ date }) => <Day text={date} />, card: '3 left' },
  {
    label: 'Affiliate',
    sort: 'affiliate_name',
    cell: ({ affiliate_id }) => <AffiliateName id={affiliate_id} link />,
    minWidth: 96,
    card: '1 left',
  },
  {
    label: 'For',
    cell: ({ description, reference, id }) => <bdi>{description || reference || `Referral ${id}`}</bdi>,
    maxWidth: 260,
    minWidth: 70,
    card: '2 left',
  },
  {
    label: 'Reference',
    sort: 'reference',
    cell: ({ reference }) => <bdi>{reference || '–'}</bdi>,
    maxWidth: 160,
    wideOnly: true,
  },
  { label: 'Type', sort: 'type', cell: ({ type }) => capital(type), wideOnly: true },
  {
    label: 'Status',
    sort: 'status',
    cell: ({ status }) => <StatusChip status={status} />,
    card: '2 right',
  },
  {
    label: 'Amount',
    sort: 'amount',
    cell: ({ amount }) => <strong>{money.full(amount)}</strong>,
    figures: true,
    card: '1 right',
  },
]
