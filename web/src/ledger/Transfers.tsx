/** Transfers of one affiliate: reason, accounts from and to, and the running balance. */
import {
  Box,
  Card,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  Typography,
} from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import type { Static } from 'typebox'
import { withNumbers } from '../../../src/programme/ledger/because.ts'
import type { transferRecord } from '../../../src/programme/ledger/schema.ts'
import { get, queryOf } from '../api.ts'
import { Day } from '../ui/Day.tsx'
import { useMoney } from '../ui/format.ts'
import { Problem } from '../ui/Page.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { figures } from '../ui/table.tsx'
import { capital } from '../ui/words.ts'

export type Transfer = Static<typeof transferRecord>

/** A referral or payout has few transfers, so one page shows them all. */
const MOST = 200

export function Transfers({
  title,
  affiliateId,
  about,
  empty,
}: {
  title: string
  affiliateId: number
  /** The referral or payout whose transfers are listed. */
  about: { referral_id?: number; payout_id?: number }
  /** Text when there are none. */
  empty: string
}) {
  const query = queryOf({ ...about, order: 'desc', number: MOST })
  const { data, error } = useQuery({
    queryKey: ['affiliates', affiliateId, 'ledger', query],
    queryFn: () => get<Transfer[]>(`affiliates/${affiliateId}/ledger?${query}`),
  })
  return (
    <Card component="section" aria-label={title} sx={{ mt: 2 }}>
      <Typography variant="h2" sx={{ p: 2, pb: 1 }}>
        {title}
      </Typography>
      {error && <Problem error={error} />}
      {data?.length === 0 && (
        <Typography variant="body2" sx={{ px: 2, pb: 2, color: 'text.secondary' }}>
          {empty}
        </Typography>
      )}
      {data && data.length > 0 && <TransferRows transfers={data} label={title} />}
    </Card>
  )
}

function TransferRows({ transfers, label }: { transfers: readonly Transfer[]; label: string }) {
  const money = useMoney()
  return (
    <TableContainer tabIndex={0} role="region" aria-label={`Transfers: ${label}`}>
      <Table size="small" sx={{ '& tbody tr:last-of-type td': { borderBottom: 0 } }}>
        <TableHead>
          <TableRow>
            <TableCell>Date</TableCell>
            <TableCell>Because of</TableCell>
            <TableCell>From → to</TableCell>
            <TableCell sx={figures}>Amount</TableCell>
            <TableCell sx={figures}>Owed after it</TableCell>
          </TableRow>
        </TableHead>
        <TableBody>
          {transfers.map(transfer => (
            <TableRow key={transfer.transfer_id}>
              <TableCell>
                <Day text={transfer.date} />
              </TableCell>
              <TableCell>
                <Cause transfer={transfer} />
              </TableCell>
              <TableCell>
                {capital(transfer.debit)} → {capital(transfer.credit)}
              </TableCell>
              <TableCell sx={figures}>{money.full(transfer.amount)}</TableCell>
              <TableCell sx={figures}>{money.full(transfer.balance)}</TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </TableContainer>
  )
}

/** The reason of a transfer, with links to its referral, payout and payout run. */
export function Cause({ transfer }: { transfer: Transfer }) {
  const [beginning, ...rest] = withNumbers(transfer.because, transfer)
  return (
    <Box component="span">
      {capital(String(beginning))}
      {rest.map(part =>
        typeof part === 'string' ? part : <RecordLink key={part.kind} kind={part.kind} id={part.id} />,
      )}
    </Box>
  )
}
