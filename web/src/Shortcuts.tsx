/** Global keyboard shortcuts: search, and the list of shortcuts. */
import SearchIcon from '@mui/icons-material/Search'
import { Box, Button, Dialog, DialogActions, DialogContent, DialogTitle } from '@mui/material'
import { Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { lazily } from './ui/lazily.ts'

const loadSearch = () => import('./Search.tsx')
const SearchDialog = lazily(loadSearch, 'SearchDialog')

/** Preloads the search soon after the page, so that it opens at once. */
const LOADED_AFTER_MS = 1500

type Open = 'search' | 'keys' | undefined

/** Event that opens the search from elsewhere on the page. */
const OPEN_SEARCH = 'affiliated:search'

const keys = [
  { keys: ['/', 'Ctrl K'], does: 'Search everything' },
  { keys: ['?'], does: 'This list' },
  { keys: ['Esc'], does: 'Close what is open' },
]

/** Whether a key press is text input, or has a meaning of its own there. */
const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.closest(
      'input, textarea, select, [role=dialog], [role=alertdialog], [role=listbox], [role=menu]',
    ) !== null)

function dialogOf({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent): Open {
  if (key.toLowerCase() === 'k' && (ctrlKey || metaKey)) return 'search'
  if (ctrlKey || metaKey || altKey || isTyping(target)) return undefined
  if (key === '/') return 'search'
  return key === '?' ? 'keys' : undefined
}

/** The text after a key press before there is a field for it; undefined where the key is no text. */
function typedBy({ key, ctrlKey, metaKey, altKey }: KeyboardEvent, text: string): string | undefined {
  if (ctrlKey || metaKey || altKey) return undefined
  if (key === 'Backspace') return text.slice(0, -1)
  // It must not press the button that has the focus.
  if (key === 'Enter') return text
  return key.length === 1 ? text + key : undefined
}

export function Shortcuts() {
  const [open, setOpen] = useState<Open>()
  /** What is typed until the search is there to take it. */
  const early = useRef<string>(undefined)
  useEffect(() => {
    const show = (dialog: Open) => {
      if (dialog === 'search' && open !== 'search') early.current ??= ''
      setOpen(dialog)
    }
    const keepEarly = (event: KeyboardEvent): boolean => {
      const text = early.current === undefined ? undefined : typedBy(event, early.current)
      if (text === undefined) return false
      early.current = text
      return true
    }
    const press = (event: KeyboardEvent) => {
      const isKept = keepEarly(event)
      const dialog = isKept ? undefined : dialogOf(event)
      if (dialog) show(dialog)
      if (isKept || dialog) event.preventDefault()
    }
    const search = () => show('search')
    addEventListener('keydown', press)
    addEventListener(OPEN_SEARCH, search)
    return () => {
      removeEventListener('keydown', press)
      removeEventListener(OPEN_SEARCH, search)
    }
  }, [open])
  useEffect(() => {
    const timer = setTimeout(() => loadSearch().catch(() => {}), LOADED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  const close = () => setOpen(undefined)
  const takeEarly = useCallback(() => {
    const text = early.current ?? ''
    early.current = undefined
    return text
  }, [])
  return (
    <>
      {open === 'search' && (
        <Suspense>
          <SearchDialog onClose={close} takeEarly={takeEarly} />
        </Suspense>
      )}
      {open === 'keys' && <Keys onClose={close} />}
    </>
  )
}

export function SearchButton({ onOpen }: { onOpen?: (() => void) | undefined }) {
  return (
    <Box sx={{ px: 2, pb: 1 }}>
      <Button
        fullWidth
        variant="outlined"
        startIcon={<SearchIcon />}
        endIcon={<Key name="/" />}
        aria-keyshortcuts="/ Control+K"
        onClick={() => {
          onOpen?.()
          dispatchEvent(new Event(OPEN_SEARCH))
        }}
        sx={{
          justifyContent: 'flex-start',
          borderColor: 'divider',
          color: 'text.secondary',
          fontWeight: 450,
          '& .MuiButton-endIcon': { ml: 'auto' },
        }}
      >
        Search
      </Button>
    </Box>
  )
}

function Key({ name }: { name: string }) {
  return (
    <Box
      component="kbd"
      sx={{
        border: 1,
        borderColor: 'divider',
        borderRadius: 1,
        px: 0.75,
        fontSize: '0.75rem !important',
        fontFamily: 'inherit',
        color: 'text.secondary',
        whiteSpace: 'nowrap',
      }}
    >
      {name}
    </Box>
  )
}

function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} aria-labelledby="keys-title" maxWidth="xs" fullWidth>
      <DialogTitle id="keys-title">Keyboard</DialogTitle>
      <DialogContent>
        <Box component="dl" sx={{ m: 0, display: 'grid', gridTemplateColumns: 'auto 1fr', gap: 1.5 }}>
          {keys.map(({ keys, does }) => (
            <Box key={does} sx={{ display: 'contents' }}>
              <Box component="dt" sx={{ display: 'flex', gap: 0.75 }}>
                {keys.map(name => (
                  <Key key={name} name={name} />
                ))}
              </Box>
              <Box component="dd" sx={{ m: 0 }}>
                {does}
              </Box>
            </Box>
          ))}
        </Box>
      </DialogContent>
      <DialogActions>
        <Button onClick={onClose} autoFocus>
          Close
        </Button>
      </DialogActions>
    </Dialog>
  )
}
