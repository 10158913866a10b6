/** The rows of a list as a table: sorted by its headings, and chosen by boxes where several can be acted on at once. */
import {
  Box,
  Checkbox,
  Skeleton,
  Stack,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  TableSortLabel,
  Typography,
  useMediaQuery,
} from '@mui/material'
import type { ReactNode } from 'react'
import { type RaRecord, useListContext } from 'react-admin'
import { useNavigate } from 'react-router-dom'
import { count } from './format.ts'
import { figures } from './table.tsx'
import type { Theme } from './visually.ts'

export interface Column<R> {
  label: string
  /** What it is sorted by; a column without can't be sorted. */
  sort?: string
  cell: (record: R) => ReactNode
  /** Figures stand under each other, digit by digit. */
  figures?: boolean
  /** In pixels; without it a column is as wide as its longest word. */
  minWidth?: number
  /** More only where there is room. */
  maxWidth?: number
  /** Left out of narrower windows: what matters less gives way to what matters more. */
  wideOnly?: boolean
}

interface Props<R> {
  label: string
  columns: Column<R>[]
  /** Where a click on a row leads. The row's link leads there too, for the keyboard. */
  to?: (record: R) => string
  /** How a row is called where it is chosen. */
  nameOf?: (record: R) => string
  /** What can be done with those that are chosen. */
  bulkActions?: ReactNode
}

const WAITING_ROWS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** Text breaks at its words. What alone is wider than its column may be breaks anywhere. */
const MAX_TEXT_WIDTH = 300

export function RecordTable<R extends RaRecord>({ label, columns: all, to, nameOf, bulkActions }: Props<R>) {
  const { data, isPending } = useListContext<R>()
  const wide = useMediaQuery<Theme>(theme => theme.breakpoints.up('lg'))
  const columns = all.filter(({ wideOnly }) => wide || !wideOnly)
  return (
    <>
      {bulkActions && <Chosen>{bulkActions}</Chosen>}
      <TableContainer>
        <Table
          size="small"
          aria-label={label}
          sx={{
            '& tbody tr:last-of-type td': { borderBottom: 0 },
            '& th, & td': { px: { md: 1.25, xl: 1.75 } },
          }}
        >
          <TableHead>
            <TableRow>
              {bulkActions && <ChooseAll />}
              {columns.map(column => (
                <Heading key={column.label} column={column} />
              ))}
            </TableRow>
          </TableHead>
          <TableBody>
            {isPending &&
              WAITING_ROWS.map(row => (
                <TableRow key={row}>
                  <TableCell colSpan={columns.length + (bulkActions ? 1 : 0)}>
                    <Skeleton height={30} />
                  </TableCell>
                </TableRow>
              ))}
            {data?.map(record => (
              <Row
                key={record.id}
                record={record}
                columns={columns}
                to={to}
                nameOf={bulkActions ? nameOf : undefined}
              />
            ))}
          </TableBody>
        </Table>
      </TableContainer>
    </>
  )
}

function Row<R extends RaRecord>({
  record,
  columns,
  to,
  nameOf,
}: {
  record: R
  columns: Column<R>[]
  to?: ((record: R) => string) | undefined
  nameOf?: ((record: R) => string) | undefined
}) {
  const { selectedIds, onToggleItem } = useListContext<R>()
  const navigate = useNavigate()
  const chosen = selectedIds.includes(record.id)
  return (
    <TableRow
      hover
      selected={chosen}
      onClick={to && (() => navigate(to(record)))}
      sx={{ cursor: to ? 'pointer' : 'default' }}
    >
      {nameOf && (
        <TableCell padding="checkbox" onClick={event => event.stopPropagation()}>
          <Checkbox
            size="small"
            checked={chosen}
            onChange={() => onToggleItem(record.id)}
            slotProps={{ input: { 'aria-label': `Choose ${nameOf(record)}` } }}
          />
        </TableCell>
      )}
      {columns.map(column => (
        <TableCell key={column.label} sx={column.figures ? figures : textStyle(column)}>
          {column.cell(record)}
        </TableCell>
      ))}
    </TableRow>
  )
}

function textStyle<R>({ minWidth, maxWidth = MAX_TEXT_WIDTH }: Column<R>) {
  return { overflowWrap: minWidth ? 'anywhere' : 'break-word', minWidth: minWidth ?? 0, maxWidth } as const
}

function Heading<R>({ column }: { column: Column<R> }) {
  const { sort, setSort } = useListContext()
  const { label, sort: field } = column
  const active = field !== undefined && sort.field === field
  const direction = sort.order === 'DESC' ? 'desc' : 'asc'
  const style = column.figures ? figures : {}
  if (field === undefined) return <TableCell sx={style}>{label}</TableCell>
  return (
    <TableCell sx={style} sortDirection={active ? direction : false}>
      <TableSortLabel
        active={active}
        direction={active ? direction : 'asc'}
        onClick={() => setSort({ field, order: active && sort.order === 'ASC' ? 'DESC' : 'ASC' })}
        sx={{ flexDirection: column.figures ? 'row-reverse' : 'row' }}
      >
        {label}
      </TableSortLabel>
    </TableCell>
  )
}

function ChooseAll() {
  const { data, selectedIds, onSelect } = useListContext()
  const ids = data?.map(({ id }) => id) ?? []
  const chosen = ids.filter(id => selectedIds.includes(id))
  const all = ids.length > 0 && chosen.length === ids.length
  return (
    <TableCell padding="checkbox">
      <Checkbox
        size="small"
        checked={all}
        indeterminate={chosen.length > 0 && !all}
        onChange={() =>
          onSelect(all ? selectedIds.filter(id => !ids.includes(id)) : [...new Set([...selectedIds, ...ids])])
        }
        slotProps={{ input: { 'aria-label': 'Choose all on this page' } }}
      />
    </TableCell>
  )
}

/** Says how many are chosen, over all pages, beside what can be done with them. */
function Chosen({ children }: { children: ReactNode }) {
  const { selectedIds } = useListContext()
  if (selectedIds.length === 0) return null
  return (
    <Stack
      role="region"
      aria-label="Chosen"
      direction="row"
      sx={{
        gap: 1.5,
        px: 2,
        py: 1,
        alignItems: 'center',
        flexWrap: 'wrap',
        bgcolor: 'primary.light',
        borderRadius: '11px 11px 0 0',
        position: 'sticky',
        top: 0,
        zIndex: 2,
      }}
    >
      <Typography sx={{ fontWeight: 600 }}>{count(selectedIds.length)} chosen</Typography>
      <Box sx={{ flex: 1 }} />
      {children}
    </Stack>
  )
}
