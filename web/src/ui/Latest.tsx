import {
  Button,
  Card,
  Stack,
  Table,
  TableBody,
  TableContainer,
  TableHead,
  TableRow,
  Typography,
} from '@mui/material'
import type { ReactNode } from 'react'
import { type RaRecord, useGetList } from 'react-admin'
import { Link } from 'react-router-dom'
import { count } from './format.ts'
import { Problem } from './Page.tsx'

const LATEST = 10

interface LatestProps<R> {
  readonly title: string
  /** Its name is in the link to all of them. */
  readonly resource: string
  /** The filter that all of them meet. */
  readonly of: object
  /** What is said when there is none. */
  readonly none: string
  readonly action?: ReactNode
  readonly rows: (records: R[]) => ReactNode
}

/** On the page of a record: the latest of those that belong to it, and the way to all of them. */
export function Latest<R extends RaRecord>({ title, resource, of, none, action, rows }: LatestProps<R>) {
  const { data, total, error } = useGetList<R>(resource, {
    filter: of,
    pagination: { page: 1, perPage: LATEST },
    sort: { field: 'id', order: 'DESC' },
  })
  return (
    <Card component="section" aria-label={title} sx={{ mt: 2 }}>
      <Stack
        direction="row"
        sx={{ p: 2, pb: 1, justifyContent: 'space-between', flexWrap: 'wrap', gap: 1, alignItems: 'center' }}
      >
        <Typography variant="h2">{title}</Typography>
        <Stack direction="row" sx={{ gap: 1, flexWrap: 'wrap' }}>
          {total !== undefined && total > LATEST && (
            <Button component={Link} to={`/${resource}?filter=${encodeURIComponent(JSON.stringify(of))}`}>
              All {count(total)} {resource}
            </Button>
          )}
          {action}
        </Stack>
      </Stack>
      {error && <Problem error={error} />}
      {data?.length === 0 && <NoneYet>{none}</NoneYet>}
      {data && data.length > 0 && rows(data)}
    </Card>
  )
}

export function NoneYet({ children }: { children: ReactNode }) {
  return (
    <Typography variant="body2" sx={{ px: 2, pb: 2.5, pt: 1, color: 'text.secondary' }}>
      {children}
    </Typography>
  )
}

/** A small table on a card. @param label for screen readers */
export function LatestTable({
  label,
  head,
  children,
}: {
  label: string
  head: ReactNode
  children: ReactNode
}) {
  return (
    <TableContainer tabIndex={0} role="region" aria-label={label}>
      <Table
        size="small"
        sx={{
          '& tbody tr:last-of-type td': { borderBottom: 0 },
          '& th, & td': { px: { xs: 0.75, sm: 2 } },
          // Days take two lines where the amount would not be seen otherwise.
          '& .MuiTypography-noWrap': { whiteSpace: { xs: 'normal', sm: 'nowrap' } },
        }}
      >
        <TableHead>
          <TableRow>{head}</TableRow>
        </TableHead>
        <TableBody>{children}</TableBody>
      </Table>
    </TableContainer>
  )
}

/** Of cells that are hidden on narrow screens. */
export const wideOnly = { display: { xs: 'none', sm: 'table-cell' } }
