/** The list of a kind of record: it supplies columns and filters as data, everything else is shared. */
import AddIcon from '@mui/icons-material/Add'
import { Button, Stack, Typography } from '@mui/material'
import type { ReactNode } from 'react'
import { ListBase, type RaRecord, useListContext } from 'react-admin'
import { Link } from 'react-router-dom'
import { API, orderOf, queryOf } from '../api.ts'
import { useCan } from '../session.tsx'
import { Cards, Ends } from './Cards.tsx'
import type { Column } from './column.ts'
import { ExportLink } from './ExportLink.tsx'
import { Filters, Rows, Search } from './ListFrame.tsx'
import { Empty, Page } from './Page.tsx'
import { pageOf, type RecordPages } from './pages.ts'
import { RecordTable } from './RecordTable.tsx'
import { InsideLink } from './table.tsx'

interface Props<R extends RaRecord<number>> {
  of: RecordPages
  columns: Column<R>[]
  /** Default: newest first, by identifier. */
  sort?: { field: string; order: 'ASC' | 'DESC' }
  /** The fields that are searched. */
  search: string
  filters?: ReactNode
  /** Initial filter. */
  filter?: object
  /** Content above the list, such as totals. */
  above?: ReactNode
  /** Text of the empty state: what these records are. */
  empty: ReactNode
  /** Label of a record's checkbox, and the bulk actions. */
  bulk?: { nameOf: (record: R) => string; actions: ReactNode }
  /** For example 'Create creative'; without it the list has no create button. */
  createLabel?: string
}

const newest = { field: 'id', order: 'DESC' } as const

/** What cards are sorted by as well, since lists begin with the newest and few have a column that says so. */
const byNumber = {
  label: 'Number',
  sort: newest.field,
  figures: true,
  cell: ({ id }: RaRecord<number>) => id,
} as const

export function RecordList<R extends RaRecord<number>>(props: Props<R>) {
  const { of, columns, sort = newest, search, filters, filter, above, empty, createLabel } = props
  const several = of.name[1]
  const Icon = of.icon
  const can = useCan()
  const create = createLabel && can(`${of.resource}.create`) && (
    <CreateLink to={`/${of.resource}/create`} label={createLabel} />
  )
  const to = of.show || of.edit ? (record: R) => pageOf(of, record.id)! : undefined
  const opening = to && { to }
  const bulk = can(`${of.resource}.edit`) ? props.bulk : undefined
  const choice = bulk && { nameOf: bulk.nameOf }
  const sortable = columns.some(({ sort }) => sort === byNumber.sort) ? columns : [byNumber, ...columns]
  return (
    <ListBase
      resource={of.resource}
      perPage={25}
      sort={sort}
      storeKey={false}
      {...(filter && { filterDefaultValues: filter })}
    >
      <Page
        title={several}
        actions={
          <>
            <ExportOfList resource={of.resource} />
            {create}
          </>
        }
      >
        {above}
        <Filters search={<Search hint={search} />}>{filters}</Filters>
        <Rows
          first={filter}
          empty={
            <Empty icon={<Icon />} title={`No ${several.toLowerCase()} yet`} action={create}>
              {empty}
            </Empty>
          }
          table={<RecordTable<R> label={several} columns={columns} {...opening} {...choice} />}
          cards={
            <Cards<R> columns={sortable} {...opening} {...choice}>
              {record => <Card record={record} columns={columns} />}
            </Cards>
          }
          bulkActions={bulk?.actions}
        />
      </Page>
    </ListBase>
  )
}

function CreateLink({ to, label }: { to: string; label: string }) {
  return (
    <Button component={Link} to={to} variant="contained" startIcon={<AddIcon />}>
      {label}
    </Button>
  )
}

/** Export of the list with its current filters and order. */
function ExportOfList({ resource }: { resource: string }) {
  const { filterValues, sort } = useListContext()
  const query = queryOf({ format: 'csv', ...filterValues, ...orderOf(sort) })
  return <ExportLink href={`${API}/exports/${resource}?${query}`} />
}

/** A record as a card: up to three lines with two ends each. */
function Card<R extends RaRecord>({ record, columns }: { record: R; columns: Column<R>[] }) {
  const at = (place: Column<R>['card']) => columns.find(({ card }) => card === place)?.cell(record)
  const lines = ([1, 2, 3] as const).filter(line =>
    columns.some(({ card }) => card?.startsWith(String(line))),
  )
  return (
    <InsideLink value={true}>
      <Stack sx={{ gap: 0.5 }}>
        {lines.map(line => (
          <Ends
            key={line}
            left={
              <Typography
                component="div"
                variant={line === 1 ? 'body2' : 'caption'}
                sx={line === 1 ? { fontWeight: 580 } : { color: 'text.secondary' }}
              >
                {at(`${line} left`)}
              </Typography>
            }
            right={
              <Typography component="div" variant={line === 1 ? 'body2' : 'caption'}>
                {at(`${line} right`)}
              </Typography>
            }
          />
        ))}
      </Stack>
    </InsideLink>
  )
}
