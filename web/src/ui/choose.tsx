/** Selection of records in a list, for bulk actions. */
import { Box, Button, Checkbox, Stack, Typography } from '@mui/material'
import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import { type Identifier, useListContext } from 'react-admin'
import { count } from './format.ts'
import { visuallyHidden } from './visually.ts'

interface Choice {
  id: Identifier
  name: string
  checked: boolean
  onChange: () => void
}

/** Rows that give way to those of another filter or page cannot be chosen; it only looks so where they stay for long. */
const giveWaySx = { '&.Mui-disabled': { transition: 'color 0s 0.5s' } }

export function ChooseOne({ id, name, checked, onChange }: Choice) {
  const { selectedIds, isPlaceholderData } = useListContext()
  return (
    <>
      <Checkbox
        size="small"
        disabled={isPlaceholderData ?? false}
        sx={giveWaySx}
        checked={checked}
        onChange={onChange}
        slotProps={{ input: { 'aria-label': `Choose ${name}` } }}
      />
      {selectedIds.at(-1) === id && <ToChosen />}
    </>
  )
}

const BAR = 'chosen'

/**
 * Leads who has no mouse from what was chosen last to what can be done with it, past the rows in between. Only seen while it
 * has the focus.
 */
function ToChosen() {
  const { selectedIds } = useListContext()
  return (
    <Box component="span" sx={{ position: 'relative', verticalAlign: 'middle' }}>
      <Button
        size="small"
        variant="contained"
        onClick={() => document.getElementById(BAR)?.querySelector<HTMLElement>('input, button')?.focus()}
        sx={{
          position: 'absolute',
          left: 4,
          top: '50%',
          transform: 'translateY(-50%)',
          zIndex: 3,
          whiteSpace: 'nowrap',
          '&:not(:focus)': visuallyHidden,
        }}
      >
        Actions for {count(selectedIds.length)} chosen
      </Button>
    </Box>
  )
}

export function ChooseAll() {
  const { data, isPlaceholderData, selectedIds, onSelect } = useListContext()
  const ids = data?.map(({ id }) => id) ?? []
  const selected = ids.filter(id => selectedIds.includes(id))
  const areAllSelected = ids.length > 0 && selected.length === ids.length
  return (
    <>
      <Checkbox
        size="small"
        disabled={isPlaceholderData || ids.length === 0}
        sx={giveWaySx}
        checked={areAllSelected}
        indeterminate={selected.length > 0 && !areAllSelected}
        onChange={() =>
          onSelect(
            areAllSelected
              ? selectedIds.filter(id => !ids.includes(id))
              : [...new Set([...selectedIds, ...ids])],
          )
        }
        slotProps={{ input: { 'aria-label': 'Choose all on this page' } }}
      />
      {selectedIds.length > 0 && <ToChosen />}
    </>
  )
}

/** Clears the selection when the filter changes: hidden records must not be acted on. */
export function useChoiceEndsWithFilter(): void {
  const { filterValues, onUnselectItems } = useListContext()
  const filter = JSON.stringify(filterValues)
  const chosenOf = useRef(filter)
  useEffect(() => {
    if (chosenOf.current === filter) return
    chosenOf.current = filter
    onUnselectItems()
  }, [filter, onUnselectItems])
}

/** When a bulk action ends the selection, moves the focus from the bar, which disappears, to the list. */
function useFocusReturns(list: RefObject<HTMLElement | null>): void {
  const isEmpty = useListContext().selectedIds.length === 0
  const wasEmpty = useRef(isEmpty)
  useEffect(() => {
    const isOver = isEmpty && !wasEmpty.current
    if (isOver && document.activeElement === document.body) list.current?.focus({ preventScroll: true })
    wasEmpty.current = isEmpty
  }, [isEmpty, list])
}

/** What gets the focus is scrolled to above the bar. */
function useRoomFor(bar: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const { style } = document.documentElement
    const observer = new ResizeObserver(() => {
      const { current } = bar
      const isOver = current !== null && getComputedStyle(current).position === 'sticky'
      style.scrollPaddingBottom = isOver ? `${current.offsetHeight}px` : ''
    })
    observer.observe(bar.current!)
    return () => {
      observer.disconnect()
      style.scrollPaddingBottom = ''
    }
  }, [bar])
}

/**
 * The number of selected records, over all pages, and the bulk actions. It sits below the rows at the window's edge, so
 * that no row moves when it appears; after them where the window is so low that few rows would be left.
 */
export function ChoiceBar({ list, children }: { list: RefObject<HTMLElement | null>; children: ReactNode }) {
  const { selectedIds } = useListContext()
  const bar = useRef<HTMLDivElement>(null)
  useFocusReturns(list)
  useRoomFor(bar)
  return (
    <Stack
      ref={bar}
      id={BAR}
      role="region"
      aria-label="Chosen"
      direction="row"
      sx={{
        // Hidden rather than removed: a dialog with the results may still be open in it.
        display: selectedIds.length === 0 ? 'none' : 'flex',
        gap: 1,
        px: 2,
        py: 1,
        alignItems: 'center',
        flexWrap: 'wrap',
        bgcolor: 'primary.light',
        borderTop: 1,
        borderColor: 'divider',
        borderRadius: '0 0 11px 11px',
        position: 'sticky',
        bottom: 0,
        zIndex: 2,
        '@media (max-height: 480px)': { position: 'static' },
      }}
    >
      <Typography sx={{ fontWeight: 600 }}>{count(selectedIds.length)} chosen</Typography>
      <Box sx={{ flex: 1 }} />
      {children}
    </Stack>
  )
}
