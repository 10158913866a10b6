import { SelectInput } from 'react-admin'
import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { numberedName } from '../affiliates/affiliate.tsx'
import type { Column } from '../ui/column.ts'
import { Day } from '../ui/Day.tsx'
import { DateFilter, TextFilter } from '../ui/filters.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { RecordList } from '../ui/RecordList.tsx'
import { Breakable, PageAddress } from '../ui/table.tsx'
import { visits } from './pages.ts'
import type { Visit } from './visit.ts'

const outcomes = [
  { id: 'converted', name: 'Led to a referral' },
  { id: 'unconverted', name: 'Led to none' },
]

export function VisitList() {
  return (
    <RecordList<Visit>
      of={visits}
      columns={columns}
      search="Page, referrer or network"
      filters={
        <>
          <AffiliateInput nameOf={numberedName} helperText={false} sx={{ width: { sm: 220 } }} />
          <SelectInput
            source="referral_status"
            label="Outcome"
            choices={outcomes}
            emptyText="Any"
            helperText={false}
            margin="none"
            sx={{ width: { sm: 170 } }}
          />
          <TextFilter source="campaign" label="Campaign" />
          <TextFilter source="context" label="Context" />
          <DateFilter />
        </>
      }
      empty="A visit records that someone came through an affiliate's link. Your shop or the tracking script reports visits."
    />
  )
}

const columns: Column<Visit>[] = [
  { label: 'Visit', sort: 'id', cell: ({ id }) => <RecordLink kind="visit" id={id} />, card: '3 right' },
  { label: 'Date', sort: 'date', cell: ({ date }) => <Day text={date} />, card: '3 left' },
  {
    label: 'Affiliate',
    sort: 'affiliate_name',
    cell: ({ affiliate_id }) => <AffiliateName id={affiliate_id} link />,
    minWidth: 96,
    card: '1 left',
  },
  { label: 'Page', cell: ({ url }) => <PageAddress url={url} />, minWidth: 110, card: '2 left' },
  {
    label: 'From',
    cell: ({ referrer }) => <PageAddress url={referrer} />,
    minWidth: 110,
    wideOnly: true,
  },
  {
    label: 'Campaign',
    sort: 'campaign',
    cell: ({ campaign }) => <Breakable text={campaign || '–'} />,
    wideOnly: true,
  },
  {
    label: 'Led to',
    sort: 'referral_id',
    cell: ({ referral_id }) => <RecordLink kind="referral" id={referral_id} />,
    card: '1 right',
  },
]
