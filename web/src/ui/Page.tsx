import { Alert, Box, Button, Card, Link, Stack, Typography } from '@mui/material'
import { type ReactNode, useEffect } from 'react'
import { HttpError } from 'react-admin'
import { Link as RouterLink, useParams } from 'react-router-dom'
import { messageOf } from '../api.ts'
import { listAt } from './lists.ts'

interface Parent {
  to: string
  label: string
}

interface PageProps {
  title: string
  /** Replaces the title when it is more than text. */
  heading?: ReactNode
  parent?: Parent
  aside?: ReactNode
  actions?: ReactNode
  /** Narrow layout, for forms and text. */
  narrow?: boolean
  children: ReactNode
}

/** A page: link to its parent, title, actions, content. */
export function Page({ parent, narrow, children, ...head }: PageProps) {
  const { title } = head
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
          to={listAt(parent.to)}
          variant="body2"
          sx={{ display: 'inline-block', mb: 0.75, overflowWrap: 'anywhere' }}
        >
          ← {parent.label}
        </Link>
      )}
      <Head {...head} />
      {children}
    </Box>
  )
}

function Head({
  title,
  heading,
  aside,
  actions,
}: Pick<PageProps, 'title' | 'heading' | 'aside' | 'actions'>) {
  return (
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
  )
}

/** Whether what was read before stays on the page: the record could not be read again, and has not gone. */
export const isPassing = (error: unknown, record: unknown): boolean =>
  record !== undefined && !(error instanceof HttpError && [401, 403, 404].includes(error.status))

/** An error in place of the content. A missing permission (403) offers no retry. */
export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  const isRefused = error instanceof HttpError && error.status === 403
  return (
    <Alert
      severity="error"
      action={
        retry &&
        !isRefused && (
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

/** Replaces the page of a record that could not be read, most often because it was deleted. */
export function RecordProblem({
  kind,
  parent,
  error,
  retry,
}: {
  /** For example 'affiliate'. */
  kind: string
  parent: Parent
  error: unknown
  retry: () => void
}) {
  const { id } = useParams()
  const name = `${kind} ${id}`
  const isMissing = error instanceof HttpError && error.status === 404
  return (
    <Page title={name.charAt(0).toUpperCase() + name.slice(1)} parent={parent}>
      {isMissing ? (
        <Card>
          <Empty
            title={`There is no ${name}`}
            action={
              <Button component={RouterLink} to={parent.to} variant="contained">
                All {parent.label.toLowerCase()}
              </Button>
            }
          >
            It may have been deleted. Numbers are never reused.
          </Empty>
        </Card>
      ) : (
        <Problem error={error} retry={retry} />
      )}
    </Page>
  )
}

/**
 * How the page of a record reads it. Always anew, for a list that was just left has stored less of it; and without
 * react-admin's own error message, since the page itself shows the error.
 */
export const wholeRecord = { staleTime: 0, onError: () => {} }

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

/** Empty state: says what would be here, and what to do next. */
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
