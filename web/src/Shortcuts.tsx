/** Global keyboard shortcuts: search, and the list of shortcuts. */
import SearchIcon from '@mui/icons-material/Search'
import { Box, Button, Dialog, DialogActions, DialogContent, DialogTitle } from '@mui/material'
import { Suspense, useEffect, useState } from 'react'
import { lazily } from './ui/lazily.ts'

const loadSearch = () => import('./Search.tsx')
const SearchDialog = lazily(loadSearch, 'SearchDialog')

/** Preloads the search soon after the page, so that the first letters typed into it are not lost. */
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

export function Shortcuts() {
  const [open, setOpen] = useState<Open>()
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const dialog = dialogOf(event)
      if (!dialog) return
      event.preventDefault()
      setOpen(dialog)
    }
    const search = () => setOpen('search')
    addEventListener('keydown', press)
    addEventListener(OPEN_SEARCH, search)
    return () => {
      removeEventListener('keydown', press)
      removeEventListener(OPEN_SEARCH, search)
    }
  }, [])
  useEffect(() => {
    const timer = setTimeout(() => loadSearch().catch(() => {}), LOADED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  const close = () => setOpen(undefined)
  return (
    <>
      {open === 'search' && (
        <Suspense>
          <SearchDialog onClose={close} />
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
