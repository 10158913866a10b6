import { Box, Chip } from '@mui/material'
import type { Affiliate } from '../affiliates/affiliate.tsx'
import type { Coupon } from '../coupons/coupon.ts'
import type { Creative } from '../creatives/creative.ts'
import type { Payout } from '../payouts/payout.ts'
import type { Referral } from '../referrals/referral.ts'
import type { Rule } from '../rules/rule.ts'
import type { Item, Run } from '../runs/run.ts'
import type { Source } from '../sources/source.ts'
import type { ApiKey } from '../tools/key.ts'
import { capital } from './words.ts'

type Colour = 'info' | 'success' | 'warning' | 'error' | 'neutral'

type Status = (
  | ApiKey
  | Affiliate
  | Coupon
  | Creative
  | Item
  | Payout
  | Referral
  | Rule
  | Run
  | Source
)['status']

/** A status without a colour does not compile. */
const colours: Readonly<Record<Status, Colour>> = {
  active: 'success',
  paid: 'success',
  unpaid: 'info',
  pending: 'warning',
  draft: 'neutral',
  included: 'info',
  reserved: 'info',
  approving: 'warning',
  approved: 'info',
  sent: 'info',
  closed: 'success',
  returned: 'error',
  unknown: 'warning',
  expired: 'warning',
  failed: 'error',
  rejected: 'error',
  excluded: 'neutral',
  current: 'neutral',
  replaced: 'neutral',
  ended: 'neutral',
  cancelled: 'neutral',
  inactive: 'neutral',
  revoked: 'neutral',
}

/** A status, readable without its colour. */
export function StatusChip({ status }: { status: Status }) {
  const colour = colours[status]
  return (
    <Chip
      size="small"
      label={capital(status)}
      icon={
        <Box component="span" sx={{ width: 7, height: 7, borderRadius: '50%', bgcolor: 'currentColor' }} />
      }
      sx={theme => ({
        height: 23,
        fontSize: '0.79rem',
        color: colour === 'neutral' ? theme.palette.text.secondary : theme.palette[colour].main,
        bgcolor: colour === 'neutral' ? theme.palette.action.hover : theme.palette[colour].light,
        '& .MuiChip-icon': { color: 'inherit', ml: 1, mr: -0.25 },
      })}
    />
  )
}
