/** The frame of every page: the menu at the left, or behind a button on narrow screens. */
import MenuIcon from '@mui/icons-material/Menu'
import {
  Box,
  Button,
  CssBaseline,
  Dialog,
  Drawer,
  GlobalStyles,
  IconButton,
  List,
  ListItem,
  ListItemButton,
  ListItemIcon,
  ListItemText,
  Stack,
  Typography,
  useMediaQuery,
} from '@mui/material'
import {
  type ComponentType,
  Fragment,
  memo,
  type ReactNode,
  Suspense,
  useEffect,
  useRef,
  useState,
} from 'react'
import { useNotify } from 'react-admin'
import { NavLink, useLocation } from 'react-router-dom'
import { AccountMenu } from './AccountMenu.tsx'
import { onSessionEnd } from './api.ts'
import { LoginForm } from './LoginPage.tsx'
import { otherPages, recordPages } from './pages.ts'
import { SearchButton, Shortcuts } from './Shortcuts.tsx'
import { type Credentials, logIn, onOtherTab, SessionProvider, useCan, useSession } from './session.tsx'
import { ErrorBoundary } from './ui/ErrorBoundary.tsx'
import { useKeptFocus, useStartAtTop } from './ui/focus.ts'
import { useEntry } from './ui/lists.ts'
import { Mark } from './ui/Mark.tsx'
import { Problem } from './ui/Page.tsx'
import { sections } from './ui/pages.ts'
import { useSinglePresses } from './ui/press.ts'
import { SlowProgress } from './ui/SlowProgress.tsx'
import { type Theme, visuallyHidden } from './ui/visually.ts'
import { Waiting } from './ui/Waiting.tsx'

const MENU_WIDTH = 228

const BAR_HEIGHT = 52

interface Entry {
  to: string
  label: string
  icon: ComponentType
}

/** Menu entries of a section that the user has permission for. */
const entriesOf = (section: string, can: (permission: string) => boolean): Entry[] => [
  ...recordPages
    .filter(pages => pages.section === section && can(`${pages.resource}.read`))
    .map(({ resource, name, icon }) => ({ to: `/${resource}`, label: name[1], icon })),
  ...otherPages
    .filter(page => page.section === section && (page.needs === undefined || can(page.needs)))
    .map(({ path, name, icon }) => ({ to: path, label: name, icon })),
]

export function Shell({ children }: { children: ReactNode }) {
  return (
    <>
      <CssBaseline enableColorScheme />
      <SessionProvider
        loading={<Waiting />}
        failed={(error, retry) => (
          <Box component="main" sx={{ p: 3 }}>
            <Problem error={error} retry={retry} />
          </Box>
        )}
      >
        <Frame>{children}</Frame>
        <LogInAgain />
      </SessionProvider>
    </>
  )
}

function Frame({ children }: { children: ReactNode }) {
  const wide = useMediaQuery<Theme>(theme => theme.breakpoints.up('md'))
  const { pathname } = useLocation()
  useEntry()
  useOtherUser()
  useKeptFocus()
  useSinglePresses()
  useStartAtTop()
  return (
    <Box sx={{ display: 'flex', flexDirection: { xs: 'column', md: 'row' }, minHeight: '100dvh' }}>
      <SkipToContent />
      <SlowProgress />
      <Shortcuts />
      {wide ? <SideMenu /> : <TopBar />}
      <Box component="main" id="main-content" tabIndex={-1} sx={{ flex: 1, minWidth: 0, outline: 'none' }}>
        <ErrorBoundary page={pathname}>
          <Suspense fallback={<Waiting />}>{children}</Suspense>
        </ErrorBoundary>
      </Box>
    </Box>
  )
}

/** Another tab logs in somebody else for this one as well: whoever has begun something here goes on as them. */
function useOtherUser(): void {
  const { id, login } = useSession().user
  const notify = useNotify()
  const known = useRef(id)
  useEffect(() => {
    if (known.current === id) return
    known.current = id
    notify(`Another tab has logged in ${login}: what you do here is done by that account.`, {
      type: 'warning',
    })
  }, [id, login, notify])
}

/** Only there while it has the focus. That of react-admin has no words on a narrow screen, and no icon in their place. */
function SkipToContent() {
  return (
    <Button
      variant="contained"
      onClick={() => document.getElementById('main-content')?.focus()}
      sx={{ position: 'fixed', left: 8, top: -80, zIndex: 'tooltip', '&:focus': { top: 8 } }}
    >
      Skip to content
    </Button>
  )
}

/** The frame renders several times while a page opens: the menu, with all its entries, need not. */
const SideMenu = memo(() => (
  <Box
    component="header"
    sx={{
      width: MENU_WIDTH,
      flexShrink: 0,
      height: '100dvh',
      position: 'sticky',
      top: 0,
      borderRight: 1,
      borderColor: 'divider',
      bgcolor: 'background.paper',
    }}
  >
    <Menu />
  </Box>
))

/** On narrow screens: a bar with a button that opens the menu. */
function TopBar() {
  const [open, setOpen] = useState(false)
  return (
    <Stack
      component="header"
      direction="row"
      sx={{
        alignItems: 'center',
        gap: 1,
        px: 1,
        height: BAR_HEIGHT,
        position: 'sticky',
        top: 0,
        zIndex: 'appBar',
        borderBottom: 1,
        borderColor: 'divider',
        bgcolor: 'background.paper',
      }}
    >
      {/* What gets the focus is scrolled to below the bar. */}
      <GlobalStyles styles={{ html: { scrollPaddingTop: BAR_HEIGHT + 8 } }} />
      <IconButton aria-label="Menu" aria-expanded={open} onClick={() => setOpen(true)}>
        <MenuIcon />
      </IconButton>
      <Brand />
      <Drawer
        open={open}
        onClose={() => setOpen(false)}
        slotProps={{ paper: { 'aria-label': 'Menu', sx: { width: MENU_WIDTH + 24 } } }}
      >
        <Menu onChoice={() => setOpen(false)} />
      </Drawer>
    </Stack>
  )
}

function Brand() {
  return (
    <Stack direction="row" sx={{ alignItems: 'center', gap: 1.25 }}>
      <Mark size={26} />
      <Typography component="span" sx={{ fontWeight: 680, fontSize: '1.06rem', letterSpacing: '-0.02em' }}>
        affiliated
      </Typography>
    </Stack>
  )
}

const heading = {
  px: 1.5,
  pt: 1.5,
  pb: 0.5,
  fontSize: '0.75rem',
  fontWeight: 600,
  color: 'text.secondary',
} as const

function Menu({ onChoice }: { onChoice?: () => void }) {
  const can = useCan()
  return (
    <Stack sx={{ height: '100%', overflowY: 'auto' }}>
      <Box sx={{ px: 2.5, pt: 2.5, pb: 1.5 }}>
        <Brand />
      </Box>
      <SearchButton onOpen={onChoice} />
      <Box component="nav" aria-label="Main" sx={{ flex: 1, px: 1.25 }}>
        {sections.map(section => (
          <Fragment key={section}>
            <Typography
              id={`menu-${section}`}
              component="h2"
              sx={section === sections[0] ? visuallyHidden : heading}
            >
              {section}
            </Typography>
            <Entries entries={entriesOf(section, can)} labelledBy={`menu-${section}`} onChoice={onChoice} />
          </Fragment>
        ))}
      </Box>
      <AccountMenu />
    </Stack>
  )
}

function Entries({
  entries,
  labelledBy,
  onChoice,
}: {
  entries: Entry[]
  labelledBy: string
  onChoice?: (() => void) | undefined
}) {
  return (
    <List dense disablePadding aria-labelledby={labelledBy}>
      {entries.map(({ to, label, icon: Icon }) => (
        <ListItem key={to} disablePadding>
          <ListItemButton
            component={NavLink}
            to={to}
            end={to === '/'}
            onClick={onChoice}
            sx={{
              borderRadius: 2,
              py: 0.6,
              mb: 0.25,
              color: 'text.secondary',
              '&.active': {
                bgcolor: 'primary.light',
                color: 'text.primary',
                '& svg': { color: 'primary.main' },
              },
            }}
          >
            <ListItemIcon sx={{ minWidth: 34, color: 'inherit', '& svg': { fontSize: 20 } }}>
              <Icon />
            </ListItemIcon>
            <ListItemText
              primary={label}
              slotProps={{ primary: { sx: { fontSize: '0.9rem', fontWeight: 550 } } }}
            />
          </ListItemButton>
        </ListItem>
      ))}
    </List>
  )
}

/**
 * Login dialog over the page when the session has expired: unsaved input is kept, and pending calls resume after the
 * login, here or in another tab.
 */
function LogInAgain() {
  const { user } = useSession()
  const [isSessionEnded, setEnded] = useState(false)
  const goOn = useRef<(() => void)[]>([])
  useEffect(() => {
    onSessionEnd(
      () =>
        new Promise(resolve => {
          goOn.current.push(resolve)
          setEnded(true)
        }),
    )
  }, [])
  const goOnAs = (userId: number) => {
    // The page shows the data of the previous user: for anyone else, reload it.
    if (userId !== user.id) return location.reload()
    setEnded(false)
    for (const resume of goOn.current.splice(0)) resume()
  }
  useEffect(() =>
    onOtherTab(userId => {
      if (isSessionEnded && userId !== undefined) goOnAs(userId)
    }),
  )
  const submit = async (credentials: Credentials) => goOnAs(await logIn(credentials))
  return (
    <Dialog
      open={isSessionEnded}
      fullScreen
      // Of the dialog itself, not of what is around it.
      slotProps={{ paper: { 'aria-label': 'Log in' } }}
      transitionDuration={0}
    >
      {isSessionEnded && <LoginForm onSubmit={submit} notice="ended" fixedLogin={user.login} />}
    </Dialog>
  )
}
