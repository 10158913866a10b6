import { Box, Link, List, ListItem, ListItemButton, Skeleton, Stack } from '@mui/material'
import { Fragment, type ReactNode } from 'react'
import { type RaRecord, useListContext } from 'react-admin'
import { Link as RouterLink } from 'react-router-dom'

/** Figures stand under each other, digit by digit. */
export const figures = {
  fontVariantNumeric: 'tabular-nums',
  textAlign: 'right',
  whiteSpace: 'nowrap',
} as const

/** The name of a row, which leads to its page: what the keyboard and the screen reader have instead of the row. */
export function RowLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Link component={RouterLink} to={to} color="inherit" onClick={event => event.stopPropagation()}>
      {children}
    </Link>
  )
}

/** Text without spaces, such as an e-mail address, breaks behind its punctuation where it has to. */
export function Breakable({ text = '' }: { text?: string | undefined }) {
  return (
    <bdi>
      {text.split(/(?<=[@._-])/).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no name but their place
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </bdi>
  )
}

/** The rows of a list as cards, for narrow screens. */
export function Cards<R extends RaRecord>({
  to,
  action,
  children,
}: {
  to: (record: R) => string
  /** What can be done with it. It stands below the card, which is one link as a whole. */
  action?: (record: R) => ReactNode
  children: (record: R) => ReactNode
}) {
  const { data, isPending } = useListContext<R>()
  if (isPending) {
    return (
      <Stack sx={{ p: 2, gap: 2 }}>
        {[0, 1, 2, 3].map(row => (
          <Skeleton key={row} variant="rounded" height={52} />
        ))}
      </Stack>
    )
  }
  return (
    <List disablePadding>
      {data?.map(record => (
        <ListItem key={record.id} disablePadding divider sx={{ display: 'block' }}>
          <ListItemButton component={RouterLink} to={to(record)} sx={{ display: 'block', py: 1.5 }}>
            {children(record)}
          </ListItemButton>
          {action && (
            <Box sx={{ px: 2, pb: 1.5, textAlign: 'right', '&:empty': { display: 'none' } }}>
              {action(record)}
            </Box>
          )}
        </ListItem>
      ))}
    </List>
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
