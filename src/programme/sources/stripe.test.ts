/** What several objects of Stripe tell of one payment, and what is no payment. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { before, test } from 'node:test'
import { describeService, giveSecretKey } from '../../../test/harness.ts'

const SECRET = 'whsec_of_the_test'

describeService('events of Stripe', service => {
  giveSecretKey()
  let source = 0
  before(async () => {
    const { status, body } = await service().post('/sources', {
      type: 'stripe',
      context: 's',
      secret: SECRET,
    })
    assert.equal(status, 201, JSON.stringify(body))
    source = body.id
  })
  /** @returns the answer to a delivery, which is 200 */
  const deliver = async (type: string, object: object, created = 1_780_000_000): Promise<any> => {
    const body = JSON.stringify({ type, created, data: { object } })
    const at = Math.floor(Date.now() / 1000)
    const mac = createHmac('sha256', SECRET).update(`${at}.${body}`).digest('hex')
    const reply = await fetch(`${service().url}/v1/sources/${source}/deliveries`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'stripe-signature': `t=${at},v1=${mac}` },
      body,
    })
    assert.equal(reply.status, 200)
    return reply.json()
  }
  const seller = async (name: string, terms: object = { rate: 20, rate_type: 'percentage' }) =>
    (await service().newAffiliate(name, { status: 'active', ...terms })).id as number
  const owed = async (id: number) => (await service().get(`/affiliates/${id}/balances`)).body.unpaid

  test('a session that stores a way to pay is nothing that was bought', async () => {
    const id = await seller('setup', { rate: 25, rate_type: 'flat' })
    const session = { currency: 'usd', customer: 'cus_setup', metadata: { affiliate_id: `${id}` } }
    const trial = { ...session, mode: 'subscription', payment_status: 'no_payment_required', amount_total: 0 }
    const setup = { ...trial, mode: 'setup', amount_total: null, metadata: {} }
    await deliver('checkout.session.completed', { ...trial, id: 'cs_trial' })
    assert.equal(await owed(id), 25)
    const answer = await deliver('checkout.session.completed', { ...setup, id: 'cs_setup' })
    assert.deepEqual(answer.results, [])
    assert.match(answer.ignored, /only stores a way to pay/)
    assert.equal(await owed(id), 25)
  })
})
