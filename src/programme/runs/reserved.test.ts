import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFailure, describeService } from '../../../test/harness.ts'

describeService('what a payout run has reserved', service => {
  test('409 - is changed, deleted and paid by nothing else, and each answer names the run', async () => {
    const { id } = await service().newAffiliate('reserved', { status: 'active' })
    const { id: other } = await service().newAffiliate('other', { status: 'active' })
    const earn = async (args = {}): Promise<number> =>
      (await service().post('/referrals', { affiliate_id: id, amount: 10, status: 'unpaid', ...args })).body
        .id
    const referral = await earn()
    const { body: run } = await service().post('/payout-runs')
    assert.equal((await service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash })).status, 200)
    const later = await earn()
    const payout = await service().newPayout(id, { referrals: [later] })

    const one = `/referrals/${referral}`
    for (const reply of [
      await service().patch(one, { amount: 9 }),
      await service().patch(one, { status: 'rejected' }),
      await service().patch(one, { affiliate_id: other }),
      await service().patch(one, { description: 'Two chairs' }),
      await service().delete(one),
    ]) {
      assertFailure(reply, 409, 'rest_referral_conflict')
      assert.match(reply.body.message, new RegExp(`in payout run ${run.id}, which is approved: `))
      assert.equal(reply.body.data.payout_run_id, run.id)
    }
    const bulk = await service().post('/referrals/bulk', { action: 'reject', referral_id: [referral] })
    assert.match(bulk.body.failed[0].message, new RegExp(`in payout run ${run.id}, `))

    const said = `Referral ${referral} is in payout run ${run.id}, which is approved.`
    const paying = { affiliate_id: id, referrals: [referral] }
    for (const reply of [
      await service().post('/payouts', paying),
      await service().patch(`/payouts/${payout.id}`, { ...paying, referrals: [later, referral] }),
    ]) {
      assertFailure(reply, 409, 'rest_payout_conflict')
      assert.equal(reply.body.message, said)
    }
    assert.equal((await service().patch(one, { status: 'unpaid', description: '' })).status, 200)
    // Of what a payout has paid, what moves no money can still be corrected.
    const corrected = await service().patch(`/referrals/${later}`, { description: 'Two chairs' })
    assert.equal(corrected.status, 200)
    assert.equal((await service().post(`/payout-runs/${run.id}/cancel`)).status, 200)
    assert.equal((await service().patch(one, { amount: 9 })).status, 200)
  })
})
