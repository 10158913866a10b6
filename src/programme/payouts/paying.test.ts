import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFailure, describeService } from '../../../test/harness.ts'
import { balancesOf } from '../ledger/rules.ts'

/** Beyond what any referral of a test is numbered. */
const ELSEWHERE = 5_000_000

describeService('what payouts do to referrals', service => {
  const earner = async (name: string) => (await service().newAffiliate(name)).id as number
  const earned = async (affiliate_id: number, amount: number, args: object = {}): Promise<number> => {
    const reply = await service().post('/referrals', { affiliate_id, amount, status: 'unpaid', ...args })
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return reply.body.id
  }
  const referral = async (id: number) => {
    const { status, payout_id } = (await service().get(`/referrals/${id}`)).body
    return [status, payout_id]
  }
  const figures = async (id: number) => {
    const { earnings, unpaid_earnings, referrals } = (await service().get(`/affiliates/${id}`)).body
    return [earnings, unpaid_earnings, referrals]
  }
  const balances = async (id: number) => {
    const all = Object.entries(await balancesOf(service().database.reader, id))
    return Object.fromEntries(
      all.filter(([, amount]) => amount !== 0n).map(([name, amount]) => [name, Number(amount)]),
    )
  }

  test('the main job: a referral is earned, approved and paid, and every figure is right', async () => {
    const id = await earner('main')
    const first = await earned(id, 10, { status: 'pending' })
    assert.deepEqual(await figures(id), [0, 0, 0])
    await service().patch(`/referrals/${first}`, { status: 'unpaid' })
    const second = await earned(id, 5.5)
    assert.deepEqual(await figures(id), [0, 15.5, 2])
    const payout = await service().newPayout(id, { referrals: [first, second] })
    assert.equal(payout.amount, 15.5)
    assert.deepEqual(await referral(first), ['paid', String(payout.id)])
    assert.deepEqual(await figures(id), [15.5, 0, 2])
    assert.deepEqual(await balances(id), { commission: -1550, paid_out: 1550 })
    await service().delete(`/payouts/${payout.id}`)
    assert.deepEqual(await referral(first), ['unpaid', '0'])
    assert.deepEqual(await figures(id), [0, 15.5, 2])
  })

  test('a payout that fails gives them back, and pays them when it is paid after all', async () => {
    const id = await earner('failing')
    const one = await earned(id, 4)
    const payout = await service().newPayout(id, { referrals: [one], status: 'failed' })
    assert.deepEqual([payout.amount, await referral(one)], [4, ['unpaid', '0']])
    const path = `/payouts/${payout.id}`
    await service().patch(path, { affiliate_id: id, status: 'paid' })
    assert.deepEqual(
      [await referral(one), await figures(id)],
      [
        ['paid', String(payout.id)],
        [4, 0, 1],
      ],
    )
    await service().patch(path, { affiliate_id: id, status: 'failed' })
    assert.deepEqual(
      [await referral(one), await figures(id)],
      [
        ['unpaid', '0'],
        [0, 4, 1],
      ],
    )
    await service().newPayout(id, { referrals: [one] })
    const late = await service().patch(path, { affiliate_id: id, status: 'paid' })
    assertFailure(late, 409, 'rest_payout_conflict')
    assert.match(late.body.data.referrals[one], /is paid by payout/)
  })

  test('a payout that fails has an event of that type, as the ledger has that reason', async () => {
    const id = await earner('told')
    const payout = await service().newPayout(id, { referrals: [await earned(id, 4)] })
    for (const change of [{ status: 'failed', note: 'closed' }, { status: 'paid' }, { note: '' }])
      await service().patch(`/payouts/${payout.id}`, { affiliate_id: id, ...change })
    await service().delete(`/payouts/${payout.id}`)
    const types = ['payout.create', 'payout.fail', 'payout.edit', 'payout.edit', 'payout.delete']
    const events = (await service().get('/events?number=1000')).body.filter(
      ({ record, record_id }: any) => record === 'payout' && record_id === payout.id,
    )
    assert.deepEqual(
      events.map(({ type }: any) => type),
      types,
    )
    assert.deepEqual(events[1].changes, { status: ['paid', 'failed'] })
    const failed = (await service().get('/events?type=payout.fail&number=1000')).body
    assert.deepEqual(failed.at(-1), events[1])
    const moves = (await service().get(`/affiliates/${id}/ledger?orderby=transfer_id&order=asc`)).body
    const byEvent = new Map(events.map(({ id, type }: any) => [id, type]))
    const ofPayout = moves.filter(({ payout_id }: any) => payout_id === payout.id)
    assert.deepEqual(
      ofPayout.map(({ reason, event_id }: any) => [reason, byEvent.get(event_id)]),
      ['payout.create', 'payout.fail', 'payout.edit', 'payout.delete'].map(type => [type, type]),
    )
  })

  test('what it is beyond its referrals comes from elsewhere, or is a difference', async () => {
    const id = await earner('mixed')
    const known = await earned(id, 10)
    const mixed = await service().newPayout(id, { referrals: [known, ELSEWHERE], amount: 12 })
    assert.deepEqual(await balances(id), { commission: -1000, external: -200, paid_out: 1200 })
    await service().patch(`/payouts/${mixed.id}`, { affiliate_id: id, amount: 7 })
    assert.deepEqual(await balances(id), { commission: -1000, difference: 300, paid_out: 700 })
    const { body: transfers } = await service().get(`/affiliates/${id}/ledger`)
    const different = transfers.filter((one: any) => [one.debit, one.credit].includes('difference'))
    assert.deepEqual(
      different.map((one: any) => one.because),
      ['payout corrected: difference to its referrals'],
    )
    assert.equal((await service().newPayout(id, { referrals: [ELSEWHERE] })).amount, 0)
    await service().newPayout(id, { amount: 3 })
    assert.deepEqual(await balances(id), {
      commission: -1000,
      difference: 300,
      external: -300,
      paid_out: 1000,
    })
    assert.deepEqual(await figures(id), [10, 0, 1])
  })

  test('an identifier that was no referral when it was named stays none', async () => {
    const id = await earner('late')
    const last = await earned(id, 1)
    const payout = await service().newPayout(id, { referrals: [last + 1], amount: 2, status: 'failed' })
    const next = await earned(id, 5)
    assert.equal(next, last + 1)
    await service().patch(`/payouts/${payout.id}`, { affiliate_id: id, status: 'paid' })
    assert.deepEqual(await referral(next), ['unpaid', '0'])
    assert.deepEqual(await figures(id), [0, 6, 2])
  })

  test('edited in what it names: some are given back, others paid', async () => {
    const id = await earner('corrected')
    const [a, b, c] = [await earned(id, 1), await earned(id, 2), await earned(id, 4)]
    const payout = await service().newPayout(id, { referrals: [a, b] })
    const edited = await service().patch(`/payouts/${payout.id}`, { affiliate_id: id, referrals: [b, c] })
    assert.deepEqual([edited.body.referrals, edited.body.amount], [`${b},${c}`, 3])
    assert.deepEqual(
      [await referral(a), await referral(b)],
      [
        ['unpaid', '0'],
        ['paid', String(payout.id)],
      ],
    )
    assert.deepEqual(await balances(id), { commission: -700, unpaid: 100, difference: 300, paid_out: 300 })
  })

  test('one that was paid by hand may be named, and is unpaid when the payout is gone', async () => {
    const id = await earner('hand')
    const one = await earned(id, 8, { status: 'paid' })
    const payout = await service().newPayout(id, { referrals: [one] })
    assert.deepEqual(await balances(id), { commission: -800, paid_out: 800 })
    await service().delete(`/payouts/${payout.id}`)
    assert.deepEqual(await figures(id), [0, 8, 1])
  })

  test('409 - what it cannot pay, each named, and nothing is paid', async () => {
    const [id, other] = [await earner('strict'), await earner('stranger')]
    const fine = await earned(id, 1)
    const wrong = [
      await earned(other, 1),
      await earned(id, 1, { status: 'pending' }),
      await earned(id, 1, { status: 'rejected' }),
    ]
    const reply = await service().post('/payouts', { affiliate_id: id, referrals: [fine, ...wrong] })
    assertFailure(reply, 409, 'rest_payout_conflict')
    assert.deepEqual(Object.keys(reply.body.data.referrals), wrong.map(String))
    assert.deepEqual(await referral(fine), ['unpaid', '0'])
    const refund = await earned(id, -2, { type: 'refund' })
    const negative = await service().post('/payouts', { affiliate_id: id, referrals: [fine, refund] })
    assertFailure(negative, 409, 'rest_payout_conflict')
    const sale = await earned(id, 3)
    assert.equal((await service().newPayout(id, { referrals: [fine, refund, sale] })).amount, 2)
  })

  test('409 - referrals that come to more than an amount can be are paid by several payouts', async () => {
    const id = await earner('rich')
    const large = await earned(id, 999_999_999_999.99)
    const cent = await earned(id, 0.01)
    const refused = await service().post('/payouts', { affiliate_id: id, referrals: [large, cent] })
    assertFailure(refused, 409, 'rest_payout_conflict')
    assert.match(refused.body.message, /more than one payout can be, 999999999999\.99: pay them by several/)
    for (const one of [large, cent]) await service().newPayout(id, { referrals: [one] })
    assert.deepEqual(await balances(id), { commission: -100_000_000_000_000, paid_out: 100_000_000_000_000 })
  })

  test('409 - what a payout paid is neither rejected, changed in amount nor deleted; its text may be', async () => {
    const id = await earner('settled')
    const one = await earned(id, 6)
    await service().newPayout(id, { referrals: [one] })
    const path = `/referrals/${one}`
    for (const reply of [
      await service().patch(path, { status: 'rejected' }),
      await service().patch(path, { status: 'unpaid' }),
      await service().patch(path, { amount: 5 }),
      await service().patch(path, { type: 'write_off' }),
      await service().delete(path),
    ]) {
      assertFailure(reply, 409, 'rest_referral_conflict')
      assert.match(reply.body.message, /record a refund instead/)
    }
    assert.equal(
      (await service().patch(path, { description: 'a note', status: 'paid', amount: 6 })).status,
      200,
    )
  })

  test('an affiliate who is gone is still paid what is owed, and no more', async () => {
    const id = await earner('gone')
    const one = await earned(id, 9)
    await service().delete(`/affiliates/${id}`)
    assert.equal((await service().get(`/referrals/${one}`)).body.status, 'unpaid')
    assert.equal((await service().newPayout(id, { referrals: [one] })).amount, 9)
    assert.deepEqual(await balances(id), { commission: -900, paid_out: 900 })
    assertFailure(await service().post('/payouts', { affiliate_id: id }), 400, 'rest_invalid_param')
    assertFailure(await service().post('/referrals', { affiliate_id: id }), 400, 'rest_invalid_param')
  })

  test('a payout, a refusal and an edit at the same moment: the figures agree with who won', async () => {
    const id = await earner('contested')
    for (let round = 0; round < 10; round += 1) {
      const one = await earned(id, 10)
      const [payout, refusal, edit] = await Promise.all([
        service().post('/payouts', { affiliate_id: id, referrals: [one] }),
        service().patch(`/referrals/${one}`, { status: 'rejected' }),
        service().patch(`/referrals/${one}`, { amount: 3 }),
      ])
      const statuses = [payout.status, refusal.status, edit.status]
      assert.ok(
        statuses.every(status => [200, 201, 409].includes(status)),
        statuses.join(),
      )
      assert.ok(payout.status === 409 || refusal.status === 409, statuses.join())
      const { body } = await service().get(`/referrals/${one}`)
      assert.equal(body.status, payout.status === 201 ? 'paid' : 'rejected')
    }
    // In case that the payout has never won.
    await service().newPayout(id, { referrals: [await earned(id, 10)] })
    const sums = await balances(id)
    const [earnings, unpaid] = await figures(id)
    assert.equal(unpaid, 0)
    assert.deepEqual(sums, { commission: -earnings * 100, paid_out: earnings * 100 })
  })
})
