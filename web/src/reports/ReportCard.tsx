import {
  Box,
  Button,
  Card,
  Collapse,
  Skeleton,
  Stack,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  Typography,
} from '@mui/material'
import { type ReactNode, useId, useState } from 'react'
import { ExportLink } from '../ui/ExportLink.tsx'
import { Problem } from '../ui/Page.tsx'
import { figures } from '../ui/table.tsx'
import { csvOf, isRefused, type ReportName, type Rows, type Scope, useReport } from './report.ts'

export interface Column<R> {
  label: string
  cell: (row: R) => ReactNode
  figures?: boolean
}

export interface ReportCardProps<N extends ReportName> {
  title: string
  name: N
  scope: Scope
  columns: Column<Rows[N]>[]
  /** Further options of the chart. */
  choice?: ReactNode
  children: (rows: Rows[N][]) => ReactNode
  rowKey: (row: Rows[N]) => string | number
  /** Whether a row has nothing to draw. */
  empty?: (row: Rows[N]) => boolean
  wide?: boolean
}

/** A chart with its numbers, as a table that unfolds and as a download. */
export function ReportCard<N extends ReportName>(props: ReportCardProps<N>) {
  const { title, name, scope, choice, wide } = props
  const id = useId()
  const { data, error, refetch, isPlaceholderData } = useReport(name, scope)
  return (
    <Card
      component="section"
      aria-labelledby={id}
      aria-busy={isPlaceholderData}
      sx={{
        p: 2,
        minWidth: 0,
        display: 'flex',
        flexDirection: 'column',
        gridColumn: wide ? { lg: '1 / -1' } : undefined,
      }}
    >
      <Stack
        direction="row"
        sx={{ justifyContent: 'space-between', alignItems: 'center', flexWrap: 'wrap', gap: 1, mb: 1.5 }}
      >
        <Typography variant="h2" id={id}>
          {title}
        </Typography>
        {choice}
      </Stack>
      {error && !isRefused(error) ? (
        <Problem error={error} retry={() => refetch()} />
      ) : (
        <Content {...props} rows={data?.rows} />
      )}
    </Card>
  )
}

function Content<N extends ReportName>({
  rows,
  empty,
  children,
  ...rest
}: ReportCardProps<N> & { rows: Rows[N][] | undefined }) {
  if (!rows) return <Skeleton variant="rounded" height={260} />
  if (empty ? rows.every(empty) : rows.length === 0) {
    return (
      <Typography variant="body2" sx={{ color: 'text.secondary', py: 8, textAlign: 'center' }}>
        {rest.scope.span === 'all'
          ? 'Nothing to show yet: the chart appears with the first affiliates and payouts.'
          : 'Nothing in this period. Choose a longer one above.'}
      </Typography>
    )
  }
  return (
    <>
      {children(rows)}
      <UnfoldingNumbers {...rest} rows={rows} />
    </>
  )
}

function UnfoldingNumbers<N extends ReportName>({
  title,
  name,
  scope,
  rows,
  columns,
  rowKey,
}: Pick<ReportCardProps<N>, 'title' | 'name' | 'scope' | 'columns' | 'rowKey'> & { rows: Rows[N][] }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Stack direction="row" sx={{ gap: 1, mt: 'auto', pt: 1 }}>
        <Button
          size="small"
          onClick={() => setOpen(!open)}
          aria-expanded={open}
          aria-label={`${open ? 'Hide' : 'Show'} numbers of ${title}`}
        >
          {open ? 'Hide numbers' : 'Show numbers'}
        </Button>
        <ExportLink href={csvOf(name, scope)} label="CSV" size="small" aria-label={`CSV of ${title}`} />
      </Stack>
      <Collapse in={open} unmountOnExit>
        <Numbers title={title} rows={rows} columns={columns} rowKey={rowKey} />
      </Collapse>
    </>
  )
}

function Numbers<R>({
  title,
  rows,
  columns,
  rowKey,
}: {
  title: string
  rows: R[]
  columns: Column<R>[]
  rowKey: (row: R) => string | number
}) {
  return (
    <TableContainer
      tabIndex={0}
      role="region"
      aria-label={`Numbers of ${title}`}
      sx={{ maxHeight: 420, mt: 1 }}
    >
      <Table size="small" stickyHeader>
        <TableHead>
          <TableRow>
            {columns.map(column => (
              <TableCell
                key={column.label}
                sx={{ ...(column.figures && figures), bgcolor: 'background.paper' }}
              >
                {column.label}
              </TableCell>
            ))}
          </TableRow>
        </TableHead>
        <TableBody>
          {rows.map(row => (
            <TableRow key={rowKey(row)}>
              {columns.map(column => (
                <TableCell key={column.label} sx={column.figures ? figures : { overflowWrap: 'anywhere' }}>
                  <Box component="bdi">{column.cell(row)}</Box>
                </TableCell>
              ))}
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </TableContainer>
  )
}
