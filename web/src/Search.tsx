/** Global search: over every kind of record with a display name, and over the pages. */
import {
  Autocomplete,
  type AutocompleteRenderGroupParams,
  Box,
  Dialog,
  ListSubheader,
  TextField,
  Typography,
} from '@mui/material'
import { useQueries } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import type { RaRecord } from 'react-admin'
import { useNavigate } from 'react-router-dom'
import { get, queryOf } from './api.ts'
import { otherPages, recordPages } from './pages.ts'
import { useCan } from './session.tsx'
import { pageOf, type RecordPages } from './ui/pages.ts'

interface Hit {
  to: string
  group: string
  text: string
  number?: number
}

const OF_EACH = 5
const AFTER_MS = 180

const readable = (pages: readonly RecordPages[], can: (permission: string) => boolean) =>
  pages.filter(({ resource }) => can(`${resource}.read`))

const pagesFor = (can: (permission: string) => boolean): Hit[] => [
  ...otherPages
    .filter(({ needs }) => needs === undefined || can(needs))
    .map(({ path, name }) => ({ to: path, group: 'Pages', text: name })),
  ...readable(recordPages, can).flatMap(({ resource, name, create }) => [
    { to: `/${resource}`, group: 'Pages', text: name[1] },
    ...(create && can(`${resource}.create`)
      ? [{ to: `/${resource}/create`, group: 'Pages', text: `New ${name[0].toLowerCase()}` }]
      : []),
  ]),
]

const hitsIn = (of: RecordPages, records: RaRecord<number>[]): Hit[] =>
  records.flatMap(record => {
    const to = pageOf(of, record.id)
    return to ? [{ to, group: of.name[1], text: of.titleOf!(record), number: record.id }] : []
  })

/** The search text, debounced. */
function useSettled(typed: string): string {
  const [settled, setSettled] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed.trim()), AFTER_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return settled
}

/** Pages are matched at once, records after the debounce: Enter opens none that was found by an earlier text. */
function useHits(typed: string, search: string): { hits: Hit[]; isSearching: boolean } {
  const can = useCan()
  const searched = readable(recordPages, can).filter(({ titleOf }) => titleOf)
  const answers = useQueries({
    queries: searched.map(of => {
      const query = queryOf({ ...of.reads, search, number: OF_EACH })
      return {
        queryKey: ['search', of.resource, search],
        queryFn: () => get<RaRecord<number>[]>(`${of.resource}?${query}`),
        enabled: search !== '',
      }
    }),
  })
  const searchText = typed.trim().toLowerCase()
  const hits = [
    ...pagesFor(can).filter(({ text }) => text.toLowerCase().includes(searchText)),
    ...(search === typed.trim()
      ? searched.flatMap((of, number) => hitsIn(of, answers[number]?.data ?? []))
      : []),
  ]
  return { hits, isSearching: answers.some(({ isFetching }) => isFetching) }
}

interface SearchProps {
  onClose: () => void
  /** What was typed before there was a field for it. */
  takeEarly: () => string
}

const behind = (early: string) => (typed: string) => early + typed

export function SearchDialog({ onClose, takeEarly }: SearchProps) {
  const [typed, setTyped] = useState('')
  const navigate = useNavigate()
  const search = useSettled(typed)
  const { hits, isSearching } = useHits(typed, search)
  const isWaiting = isSearching || search !== typed.trim()
  return (
    <Dialog
      open
      onClose={onClose}
      slotProps={{ paper: { 'aria-label': 'Search' } }}
      sx={{ '& .MuiDialog-container': { alignItems: 'flex-start' } }}
    >
      <Autocomplete<Hit, false, false, true>
        freeSolo
        open
        autoHighlight
        forcePopupIcon={false}
        options={hits}
        filterOptions={options => options}
        groupBy={({ group }) => group}
        getOptionLabel={option => (typeof option === 'string' ? option : option.text)}
        getOptionKey={option => (typeof option === 'string' ? option : option.to)}
        inputValue={typed}
        onFocus={() => setTyped(behind(takeEarly()))}
        onInputChange={(_, text, reason) => reason === 'input' && setTyped(text)}
        onKeyDown={event => {
          // The list is always open, so its own handling of Escape would keep the dialog from closing.
          if (event.key === 'Escape') event.defaultMuiPrevented = true
        }}
        onChange={(_, hit) => {
          // Enter without a selection opens the first result.
          const to = typeof hit === 'string' ? hits[0]?.to : hit?.to
          if (!to) return
          onClose()
          navigate(to)
        }}
        renderGroup={({ key, ...group }) => <HitsOfGroup key={key} {...group} />}
        renderOption={({ key: _key, ...properties }, { to, text, number }) => (
          <Box component="li" {...properties} key={to} sx={{ gap: 1, overflowWrap: 'anywhere' }}>
            <bdi>{text}</bdi>
            {number && <HitNumber number={number} />}
          </Box>
        )}
        slotProps={{ listbox: { component: 'div', sx: { maxHeight: '60dvh' } }, paper: { elevation: 6 } }}
        renderInput={parameters => (
          <TextField
            {...parameters}
            autoFocus
            label="Search"
            placeholder="Name, e-mail, number, reference"
            helperText={helpOf(search, isWaiting, hits.length)}
          />
        )}
        sx={{ p: 2, pt: 2.5 }}
      />
    </Dialog>
  )
}

/** A list box contains groups of options, which those that Autocomplete itself draws are not. */
function HitsOfGroup({ group, children }: Pick<AutocompleteRenderGroupParams, 'group' | 'children'>) {
  const heading = useId()
  return (
    <Box
      component="ul"
      role="group"
      aria-labelledby={heading}
      sx={{ m: 0, p: 0, '& .MuiAutocomplete-option': { pl: 3 } }}
    >
      <ListSubheader id={heading} role="presentation" sx={{ top: -8, bgcolor: 'background.paper' }}>
        {group}
      </ListSubheader>
      {children}
    </Box>
  )
}

function HitNumber({ number }: Pick<Hit, 'number'>) {
  return (
    <Typography
      component="span"
      variant="caption"
      sx={{ color: 'text.secondary', ml: 'auto', whiteSpace: 'nowrap' }}
    >
      #{number}
    </Typography>
  )
}

function helpOf(search: string, isWaiting: boolean, number: number): string {
  if (isWaiting) return 'Searching'
  if (search === '') return 'Select with the arrow keys, open with Enter.'
  return number === 0 ? 'Nothing matches.' : `At most ${OF_EACH} of each kind.`
}
