import type { Column } from '../ui/column.ts'
import { Day } from '../ui/Day.tsx'
import { ChoiceFilter, DateFilter } from '../ui/filters.tsx'
import { RecordList } from '../ui/RecordList.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { Breakable, RowLink } from '../ui/table.tsx'
import { type Creative, nameOf, statuses } from './creative.ts'
import { creatives } from './pages.ts'

export function CreativeList() {
  return (
    <RecordList<Creative>
      of={creatives}
      columns={columns}
      search="Name or number"
      filters={
        <>
          <ChoiceFilter source="status" label="Status" choices={statuses} />
          <DateFilter label="Created" />
        </>
      }
      empty="A creative is a banner, a text or a page that affiliates link with."
      createLabel="Create creative"
    />
  )
}

const columns: Column<Creative>[] = [
  {
    label: 'Name',
    sort: 'name',
    cell: creative => (
      <RowLink to={`/creatives/${creative.id}`}>
        <bdi>{nameOf(creative)}</bdi>
      </RowLink>
    ),
    minWidth: 110,
    card: '1 left',
  },
  { label: 'Leads to', cell: ({ url }) => <Breakable text={url || '–'} />, minWidth: 160, card: '2 left' },
  { label: 'Status', sort: 'status', cell: ({ status }) => <StatusChip status={status} />, card: '1 right' },
  { label: 'Created', sort: 'date', cell: ({ date }) => <Day text={date} />, figures: true, card: '2 right' },
]
