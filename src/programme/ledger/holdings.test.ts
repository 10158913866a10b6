import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Earning, type Move, movesOfPayment, movesOfReferral, type Payment } from './holdings.ts'

const sale: Earning = {
  affiliate_id: 1,
  status: 'unpaid',
  type: 'sale',
  amount: 10,
  payout_id: 0,
  run_item_id: 0,
}
const of = (args: Partial<Earning>): Earning => ({ ...sale, ...args })
const told = (moves: Move[]) =>
  moves.map(({ affiliateId, from, to, amount }) => `${affiliateId}: ${from} -> ${to} ${amount}`)

describe('what a change of a referral moves', () => {
  const cases: [string, Earning | undefined, Earning | undefined, string[]][] = [
    ['a draft', undefined, of({ status: 'draft' }), []],
    ['a pending one', undefined, of({ status: 'pending' }), ['1: commission -> pending 10']],
    ['an unpaid one', undefined, sale, ['1: commission -> unpaid 10']],
    ['one that is paid by hand', undefined, of({ status: 'paid' }), ['1: commission -> external 10']],
    ['nothing for nothing', undefined, of({ amount: 0 }), []],
    ['approved', of({ status: 'pending' }), sale, ['1: pending -> unpaid 10']],
    [
      'approved with a higher amount',
      of({ status: 'pending' }),
      of({ amount: 12 }),
      ['1: pending -> unpaid 10', '1: commission -> unpaid 2'],
    ],
    ['lowered', sale, of({ amount: 7 }), ['1: unpaid -> commission 3']],
    [
      'rejected with another amount',
      sale,
      of({ status: 'rejected', amount: 7 }),
      ['1: unpaid -> commission 10'],
    ],
    ['reserved', sale, of({ run_item_id: 4 }), ['1: unpaid -> reserved 10']],
    ['paid by a payout', sale, of({ status: 'paid', payout_id: 4 }), ['1: unpaid -> paid_out 10']],
    ['deleted', sale, undefined, ['1: unpaid -> commission 10']],
    [
      'given to another affiliate',
      sale,
      of({ affiliate_id: 2, status: 'pending', amount: 4 }),
      ['1: unpaid -> commission 10', '2: commission -> pending 4'],
    ],
    ['a refund', undefined, of({ type: 'refund', amount: -10 }), ['1: unpaid -> commission 10']],
    ['written off', undefined, of({ type: 'write_off', amount: -10 }), ['1: unpaid -> written_off 10']],
    ['written off the other way', undefined, of({ type: 'write_off' }), ['1: written_off -> unpaid 10']],
    [
      'what was written off comes back',
      of({ type: 'write_off', amount: -3 }),
      undefined,
      ['1: written_off -> unpaid 3'],
    ],
  ]
  for (const [what, before, after, moves] of cases) {
    test(what, () => assert.deepEqual(told(movesOfReferral(before, after)), moves))
  }
})

describe('what a change of a payout moves beside its referrals', () => {
  const paid: Payment = { affiliateId: 1, status: 'paid', amount: 10n, net: 10n, external: false }
  const cases: [string, Payment | undefined, Payment | undefined, string[]][] = [
    ['the sum of its referrals', undefined, paid, []],
    ['one that failed', undefined, { ...paid, status: 'failed', net: 0n }, []],
    ['of another system', undefined, { ...paid, net: 0n, external: true }, ['1: external -> paid_out 10']],
    ['more than its referrals', undefined, { ...paid, net: 4n }, ['1: difference -> paid_out 6']],
    [
      'more than its referrals, and some of another system',
      undefined,
      { ...paid, net: 4n, external: true },
      ['1: external -> paid_out 6'],
    ],
    [
      'less than its referrals',
      undefined,
      { ...paid, net: 14n, external: true },
      ['1: paid_out -> difference 4'],
    ],
    [
      'it fails',
      { ...paid, net: 4n },
      { ...paid, status: 'failed', net: 4n },
      ['1: paid_out -> difference 6'],
    ],
    ['it is deleted', { ...paid, net: 0n, external: true }, undefined, ['1: paid_out -> external 10']],
    [
      'it is corrected',
      { ...paid, net: 4n },
      { ...paid, amount: 12n, net: 4n },
      ['1: difference -> paid_out 2'],
    ],
    [
      'it is given to another affiliate',
      { ...paid, net: 0n, external: true },
      { ...paid, affiliateId: 2, net: 0n, external: true },
      ['1: paid_out -> external 10', '2: external -> paid_out 10'],
    ],
  ]
  for (const [what, before, after, moves] of cases) {
    test(what, () => assert.deepEqual(told(movesOfPayment(before, after)), moves))
  }
})
