/** What a person puts back to wait is not ended by a hold that is over. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { describeService, operatorOf } from '../../../test/harness.ts'
import { endHolds } from './holds.ts'

const DAY_MS = 86_400_000
const text = (at: number) => new Date(at).toISOString().slice(0, 19).replace('T', ' ')

describeService('a hold, and what persons decide', service => {
  let affiliate: { id: number }
  before(async () => {
    affiliate = await service().newAffiliate('held-back', { status: 'active' })
  })
  const held = async (until: number): Promise<number> => {
    const args = { affiliate_id: affiliate.id, amount: 10, hold_until: text(until) }
    const reply = await service().post('/referrals', args)
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    await endHolds(operatorOf(service().database))
    return reply.body.id
  }
  const statusAfter = async (id: number, ...edits: object[]) => {
    for (const edit of edits) {
      const reply = await service().patch(`/referrals/${id}`, edit)
      assert.equal(reply.status, 200, JSON.stringify(reply.body))
    }
    await endHolds(operatorOf(service().database))
    return (await service().get(`/referrals/${id}`)).body.status
  }

  test('pending by hand after its end - waits for a review', async () => {
    const over = Date.now() - DAY_MS
    assert.equal(await statusAfter(await held(over)), 'unpaid')
    assert.equal(await statusAfter(await held(over), { status: 'pending' }), 'pending')
    assert.equal(
      await statusAfter(await held(over), { status: 'rejected' }, { status: 'pending' }),
      'pending',
    )
  })

  test('pending by hand until another moment - ends then', async () => {
    const again = { status: 'pending', hold_until: text(Date.now() - 1000) }
    assert.equal(await statusAfter(await held(Date.now() - DAY_MS), again), 'unpaid')
  })

  test('a hold that is taken away - waits for a review, and may be held again', async () => {
    const id = await held(Date.now() + DAY_MS)
    assert.equal(await statusAfter(id, { hold_until: '' }), 'pending')
    const { body } = await service().get(`/referrals/${id}/explanation`)
    assert.equal(body.hold_until, '')
    assert.match(JSON.stringify(body.sentences), /pending until it is approved/)
    assert.equal(await statusAfter(id, { hold_until: text(Date.now() - 1000) }), 'unpaid')
  })

  test('approved and put back before its end - goes on', async () => {
    const id = await held(Date.now() + DAY_MS)
    assert.equal(await statusAfter(id, { status: 'unpaid' }, { status: 'pending' }), 'pending')
    assert.equal(await statusAfter(id, { hold_until: text(Date.now() - 1000) }), 'unpaid')
  })
})
