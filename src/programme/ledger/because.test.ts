import assert from 'node:assert/strict'
import { test } from 'node:test'
import { numberedWordsOf } from './because.ts'

const none = { referral_id: null, payout_id: null, payout_run_id: null }
const sides = { debit: 'unpaid', credit: 'reserved' }

test('words of a transfer - the number of a record follows its name, or stands at the end', () => {
  const words = (reason: string, numbers: Partial<typeof none | Record<string, number>>) =>
    numberedWordsOf({ reason, ...sides, ...none, ...numbers })
  assert.deepEqual(
    [
      words('referral.refund', {}),
      words('conversion.refund', { referral_id: 13 }),
      words('referral.reject', { referral_id: 13 }),
      words('payout.fail', { payout_id: 5 }),
      words('payout.fail', { payout_id: 5, payout_run_id: 3 }),
      words('payout.create', { referral_id: 13, payout_id: 5 }),
      words('payout_run.approve', { payout_run_id: 3 }),
      words('payout_run.cancel', { payout_run_id: 3 }),
      words('payout_run.cancel', { payout_id: 5 }),
    ],
    [
      'refund recorded',
      'refund of a sale, referral 13',
      'referral 13 rejected',
      'payout 5 failed',
      'payout 5 failed, payout run 3',
      'payout 5 recorded, referral 13',
      'reserved by payout run 3',
      'payout run 3 cancelled',
      'payout run cancelled, payout 5',
    ],
  )
})
