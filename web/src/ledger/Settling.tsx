import { Button } from '@mui/material'
import { Link } from 'react-router-dom'

/** The two ways in which what is owed comes to be owed no more. */
export function Settling({ affiliateId }: { affiliateId: number }) {
  return (
    <>
      <Button component={Link} to={`/referrals/create?type=write_off&affiliate_id=${affiliateId}`}>
        Write off
      </Button>
      <Button component={Link} variant="outlined" to={`/payouts/create?affiliate_id=${affiliateId}`}>
        Record payout
      </Button>
    </>
  )
}
