import type { RaRecord } from 'react-admin'
import type { ReferralRecord } from '../../../src/programme/referrals/referral.ts'
import type { Moving } from '../ui/moves.tsx'
import { referrals } from './pages.ts'

export type Referral = ReferralRecord & RaRecord<number>

export const statuses: Referral['status'][] = ['draft', 'pending', 'unpaid', 'paid', 'rejected']
/** Statuses that people can set. */
export const settable: Referral['status'][] = ['pending', 'unpaid', 'paid', 'rejected']
export const types: Referral['type'][] = ['sale', 'lead', 'opt-in', 'refund', 'write_off']

export const nameOf = ({ id }: Pick<Referral, 'id'>) => `Referral ${id}`

export const rejectionHint = 'Part of the explanation, which the affiliate may be sent.'

/** Status transitions of referrals. */
export const moving: Moving<Referral> = {
  of: referrals,
  nameOf,
  moves: [
    {
      action: 'Approve',
      verb: 'approve',
      done: 'approved',
      status: 'unpaid',
      // A draft has no amount: what gives it one ends it.
      from: ['pending', 'rejected'],
      meaning: 'The status becomes unpaid: the affiliate is owed the amount, and the next payout can pay it.',
      asks: false,
    },
    {
      action: 'Reject',
      verb: 'reject',
      done: 'rejected',
      status: 'rejected',
      from: ['draft', 'pending', 'unpaid'],
      meaning: 'The status becomes rejected: nothing is owed, unless it is approved later.',
      asks: true,
      reason: {
        argument: 'rejection_reason',
        hint: rejectionHint,
      },
    },
    {
      action: 'Mark as paid',
      verb: 'pay',
      done: 'marked as paid',
      status: 'paid',
      from: ['pending', 'unpaid'],
      meaning:
        'The status becomes paid by hand, without a payout: for what was paid elsewhere. It can become unpaid again.',
      asks: true,
    },
  ],
}
