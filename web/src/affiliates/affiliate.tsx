/** The affiliate record and how it is displayed. */
import { Box, Typography } from '@mui/material'
import type { AffiliateRecord } from '../../../src/programme/affiliates/affiliate.ts'
import type { Moving } from '../ui/moves.tsx'
import { Breakable } from '../ui/table.tsx'
import { type Affiliate, nameOf } from './name.ts'
import { affiliates } from './pages.ts'

export type Status = AffiliateRecord['status']

/** One that is missing does not compile. */
export const statuses = Object.keys({
  pending: true,
  active: true,
  inactive: true,
  rejected: true,
} satisfies Record<Status, true>)

export { type Affiliate, nameOf }

/**
 * Label where money is paid to the affiliate. Must keep its identity across renders: a new function makes the
 * autocomplete reset the text that is being typed.
 */
export const payeeOf = (affiliate: Affiliate) =>
  `${nameOf(affiliate)} #${affiliate.id} <${affiliate.effective?.payment_email ?? ''}>`

/** Label where affiliates are only searched for. */
export const numberedName = (affiliate: Affiliate) => `${nameOf(affiliate)} #${affiliate.id}`

/** Label of a deleted affiliate, whose identifier stays on payouts. */
export const deletedName = (id: number) => `Affiliate ${id} (deleted)`

/** Name and number on one line, the e-mail address below. <bdi> keeps text of any script in its own direction. */
export function Account({ affiliate, name }: { affiliate: Affiliate; name?: React.ReactNode }) {
  return (
    <Box sx={{ maxWidth: 320, overflowWrap: 'anywhere' }}>
      <Typography component="div" variant="body2" sx={{ fontWeight: 580 }}>
        <bdi>{name ?? nameOf(affiliate)}</bdi>{' '}
        <Box component="span" sx={{ color: 'text.secondary', fontWeight: 400 }}>
          #{affiliate.id}
        </Box>
      </Typography>
      <Typography component="div" variant="caption" sx={{ color: 'text.secondary' }}>
        <Breakable text={affiliate.user?.user_email} />
      </Typography>
    </Box>
  )
}

/** Status transitions of affiliates. */
export const moving: Moving<Affiliate> = {
  of: affiliates,
  nameOf,
  seen: ['rate', 'rate_type'],
  moves: [
    {
      action: 'Approve',
      verb: 'approve',
      done: 'approved',
      status: 'active',
      from: ['pending', 'inactive', 'rejected'],
      meaning: 'The status becomes active. It can be deactivated again later.',
      asks: false,
    },
    {
      action: 'Reject',
      verb: 'reject',
      done: 'rejected',
      status: 'rejected',
      from: ['pending'],
      meaning:
        'The status becomes rejected. Account, earnings and payouts stay as they are, and it can be approved later.',
      asks: true,
    },
    {
      action: 'Deactivate',
      verb: 'deactivate',
      done: 'deactivated',
      status: 'inactive',
      from: ['active'],
      meaning:
        'The status becomes inactive. Account, earnings and payouts stay as they are, and it can be approved again later.',
      asks: true,
    },
  ],
}
