import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { numberedName } from '../affiliates/affiliate.tsx'
import type { Column } from '../ui/column.ts'
import { Day } from '../ui/Day.tsx'
import { ChoiceFilter } from '../ui/filters.tsx'
import { RecordList } from '../ui/RecordList.tsx'
import { capital } from '../ui/words.ts'
import { type Detail, detailMethods, detailStatuses } from './detail.ts'
import { paymentDetails } from './pages.ts'

export function DetailList() {
  return (
    <RecordList<Detail>
      of={paymentDetails}
      columns={columns}
      search="Number or affiliate"
      filters={
        <>
          <AffiliateInput nameOf={numberedName} helperText={false} sx={{ width: { sm: 220 } }} />
          <ChoiceFilter source="method" label="Method" choices={detailMethods.map(({ id }) => id)} />
          <ChoiceFilter source="status" label="Status" choices={detailStatuses} />
        </>
      }
      empty="Where affiliates are paid: a PayPal address or a bank account. Stored encrypted, and shown masked."
      createLabel="Enter payment details"
    />
  )
}

const columns: Column<Detail>[] = [
  {
    label: 'Affiliate',
    sort: 'affiliate_name',
    cell: ({ affiliate_id }) => <AffiliateName id={affiliate_id} link />,
    card: '1 left',
  },
  { label: 'Method', sort: 'method', cell: ({ method }) => capital(method), card: '1 right' },
  { label: 'Account', cell: ({ account }) => <bdi>{account || 'erased'}</bdi>, card: '2 left' },
  { label: 'Holder', cell: ({ holder }) => <bdi>{holder || '–'}</bdi>, wideOnly: true },
  { label: 'Status', sort: 'status', cell: ({ status }) => capital(status), card: '2 right' },
  { label: 'Entered', sort: 'date', cell: ({ date }) => <Day text={date} />, card: '3 left' },
  { label: 'Used from', cell: ({ usable_from }) => <Day text={usable_from} />, wideOnly: true },
]
