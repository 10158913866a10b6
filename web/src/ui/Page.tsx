import { Alert, Box, Button, Link, Stack, Typography } from '@mui/material'
import { type ReactNode, useEffect } from 'react'
import { Link as RouterLink } from 'react-router-dom'
import { messageOf } from '../api.ts'

/** A page: where it belongs, its name, what can be done, its content. */
export function Page({
  title,
  heading,
  parent,
  aside,
  actions,
  narrow,
  children,
}: {
  title: string
  /** When the name is shown as more than text. */
  heading?: ReactNode
  parent?: { to: string; label: string }
  aside?: ReactNode
  actions?: ReactNode
  /** For forms and texts, which read badly when they are wide. */
  narrow?: boolean
  children: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · affiliated`
  }, [title])
  return (
    <Box
      sx={{ px: { xs: 2, sm: 3, lg: 4 }, py: { xs: 2, sm: 3 }, maxWidth: narrow ? 860 : 1560, width: '100%' }}
    >
      {parent && (
        <Link
          component={RouterLink}
          to={parent.to}
          variant="body2"
          sx={{ display: 'inline-block', mb: 0.75 }}
        >
          ← {parent.label}
        </Link>
      )}
      <Stack
        direction="row"
        sx={{
          flexWrap: 'wrap',
          gap: 1.5,
          alignItems: 'center',
          mb: 2.5,
          minHeight: 36,
          justifyContent: 'space-between',
        }}
      >
        <Stack direction="row" sx={{ gap: 1.5, alignItems: 'center', flexWrap: 'wrap', minWidth: 0 }}>
          <Typography variant="h1" sx={{ overflowWrap: 'anywhere' }}>
            {heading ?? title}
          </Typography>
          {aside}
        </Stack>
        {actions && (
          <Stack direction="row" sx={{ gap: 1, flexWrap: 'wrap', alignItems: 'center' }}>
            {actions}
          </Stack>
        )}
      </Stack>
      {children}
    </Box>
  )
}

/** What the server said, where the content would be. */
export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <Alert
      severity="error"
      action={
        retry && (
          <Button color="inherit" size="small" onClick={retry}>
            Try again
          </Button>
        )
      }
    >
      {messageOf(error)}
    </Alert>
  )
}

export function NotFound() {
  return (
    <Page title="Not found">
      <Typography>There is no page at this address. The menu leads to every page there is.</Typography>
    </Page>
  )
}

export function ErrorPage({
  error,
  resetErrorBoundary,
}: {
  error: Error
  resetErrorBoundary: (...args: unknown[]) => void
}) {
  return (
    <Page title="This page failed">
      <Problem error={error} retry={() => resetErrorBoundary()} />
    </Page>
  )
}

/** Nothing there yet: says what would be here, and what to do next. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon?: ReactNode
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <Stack sx={{ alignItems: 'center', textAlign: 'center', gap: 1, px: 3, py: { xs: 5, sm: 8 } }}>
      {icon && (
        <Box
          sx={{
            color: 'primary.main',
            bgcolor: 'primary.light',
            p: 1.5,
            borderRadius: '50%',
            display: 'flex',
            mb: 1,
          }}
        >
          {icon}
        </Box>
      )}
      <Typography variant="h2" component="p">
        {title}
      </Typography>
      {children && (
        <Typography variant="body2" sx={{ color: 'text.secondary', maxWidth: 440 }}>
          {children}
        </Typography>
      )}
      {action && <Box sx={{ mt: 1.5 }}>{action}</Box>}
    </Stack>
  )
}
