/** What drafts become once the rate is there that they wait for. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { describeService } from '../../../test/harness.ts'

describeService('drafts whose rate comes later', service => {
  let affiliate: { id: number }
  before(async () => {
    affiliate = await service().newAffiliate('drafted', { status: 'active' })
  })
  const post = async (path: string, body: object) => {
    const reply = await service().post(path, body)
    assert.ok(reply.status < 300, JSON.stringify(reply.body))
    return reply.body
  }
  const enterRate = (from_currency: string) =>
    post('/exchange-rates', { from_currency, rate: 2, date: '2020-01-01' })
  const statusOf = async (id: number) => (await service().get(`/referrals/${id}`)).body.status

  test('a write-off is owed at once, and what else nobody has approved waits for a review', async () => {
    const draft = async (args: object) => {
      const referral = await post('/referrals', {
        affiliate_id: affiliate.id,
        amount: 5,
        currency: 'CHF',
        ...args,
      })
      assert.equal(referral.status, 'draft')
      return referral.id
    }
    const writeOff = await draft({ type: 'write_off', amount: -5 })
    const sent = await draft({ type: 'write_off', amount: -5, status: 'pending' })
    const refund = await draft({ type: 'refund', amount: -5 })
    const sale = await draft({})
    await enterRate('CHF')
    assert.deepEqual(await Promise.all([writeOff, sent, refund, sale].map(statusOf)), [
      'unpaid',
      'pending',
      'pending',
      'pending',
    ])
  })

  test('one that is rejected leaves its reference to others, as any that is rejected', async () => {
    const payment = { context: 'shop', reference: 'drafted-1' }
    const sale = { ...payment, amount: 100, currency: 'NOK', affiliate_id: affiliate.id }
    const { referrals } = await post('/conversions', { kind: 'sale', ...sale })
    await post('/conversions', { kind: 'refund', ...payment, part: '1', amount: 100 })
    await enterRate('NOK')
    assert.equal(await statusOf(referrals[0].referral_id), 'rejected')
    const other = await post('/referrals', { ...payment, affiliate_id: affiliate.id, amount: 7 })
    assert.notEqual(other.id, referrals[0].referral_id)
  })
})
