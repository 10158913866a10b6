import { Box, Button, Chip, List, ListItem, Stack, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { useNotify } from 'react-admin'
import type { OpenSession } from '../../../src/accounts/sessions/schema.ts'
import { get, messageOf, request } from '../api.ts'
import { FormSection } from '../ui/form.tsx'
import { time } from '../ui/format.ts'
import { Problem } from '../ui/Page.tsx'

/** The user's sessions, to recognise and end unknown ones. */
export function Sessions() {
  const notify = useNotify()
  const { data, error, refetch } = useQuery({
    queryKey: ['sessions'],
    queryFn: () => get<OpenSession[]>('sessions'),
  })
  const end = async (path: string, message: string) => {
    try {
      await request('DELETE', path)
      notify(message, { type: 'success' })
    } catch (failure) {
      notify(messageOf(failure), { type: 'error' })
    }
    await refetch()
  }
  return (
    <FormSection
      title="Sessions"
      hint="Where you are logged in. If you don't recognise a session, end it and change your password."
    >
      {error && <Problem error={error} retry={() => refetch()} />}
      <List disablePadding aria-label="Sessions">
        {data?.map(session => (
          <ListItem key={session.id} divider disableGutters sx={{ gap: 1, flexWrap: 'wrap' }}>
            <Box sx={{ flex: 1, minWidth: 200 }}>
              <Stack direction="row" sx={{ gap: 1, alignItems: 'center' }}>
                <Typography variant="body2" sx={{ fontWeight: 580 }}>
                  {session.browser || 'A browser'}
                </Typography>
                {session.current && <Chip size="small" label="This one" />}
              </Stack>
              <Typography variant="caption" sx={{ color: 'text.secondary' }}>
                {session.network && `Network ${session.network}, `}since {time(session.started)}, last used{' '}
                {time(session.last_used)}
              </Typography>
            </Box>
            {!session.current && (
              <Button
                size="small"
                aria-label={`End the session of ${session.browser}, ${session.network}`}
                onClick={() => end(`sessions/${session.id}`, 'Session ended')}
              >
                End
              </Button>
            )}
          </ListItem>
        ))}
      </List>
      {data && data.length > 1 && (
        <Button
          variant="outlined"
          onClick={() => end('sessions', 'Your other sessions have ended')}
          sx={{ alignSelf: 'flex-start' }}
        >
          End all others
        </Button>
      )}
    </FormSection>
  )
}
