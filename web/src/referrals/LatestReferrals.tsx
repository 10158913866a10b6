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
import { Allowed } from '../ui/Allowed.tsx'
import { Day } from '../ui/Day.tsx'
import { count, useMoney } from '../ui/format.ts'
import { Problem } from '../ui/Page.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { figures } from '../ui/table.tsx'
import type { Referral } from './referral.ts'

const LATEST = 10

/** The latest referrals of an affiliate, or of a customer. */
export function LatestReferrals({ of }: { of: { affiliate_id?: number; customer_id?: number } }) {
  const list = `/referrals?filter=${encodeURIComponent(JSON.stringify(of))}`
  const { data, total, error } = useGetList<Referral>('referrals', {
    filter: of,
    pagination: { page: 1, perPage: LATEST },
    sort: { field: 'id', order: 'DESC' },
  })
  return (
    <Card component="section" aria-label="Referrals" sx={{ mt: 2 }}>
      <Stack
        direction="row"
        sx={{ p: 2, pb: 1, justifyContent: 'space-between', flexWrap: 'wrap', gap: 1, alignItems: 'center' }}
      >
        <Typography variant="h2">Referrals</Typography>
        <Stack direction="row" sx={{ gap: 1 }}>
          {total !== undefined && total > LATEST && (
            <Button component={Link} to={list}>
              All {count(total)} referrals
            </Button>
          )}
          {of.affiliate_id !== undefined && (
            <Allowed to="referrals.create">
              <Button component={Link} to={`/referrals/create?affiliate_id=${of.affiliate_id}`}>
                Record referral
              </Button>
            </Allowed>
          )}
        </Stack>
      </Stack>
      {error && <Problem error={error} />}
      {data?.length === 0 && (
        <Typography variant="body2" sx={{ px: 2, pb: 2.5, pt: 1, color: 'text.secondary' }}>
          No earnings yet.
        </Typography>
      )}
      {data && data.length > 0 && <ReferralRows referrals={data} />}
    </Card>
  )
}

function ReferralRows({ referrals }: { referrals: Referral[] }) {
  const money = useMoney()
  return (
    <TableContainer tabIndex={0} role="region" aria-label="Latest referrals">
      <Table
        size="small"
        sx={{ '& tbody tr:last-of-type td': { borderBottom: 0 }, '& th, & td': { px: { xs: 0.75, sm: 2 } } }}
      >
        <TableHead>
          <TableRow>
            <TableCell>Referral</TableCell>
            <TableCell>Date</TableCell>
            <TableCell sx={{ display: { xs: 'none', sm: 'table-cell' } }}>For</TableCell>
            <TableCell>Status</TableCell>
            <TableCell sx={figures}>Amount</TableCell>
          </TableRow>
        </TableHead>
        <TableBody>
          {referrals.map(({ id, date, description, reference, status, amount }) => (
            <TableRow key={id} hover>
              <TableCell>
                <RecordLink kind="referral" id={id} />
              </TableCell>
              <TableCell>
                <Day text={date} />
              </TableCell>
              <TableCell sx={{ display: { xs: 'none', sm: 'table-cell' }, overflowWrap: 'anywhere' }}>
                <bdi>{description || reference || '–'}</bdi>
              </TableCell>
              <TableCell>
                <StatusChip status={status} />
              </TableCell>
              <TableCell sx={figures}>{money.full(amount)}</TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </TableContainer>
  )
}
