import type { Column } from '../ui/column.ts'
import { Day } from '../ui/Day.tsx'
import { RecordList } from '../ui/RecordList.tsx'
import { Breakable, RowLink } from '../ui/table.tsx'
import { type Group, nameOf } from './group.ts'
import { groups } from './pages.ts'

export function GroupList() {
  return (
    <RecordList<Group>
      of={groups}
      columns={columns}
      sort={{ field: 'name', order: 'ASC' }}
      search="Name or number"
      empty="A group is a set of affiliates that share commission rules."
      createLabel="Create group"
    />
  )
}

const columns: Column<Group>[] = [
  {
    label: 'Name',
    sort: 'name',
    cell: group => (
      <RowLink to={`/groups/${group.id}`}>
        <bdi>{nameOf(group)}</bdi>
      </RowLink>
    ),
    minWidth: 140,
    card: '1 left',
  },
  {
    label: 'Description',
    cell: ({ description }) => <Breakable text={description || '–'} />,
    minWidth: 160,
    card: '2 left',
  },
  { label: 'Created', sort: 'date', cell: ({ date }) => <Day text={date} />, figures: true, card: '1 right' },
]
