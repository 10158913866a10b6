import type { Column } from '../ui/column.ts'
import { RecordList } from '../ui/RecordList.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { RowLink } from '../ui/table.tsx'
import { sources } from './pages.ts'
import { nameOf, type Source, types } from './source.ts'

export function SourceList() {
  return (
    <RecordList<Source>
      of={sources}
      columns={columns}
      search="Name or number"
      empty="A source receives events from Stripe, WooCommerce or your own program, and records them as conversions."
      createLabel="Set up source"
    />
  )
}

const columns: Column<Source>[] = [
  {
    label: 'Name',
    sort: 'name',
    cell: source => (
      <RowLink to={`/sources/${source.id}`}>
        <bdi>{nameOf(source)}</bdi>
      </RowLink>
    ),
    minWidth: 110,
    card: '1 left',
  },
  { label: 'Type', sort: 'type', cell: ({ type }) => types[type], card: '2 left' },
  { label: 'Context', sort: 'context', cell: ({ context }) => <bdi>{context || '–'}</bdi>, wideOnly: true },
  { label: 'Last problem', cell: ({ problem }) => problem || '–', maxWidth: 320, wideOnly: true },
  { label: 'Status', sort: 'status', cell: ({ status }) => <StatusChip status={status} />, card: '1 right' },
]
