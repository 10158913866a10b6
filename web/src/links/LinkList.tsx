import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { numberedName } from '../affiliates/affiliate.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import type { Column } from '../ui/column.ts'
import { Day } from '../ui/Day.tsx'
import { TextFilter } from '../ui/filters.tsx'
import { count } from '../ui/format.ts'
import { RecordList } from '../ui/RecordList.tsx'
import { Breakable, RowLink } from '../ui/table.tsx'
import { LeadsTo } from './LeadsTo.tsx'
import { addressOf, type Link } from './link.ts'
import { links } from './pages.ts'
import { useVisitorUrl } from './useVisitorUrl.ts'

export function LinkList() {
  return (
    <RecordList<Link>
      of={links}
      columns={columns}
      search="Code or number"
      filters={
        <>
          <AffiliateInput nameOf={numberedName} helperText={false} sx={{ width: { sm: 220 } }} />
          <TextFilter source="campaign" label="Campaign" />
        </>
      }
      empty="A link leads visitors to a page of your shop and identifies the affiliate who sent them."
      createLabel="Create link"
    />
  )
}

function CopyAddress({ link }: { link: Link }) {
  return <CopyButton text={addressOf(link, useVisitorUrl())} name="address" />
}

const columns: Column<Link>[] = [
  {
    label: 'Code',
    sort: 'code',
    cell: link => (
      <>
        <RowLink to={`/links/${link.id}/show`}>
          <bdi>{link.code}</bdi>
        </RowLink>
        <CopyAddress link={link} />
      </>
    ),
    minWidth: 110,
    card: '1 left',
  },
  {
    label: 'Affiliate',
    sort: 'affiliate_name',
    cell: ({ affiliate_id }) => <AffiliateName id={affiliate_id} link />,
    minWidth: 96,
    card: '2 left',
  },
  {
    label: 'Leads to',
    cell: link => <LeadsTo link={link} />,
    minWidth: 140,
    card: '3 left',
  },
  {
    label: 'Campaign',
    sort: 'campaign',
    cell: ({ campaign }) => <Breakable text={campaign || '–'} />,
    wideOnly: true,
  },
  { label: 'Visits', sort: 'visits', cell: ({ visits }) => count(visits), figures: true, card: '1 right' },
  { label: 'Created', sort: 'date', cell: ({ date }) => <Day text={date} />, figures: true, wideOnly: true },
]
