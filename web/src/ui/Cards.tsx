/** The rows of a list as cards, for narrow screens: with the sorting and selection of the table. */
import ArrowDownIcon from '@mui/icons-material/ArrowDownward'
import ArrowUpIcon from '@mui/icons-material/ArrowUpward'
import {
  Box,
  IconButton,
  List,
  ListItem,
  ListItemButton,
  MenuItem,
  Skeleton,
  Stack,
  TextField,
} from '@mui/material'
import type { ReactNode } from 'react'
import { type RaRecord, useListContext } from 'react-admin'
import { Link as RouterLink } from 'react-router-dom'
import { ChooseAll, ChooseOne } from './choose.tsx'
import { type Column, firstOrder } from './column.ts'
import { figures } from './table.tsx'

interface Props<R> {
  /** Columns to sort by. */
  columns: Column<R>[]
  /** Address that a card links to; without it, cards are not links. */
  to?: (record: R) => string
  /** Actions for the record, below the card, since the card itself is a single link. */
  action?: (record: R) => ReactNode
  /** Label of the record's checkbox; present where records can be selected. */
  nameOf?: (record: R) => string
  children: (record: R) => ReactNode
}

export function Cards<R extends RaRecord>({ columns, to, action, nameOf, children }: Props<R>) {
  const { data, isPending, selectedIds, onToggleItem } = useListContext<R>()
  return (
    <>
      <Stack
        direction="row"
        sx={{ alignItems: 'center', px: 2, py: 1.5, gap: 1, borderBottom: 1, borderColor: 'divider' }}
      >
        {nameOf && (
          <Box sx={{ ml: -1.25 }}>
            <ChooseAll />
          </Box>
        )}
        <SortBy columns={columns} />
      </Stack>
      {isPending && <WaitingCards />}
      <List disablePadding>
        {data?.map(record => (
          <ListItem key={record.id} disablePadding divider sx={{ display: 'block' }}>
            <Box sx={{ display: 'flex', alignItems: 'flex-start' }}>
              {nameOf && (
                <Box sx={{ pt: 1, pl: 0.75 }}>
                  <ChooseOne
                    id={record.id}
                    name={nameOf(record)}
                    checked={selectedIds.includes(record.id)}
                    onChange={() => onToggleItem(record.id)}
                  />
                </Box>
              )}
              {to ? (
                <ListItemButton
                  component={RouterLink}
                  to={to(record)}
                  sx={{ display: 'block', minWidth: 0, py: 1.5, ...(nameOf && { pl: 0.5 }) }}
                >
                  {children(record)}
                </ListItemButton>
              ) : (
                <Box sx={{ flex: 1, minWidth: 0, px: 2, py: 1.5 }}>{children(record)}</Box>
              )}
            </Box>
            {action && (
              <Box sx={{ px: 2, pb: 1.5, textAlign: 'right', '&:empty': { display: 'none' } }}>
                {action(record)}
              </Box>
            )}
          </ListItem>
        ))}
      </List>
    </>
  )
}

function WaitingCards() {
  return (
    <Stack sx={{ p: 2, gap: 2 }}>
      {[0, 1, 2, 3].map(row => (
        <Skeleton key={row} variant="rounded" height={52} />
      ))}
    </Stack>
  )
}

/** Replaces sorting by column headings. */
function SortBy<R>({ columns }: { columns: Column<R>[] }) {
  const { sort, setSort } = useListContext()
  const choices = columns.filter(column => column.sort !== undefined)
  const sortColumn = choices.find(column => column.sort === sort.field)
  const isAscending = sort.order === 'ASC'
  return (
    <>
      <TextField
        select
        label="Sort by"
        value={sortColumn?.sort ?? ''}
        onChange={({ target }) => {
          const column = choices.find(choice => choice.sort === target.value)
          if (column) setSort({ field: target.value, order: firstOrder(column) })
        }}
        sx={{ flex: 1, maxWidth: 260 }}
      >
        {choices.map(({ sort: field, label }) => (
          <MenuItem key={field} value={field}>
            {label}
          </MenuItem>
        ))}
      </TextField>
      <IconButton
        aria-label={isAscending ? 'Ascending: reverse' : 'Descending: reverse'}
        onClick={() => setSort({ field: sort.field, order: isAscending ? 'DESC' : 'ASC' })}
      >
        {isAscending ? <ArrowUpIcon fontSize="small" /> : <ArrowDownIcon fontSize="small" />}
      </IconButton>
    </>
  )
}

/** Two ends of one line of a card. */
export function Ends({ left, right }: { left: ReactNode; right: ReactNode }) {
  return (
    <Stack direction="row" sx={{ justifyContent: 'space-between', alignItems: 'baseline', gap: 2 }}>
      <Box sx={{ minWidth: 0, overflowWrap: 'anywhere' }}>{left}</Box>
      <Box sx={{ ...figures, flexShrink: 0 }}>{right}</Box>
    </Stack>
  )
}
