import { Box, TableCell, TableRow } from '@mui/material'
import { methodName } from '../runs/run.ts'
import { day, time, useMoney } from '../ui/format.ts'
import { LatestTable, NoneYet, wideOnly } from '../ui/Latest.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { figures, RowLink } from '../ui/table.tsx'
import { MarkPaid } from './MarkPaid.tsx'
import type { Payout } from './payout.ts'

const head = (
  <>
    <TableCell>Payout</TableCell>
    <TableCell>Date</TableCell>
    <TableCell sx={wideOnly}>Method</TableCell>
    <TableCell>Status</TableCell>
    <TableCell sx={figures}>Amount</TableCell>
  </>
)

/** Table of payouts of one affiliate. */
export function PayoutRows({ payouts }: { payouts: Payout[] }) {
  const money = useMoney()
  if (payouts.length === 0) return <NoneYet>No payouts yet. Record one when you have sent money.</NoneYet>
  return (
    <LatestTable label="Latest payouts" head={head}>
      {payouts.map(payout => (
        <TableRow key={payout.id} hover>
          <TableCell>
            <RowLink to={`/payouts/${payout.id}`}>#{payout.id}</RowLink>
          </TableCell>
          <TableCell sx={{ whiteSpace: { sm: 'nowrap' } }} title={time(payout.date)}>
            {day(payout.date)}
          </TableCell>
          <TableCell sx={{ ...wideOnly, overflowWrap: 'anywhere', minWidth: 90 }}>
            <bdi>{methodName(payout.payout_method) || '–'}</bdi>
          </TableCell>
          <TableCell>
            <Box
              sx={{
                display: 'flex',
                flexDirection: { xs: 'column', sm: 'row' },
                columnGap: 1,
                alignItems: { xs: 'flex-start', sm: 'center' },
              }}
            >
              <StatusChip status={payout.status} />
              <MarkPaid payout={payout} variant="text" sx={{ minWidth: 0, px: { xs: 0.25, sm: 1 } }} />
            </Box>
          </TableCell>
          <TableCell sx={figures}>{money.full(payout.amount)}</TableCell>
        </TableRow>
      ))}
    </LatestTable>
  )
}
