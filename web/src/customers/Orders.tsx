import {
  Button,
  Card,
  Stack,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  Typography,
} from '@mui/material'
import { useGetList } from 'react-admin'
import { Link } from 'react-router-dom'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { amountText, type Conversion } from '../conversions/conversion.ts'
import { capital } from '../names.ts'
import { Day } from '../ui/Day.tsx'
import { count } from '../ui/format.ts'
import { Problem } from '../ui/Page.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { figures } from '../ui/table.tsx'

const LATEST = 10

/** The latest conversions of a customer: what they bought, and what was refunded. */
export function Orders({ customerId }: { customerId: number }) {
  const filter = { customer_id: customerId }
  const { data, total, error } = useGetList<Conversion>('conversions', {
    filter,
    pagination: { page: 1, perPage: LATEST },
    sort: { field: 'id', order: 'DESC' },
  })
  return (
    <Card component="section" aria-label="Orders" sx={{ mt: 2 }}>
      <Stack
        direction="row"
        sx={{ p: 2, pb: 1, justifyContent: 'space-between', flexWrap: 'wrap', gap: 1, alignItems: 'center' }}
      >
        <Typography variant="h2">Orders</Typography>
        {total !== undefined && total > LATEST && (
          <Button component={Link} to={`/conversions?filter=${encodeURIComponent(JSON.stringify(filter))}`}>
            All {count(total)} conversions
          </Button>
        )}
      </Stack>
      {error && <Problem error={error} />}
      {data?.length === 0 && (
        <Typography variant="body2" sx={{ px: 2, pb: 2.5, pt: 1, color: 'text.secondary' }}>
          No conversion names this customer.
        </Typography>
      )}
      {data && data.length > 0 && <OrderRows conversions={data} />}
    </Card>
  )
}

const wide = { display: { xs: 'none', sm: 'table-cell' } }

function OrderRows({ conversions }: { conversions: Conversion[] }) {
  return (
    <TableContainer tabIndex={0} role="region" aria-label="Latest orders">
      <Table
        size="small"
        sx={{ '& tbody tr:last-of-type td': { borderBottom: 0 }, '& th, & td': { px: { xs: 0.75, sm: 2 } } }}
      >
        <TableHead>
          <TableRow>
            <TableCell>Conversion</TableCell>
            <TableCell>Date</TableCell>
            <TableCell>Kind</TableCell>
            <TableCell sx={wide}>Reference</TableCell>
            <TableCell sx={wide}>Credited to</TableCell>
            <TableCell sx={figures}>Amount</TableCell>
          </TableRow>
        </TableHead>
        <TableBody>
          {conversions.map(one => (
            <TableRow key={one.id} hover>
              <TableCell>
                <RecordLink kind="conversion" id={one.id} />
              </TableCell>
              <TableCell>
                <Day text={one.occurred_at} />
              </TableCell>
              <TableCell>{capital(one.kind)}</TableCell>
              <TableCell sx={{ ...wide, overflowWrap: 'anywhere' }}>
                <bdi>{one.reference}</bdi>
              </TableCell>
              <TableCell sx={wide}>
                {one.affiliate_id === 0 ? '–' : <AffiliateName id={one.affiliate_id} link />}
              </TableCell>
              <TableCell sx={figures}>{amountText(one)}</TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </TableContainer>
  )
}
