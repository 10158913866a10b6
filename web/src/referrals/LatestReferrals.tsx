import { Button, TableCell, TableRow } from '@mui/material'
import { Link } from 'react-router-dom'
import { Allowed } from '../ui/Allowed.tsx'
import { Day } from '../ui/Day.tsx'
import { useMoney } from '../ui/format.ts'
import { Latest, LatestTable, wideOnly } from '../ui/Latest.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { figures } from '../ui/table.tsx'
import type { Referral } from './referral.ts'

/** The latest referrals of an affiliate, or of a customer. */
export function LatestReferrals({ of }: { of: { affiliate_id?: number; customer_id?: number } }) {
  return (
    <Latest<Referral>
      title="Referrals"
      resource="referrals"
      of={of}
      none="No earnings yet."
      action={of.affiliate_id !== undefined && <Record affiliateId={of.affiliate_id} />}
      rows={referrals => <ReferralRows referrals={referrals} />}
    />
  )
}

function Record({ affiliateId }: { affiliateId: number }) {
  return (
    <Allowed to="referrals.create">
      <Button component={Link} to={`/referrals/create?affiliate_id=${affiliateId}`}>
        Record referral
      </Button>
    </Allowed>
  )
}

const head = (
  <>
    <TableCell>Referral</TableCell>
    <TableCell>Date</TableCell>
    <TableCell sx={wideOnly}>For</TableCell>
    <TableCell>Status</TableCell>
    <TableCell sx={figures}>Amount</TableCell>
  </>
)

function ReferralRows({ referrals }: { referrals: Referral[] }) {
  const money = useMoney()
  return (
    <LatestTable label="Latest referrals" head={head}>
      {referrals.map(({ id, date, description, reference, status, amount }) => (
        <TableRow key={id} hover>
          <TableCell>
            <RecordLink kind="referral" id={id} />
          </TableCell>
          <TableCell>
            <Day text={date} />
          </TableCell>
          <TableCell sx={{ ...wideOnly, overflowWrap: 'anywhere' }}>
            <bdi>{description || reference || '–'}</bdi>
          </TableCell>
          <TableCell>
            <StatusChip status={status} />
          </TableCell>
          <TableCell sx={figures}>{money.full(amount)}</TableCell>
        </TableRow>
      ))}
    </LatestTable>
  )
}
