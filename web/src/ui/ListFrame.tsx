/** The frame of every list: filters, rows or an empty state, and pagination. */
import FilterIcon from '@mui/icons-material/FilterList'
import { Badge, Box, Button, Card, Collapse, Stack, useMediaQuery } from '@mui/material'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import {
  FilterLiveForm,
  ListContextProvider,
  Pagination,
  RecordContextProvider,
  TextInput,
  useListContext,
} from 'react-admin'
import { useSearchParams } from 'react-router-dom'
import { envelopeOf } from '../api.ts'
import { ChoiceBar, useChoiceEndsWithFilter } from './choose.tsx'
import { AskingInRow } from './dialog.ts'
import { count } from './format.ts'
import { useRememberedList } from './lists.ts'
import { Empty, Problem } from './Page.tsx'
import { type Theme, visuallyHidden } from './visually.ts'

/** The list's context. A filter that applies late is dropped once the user has left the list: it would lead back to it. */
function useFiltersHere() {
  const context = useListContext()
  const { resource } = context
  const list = useMemo(() => ({ resource, path: window.location.pathname }), [resource])
  const setFilters: typeof context.setFilters = (...filters) => {
    if (window.location.pathname === list.path) context.setFilters(...filters)
  }
  return { ...context, setFilters }
}

/** List filters. Each applies as the user types (debounced). On narrow screens they fold behind a button. */
export function Filters({ search, children }: { search?: ReactNode; children: ReactNode }) {
  const context = useFiltersHere()
  const { filterValues, setFilters } = context
  const wide = useMediaQuery<Theme>(theme => theme.breakpoints.up('sm'))
  const [open, setOpen] = useState(false)
  const active = Object.entries(filterValues).filter(([name, value]) => name !== 'search' && value).length
  const reset = Object.keys(filterValues).length > 0 && (
    <Button onClick={() => setFilters({}, {})} sx={{ alignSelf: 'center' }}>
      Clear filters
    </Button>
  )
  return (
    <Box role="search" sx={{ mb: 2 }}>
      {/* Below a record's page: its values are none of the filters'. */}
      <RecordContextProvider value={undefined}>
        <ListContextProvider value={context}>
          <FilterLiveForm>
            <Stack
              direction="row"
              sx={{ columnGap: 1.25, rowGap: 1.75, flexWrap: 'wrap', alignItems: 'flex-start' }}
            >
              {search && <Box sx={{ flex: { xs: '1 1 150px', sm: '0 1 280px' } }}>{search}</Box>}
              {wide ? (
                <>
                  {children}
                  {reset}
                </>
              ) : (
                <Button
                  startIcon={
                    <Badge badgeContent={active} color="primary">
                      <FilterIcon />
                    </Badge>
                  }
                  aria-expanded={open}
                  onClick={() => setOpen(!open)}
                  sx={{ height: 38 }}
                >
                  Filters
                </Button>
              )}
            </Stack>
            {!wide && (
              <Collapse in={open} unmountOnExit>
                <Stack sx={{ gap: 1.5, pt: 1.5 }}>
                  {children}
                  {reset}
                </Stack>
              </Collapse>
            )}
          </FilterLiveForm>
        </ListContextProvider>
      </RecordContextProvider>
    </Box>
  )
}

/** @param hint the fields that are searched */
export function Search({ hint }: { hint: string }) {
  return (
    <TextInput
      source="search"
      label="Search"
      placeholder={hint}
      type="search"
      helperText={false}
      fullWidth
      slotProps={{ inputLabel: { shrink: true }, htmlInput: { maxLength: 254 } }}
    />
  )
}

/** Removes an unknown sort order from the URL (an old bookmark, say), so that the list falls back to its own. */
function useKnownOrder(error: unknown): void {
  const [, setParameters] = useSearchParams()
  const { params } = envelopeOf(error).data ?? {}
  const isUnknown = params !== undefined && ('orderby' in params || 'order' in params)
  useEffect(() => {
    if (!isUnknown) return
    const withoutOrder = (parameters: URLSearchParams) => {
      for (const name of ['sort', 'order']) parameters.delete(name)
      return parameters
    }
    setParameters(withoutOrder, { replace: true })
  }, [isUnknown, setParameters])
}

interface RowsProps {
  /** Empty state, when there are no records even without filters. */
  empty: ReactNode
  /** The initial filter, which the user did not set. */
  first?: object | undefined
  table: ReactNode
  cards: ReactNode
  /** Bulk actions for the selected records. */
  bulkActions?: ReactNode
}

export function Rows({ empty, first = {}, table, cards, bulkActions }: RowsProps) {
  const { data, error, isPending, isPlaceholderData, total, refetch } = useListContext()
  const list = useRef<HTMLDivElement>(null)
  useKnownOrder(error)
  useRememberedList()
  useChoiceEndsWithFilter()
  const isWide = useMediaQuery<Theme>(theme => theme.breakpoints.up('md'))
  const [isAsking, setAsking] = useState(false)
  const [asTable, setAsTable] = useState(isWide)
  if (asTable !== isWide && !isAsking) setAsTable(isWide)
  const problem = Boolean(error) && <Problem error={error} retry={() => refetch()} />
  // What is shown stays when it cannot be read again.
  if (problem && !data) return problem
  const isEmpty = !isPending && total === 0
  return (
    <Card sx={{ overflow: 'visible' }} tabIndex={-1} ref={list} data-rows aria-busy={isPlaceholderData}>
      {problem}
      <Found total={isPending || isPlaceholderData ? undefined : total} />
      {isEmpty ? (
        <NoRows empty={empty} first={first} />
      ) : (
        <>
          <AskingInRow value={setAsking}>{asTable ? table : cards}</AskingInRow>
          <Pagination rowsPerPageOptions={[10, 25, 50, 100]} />
        </>
      )}
      {/* Also where no row is left: what the action has to say of the last ones is still to come. */}
      {bulkActions && <ChoiceBar list={list}>{bulkActions}</ChoiceBar>}
    </Card>
  )
}

/** What somebody who filters hears without leaving the filter. @param total unknown while the list is read */
function Found({ total }: { total: number | undefined }) {
  return (
    <Box role="status" sx={visuallyHidden}>
      {total !== undefined && `${count(total)} found`}
    </Box>
  )
}

function NoRows({ empty, first }: { empty: ReactNode; first: object }) {
  const { filterValues, setFilters } = useListContext()
  const filterText = JSON.stringify(filterValues)
  const narrowed = filterText !== '{}' && filterText !== JSON.stringify(first)
  if (!narrowed) return empty
  return (
    <Empty title="Nothing matches" action={<Button onClick={() => setFilters({}, {})}>Clear filters</Button>}>
      No records match all filters.
    </Empty>
  )
}
