import {
  Box,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  Typography,
} from '@mui/material'
import { day, time, useMoney } from '../ui/format.ts'
import { StatusChip } from '../ui/StatusChip.tsx'
import { figures, RowLink } from '../ui/table.tsx'
import { MarkPaid } from './MarkPaid.tsx'
import type { Payout } from './payout.ts'

/** Some payouts of one affiliate. */
export function PayoutRows({ payouts }: { payouts: Payout[] }) {
  const money = useMoney()
  if (payouts.length === 0) {
    return (
      <Typography variant="body2" sx={{ px: 2, pb: 2.5, pt: 1, color: 'text.secondary' }}>
        No payout was made yet. Record one when money was sent.
      </Typography>
    )
  }
  return (
    <TableContainer tabIndex={0} role="region" aria-label="Latest payouts">
      <Table size="small" sx={{ '& tbody tr:last-of-type td': { borderBottom: 0 } }}>
        <TableHead>
          <TableRow>
            <TableCell>Payout</TableCell>
            <TableCell>Date</TableCell>
            <TableCell>Method</TableCell>
            <TableCell>Status</TableCell>
            <TableCell sx={figures}>Amount</TableCell>
          </TableRow>
        </TableHead>
        <TableBody>
          {payouts.map(payout => (
            <TableRow key={payout.id} hover>
              <TableCell>
                <RowLink to={`/payouts/${payout.id}`}>#{payout.id}</RowLink>
              </TableCell>
              <TableCell sx={{ whiteSpace: 'nowrap' }} title={time(payout.date)}>
                {day(payout.date)}
              </TableCell>
              <TableCell sx={{ overflowWrap: 'anywhere', minWidth: 90 }}>
                <bdi>{payout.payout_method || '–'}</bdi>
              </TableCell>
              <TableCell>
                <Box sx={{ display: 'flex', gap: 1, alignItems: 'center' }}>
                  <StatusChip status={payout.status} />
                  {payout.status === 'failed' && <MarkPaid payout={payout} variant="text" />}
                </Box>
              </TableCell>
              <TableCell sx={figures}>{money.full(payout.amount)}</TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </TableContainer>
  )
}
