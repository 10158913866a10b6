/** The rows of a list as a table, with sorting by headings and selection for bulk actions. */
import {
  Skeleton,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  TableSortLabel,
  useMediaQuery,
} from '@mui/material'
import { type MouseEvent, useMemo, useRef } from 'react'
import { type RaRecord, useListContext } from 'react-admin'
import { useHref, useNavigate } from 'react-router-dom'
import { ChooseAll, ChooseOne } from './choose.tsx'
import { type Column, firstOrder } from './column.ts'
import { figures } from './table.tsx'
import type { Theme } from './visually.ts'

interface Props<R> {
  label: string
  columns: Column<R>[]
  /** Address that a click on a row opens. For keyboard users the row contains a link to it. */
  to?: (record: R) => string
  /** Label of the row's checkbox; present where records can be selected. */
  nameOf?: (record: R) => string
}

const WAITING_ROWS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** Text breaks between words. A word wider than this column breaks anywhere. */
const MAX_TEXT_WIDTH = 300

export function RecordTable<R extends RaRecord>({ label, columns: all, to, nameOf }: Props<R>) {
  const { data, isPending, selectedIds, onToggleItem } = useListContext<R>()
  const wide = useMediaQuery<Theme>(theme => theme.breakpoints.up('lg'))
  const columns = useMemo(() => all.filter(({ wideOnly }) => wide || !wideOnly), [all, wide])
  // The state of the list changes several times while it loads: its rows are rendered when they themselves do.
  const rows = useMemo(
    () =>
      data?.map(record => (
        <Row
          key={record.id}
          record={record}
          columns={columns}
          to={to}
          nameOf={nameOf}
          selected={selectedIds.includes(record.id)}
          onToggle={onToggleItem}
        />
      )),
    [data, columns, to, nameOf, selectedIds, onToggleItem],
  )
  return (
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
            {nameOf && (
              <TableCell padding="checkbox">
                <ChooseAll />
              </TableCell>
            )}
            {columns.map(column => (
              <Heading key={column.label} column={column} />
            ))}
          </TableRow>
        </TableHead>
        <TableBody>
          {isPending &&
            WAITING_ROWS.map(row => (
              <TableRow key={row}>
                <TableCell colSpan={columns.length + (nameOf ? 1 : 0)}>
                  <Skeleton height={30} />
                </TableCell>
              </TableRow>
            ))}
          {rows}
        </TableBody>
      </Table>
    </TableContainer>
  )
}

function Row<R extends RaRecord>({
  record,
  columns,
  to,
  nameOf,
  selected,
  onToggle,
}: {
  record: R
  columns: Column<R>[]
  to?: ((record: R) => string) | undefined
  nameOf?: ((record: R) => string) | undefined
  selected: boolean
  onToggle: (id: R['id']) => void
}) {
  const opening = useOpening()
  return (
    <TableRow
      hover
      selected={selected}
      {...(to && opening(to(record)))}
      sx={{ cursor: to ? 'pointer' : 'default' }}
    >
      {nameOf && (
        <TableCell
          padding="checkbox"
          onClick={event => event.stopPropagation()}
          onAuxClick={event => event.stopPropagation()}
        >
          <ChooseOne
            id={record.id}
            name={nameOf(record)}
            checked={selected}
            onChange={() => onToggle(record.id)}
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

const MIDDLE_BUTTON = 1

/** Mouse movement, in pixels, above which a press is a text selection rather than a click. */
const DRAGGED_PIXELS = 4

/** Opens a row as a link would: in a new tab with a modifier key, and not when text was being selected. */
function useOpening() {
  const navigate = useNavigate()
  const base = useHref('/').replace(/\/$/, '')
  const pressed = useRef({ x: 0, y: 0 })
  return (path: string) => {
    const open = ({ button, ctrlKey, metaKey, clientX, clientY }: MouseEvent) => {
      const { x, y } = pressed.current
      if (Math.hypot(clientX - x, clientY - y) > DRAGGED_PIXELS) return
      if (button === MIDDLE_BUTTON || ctrlKey || metaKey) window.open(`${base}${path}`, '_blank')
      else if (button === 0) navigate(path)
    }
    const onMouseDown = ({ clientX, clientY }: MouseEvent) => {
      pressed.current = { x: clientX, y: clientY }
    }
    return { onMouseDown, onClick: open, onAuxClick: open }
  }
}

function textStyle<R>({ minWidth, maxWidth = MAX_TEXT_WIDTH }: Column<R>) {
  return { overflowWrap: minWidth ? 'anywhere' : 'break-word', minWidth: minWidth ?? 0, maxWidth } as const
}

function Heading<R>({ column }: { column: Column<R> }) {
  const { sort, setSort } = useListContext()
  const { label, sort: field } = column
  const active = field !== undefined && sort.field === field
  const direction = (active ? sort.order : firstOrder(column)) === 'DESC' ? 'desc' : 'asc'
  const opposite = sort.order === 'ASC' ? 'DESC' : 'ASC'
  const style = column.figures ? figures : {}
  if (field === undefined) return <TableCell sx={style}>{label}</TableCell>
  return (
    <TableCell sx={style} sortDirection={active ? direction : false}>
      <TableSortLabel
        active={active}
        direction={direction}
        onClick={() => setSort({ field, order: active ? opposite : firstOrder(column) })}
        sx={{ flexDirection: column.figures ? 'row-reverse' : 'row' }}
      >
        {label}
      </TableSortLabel>
    </TableCell>
  )
}
