/** What affiliates are, and how they are named everywhere. */
import { Box, Typography } from '@mui/material'
import type { AffiliateRecord } from '../../../src/programme/affiliates/affiliate.ts'
import type { Moving } from '../ui/moves.tsx'
import { Breakable } from '../ui/table.tsx'
import { type Affiliate, nameOf } from './name.ts'
import { affiliates } from './pages.ts'

export type Status = AffiliateRecord['status']

export const statuses: Status[] = ['pending', 'active', 'inactive', 'rejected']

export { type Affiliate, nameOf }

/** How one is called where money goes to them. The same function each time: another one erases what is being typed. */
export const payeeOf = (affiliate: Affiliate) =>
  `${nameOf(affiliate)} #${affiliate.id} <${affiliate.effective?.payment_email ?? ''}>`

/** The same where they are only looked for. */
export const numberedName = (affiliate: Affiliate) => `${nameOf(affiliate)} #${affiliate.id}`

/** The list that the page of an affiliate leads back to. */
export const parent = { to: '/affiliates', label: 'Affiliates' }

/** What is left to say of one that was deleted, on whose payouts its number stays. */
export const deletedName = (id: number) => `Affiliate ${id} (deleted)`

/** Name and number on one line, the address below. Text of any script keeps its own direction. */
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

/** What can be done with an affiliate in each state. */
export const moving: Moving<Affiliate> = {
  of: affiliates,
  nameOf,
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
