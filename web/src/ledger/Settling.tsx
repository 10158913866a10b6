import { Button } from '@mui/material'
import { Link } from 'react-router-dom'
import { Allowed } from '../ui/Allowed.tsx'

/** The two ways to settle a balance outside a payout run: write it off, or record a payout. */
export function Settling({ affiliateId }: { affiliateId: number }) {
  return (
    <>
      <Allowed to="referrals.create">
        <Button component={Link} to={`/referrals/create?type=write_off&affiliate_id=${affiliateId}`}>
          Write off
        </Button>
      </Allowed>
      <Allowed to="payouts.create">
        <Button component={Link} variant="outlined" to={`/payouts/create?affiliate_id=${affiliateId}`}>
          Record payout
        </Button>
      </Allowed>
    </>
  )
}
