import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeService } from '../../../test/harness.ts'
import type { Earning } from './holdings.ts'
import { balancesOf, postPayout, postReferral } from './rules.ts'

const LARGEST = 99_999_999_999_999

describeService('the ledger', service => {
  const earning = (affiliate_id: number, args: Partial<Earning> = {}): Earning => ({
    affiliate_id,
    status: 'unpaid',
    type: 'sale',
    amount: 1000,
    payout_id: 0,
    run_item_id: 0,
    ...args,
  })
  const cause = { reason: 'referral.create', eventId: null, referralId: 1 }
  const balances = (id: number) => balancesOf(service().database.reader, id)
  const none = {
    commission: 0n,
    pending: 0n,
    unpaid: 0n,
    reserved: 0n,
    paid_out: 0n,
    external: 0n,
    difference: 0n,
    written_off: 0n,
  }
  const figures = async (id: number) => {
    const { earnings, unpaid_earnings, referrals } = (await service().get(`/affiliates/${id}`)).body
    return { earnings, unpaid_earnings, referrals }
  }

  test('a transfer, the balances and the figures of the affiliate change together', async () => {
    const { database } = service()
    const { id } = await service().newAffiliate('earner')
    const [sale, refund] = [earning(id), earning(id, { type: 'refund', amount: -400 })]
    await database.transaction(tx => postReferral(tx, { after: sale }, cause))
    await database.transaction(tx => postReferral(tx, { after: refund }, cause))
    assert.deepEqual(await balances(id), { ...none, commission: -600n, unpaid: 600n })
    assert.deepEqual(await figures(id), { earnings: 0, unpaid_earnings: 6, referrals: 1 })

    const paid = [sale, refund].map(before => ({
      before,
      after: { ...before, status: 'paid', payout_id: 5 } as const,
    }))
    const payment = { affiliateId: id, status: 'paid', amount: 700n, net: 600n, external: false } as const
    const payout = { reason: 'payout.create', eventId: null, payoutId: 5 }
    await database.transaction(tx => postPayout(tx, paid, { after: payment }, payout))
    assert.deepEqual(await balances(id), { ...none, commission: -600n, paid_out: 700n, difference: -100n })
    assert.deepEqual(await figures(id), { earnings: 6, unpaid_earnings: 0, referrals: 1 })
    const transfers = await database.reader
      .selectFrom('ledger_transfers')
      .select(['debit', 'credit', 'amount'])
      .where('payout_id', '=', 5)
      .orderBy('id')
      .execute()
    assert.deepEqual(
      transfers.map(row => Object.values(row).join(' ')),
      ['unpaid paid_out 600', 'difference paid_out 100'],
    )
  })

  test('one that is given to another affiliate moves between both', async () => {
    const [from, to] = [(await service().newAffiliate('from')).id, (await service().newAffiliate('to')).id]
    const { database } = service()
    await database.transaction(tx => postReferral(tx, { after: earning(from) }, cause))
    await database.transaction(tx => postReferral(tx, { before: earning(from), after: earning(to) }, cause))
    assert.deepEqual(await balances(from), none)
    assert.deepEqual(await balances(to), { ...none, commission: -1000n, unpaid: 1000n })
    assert.deepEqual(await figures(from), { earnings: 0, unpaid_earnings: 0, referrals: 0 })
    assert.deepEqual(await figures(to), { earnings: 0, unpaid_earnings: 10, referrals: 1 })
  })

  test('sums are exact beyond what a JavaScript number holds', async () => {
    const { id } = await service().newAffiliate('rich')
    const { database } = service()
    const large = earning(id, { status: 'pending', amount: LARGEST })
    const sum = BigInt(LARGEST) * 200n
    for (let count = 0; count < 200; count += 1) {
      await database.transaction(tx => postReferral(tx, { after: large }, cause))
    }
    assert.ok(sum > BigInt(Number.MAX_SAFE_INTEGER))
    assert.deepEqual(await balances(id), { ...none, commission: -sum, pending: sum })
    const ever = await balancesOf(database.reader, id, Math.floor(Date.now() / 1000) + 1)
    assert.deepEqual(ever, await balances(id))
  })
})
