import type { RaRecord } from 'react-admin'
import type { ReferralRecord } from '../../../src/programme/referrals/referral.ts'
import { types } from '../../../src/programme/referrals/types.ts'
import type { Moving } from '../ui/moves.tsx'
import { referrals } from './pages.ts'

export { types }

export type Referral = ReferralRecord & RaRecord<number>

/** Statuses that people can set. One that is missing does not compile. */
export const settable = Object.keys({
  pending: true,
  unpaid: true,
  paid: true,
  rejected: true,
} satisfies Record<Exclude<Referral['status'], 'draft'>, true>)

export const statuses = ['draft', ...settable]

export const nameOf = ({ id }: Pick<Referral, 'id'>) => `Referral ${id}`

export const rejectionHint = 'Part of the explanation, which the affiliate may be sent.'

/** Status transitions of referrals. */
export const moving: Moving<Referral> = {
  of: referrals,
  nameOf,
  seen: ['affiliate_id', 'amount'],
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
