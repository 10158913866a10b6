/** What several objects of Stripe tell of one payment, and what is no payment. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { deliverTo, SECRET } from '../../../test/deliveries.ts'
import { assertFailure, describeService, giveSecretKey } from '../../../test/harness.ts'

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
  const deliver = (type: string, object: object, created = 1_780_000_000) =>
    deliverTo({ url: service().url, id: source, type: 'stripe' }, { type, created, data: { object } })
  const problem = async () => (await service().get(`/sources/${source}`)).body.problem as string
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

  /** A session and the invoice that it names, of which the customer's balance has paid 5.00, and the next one. */
  const subscribed = (name: string, claim: object) => {
    const customer = `cus_${name}`
    const of = { currency: 'usd', customer, customer_email: `${name}@customer.example` }
    const session = { ...of, id: `cs_${name}`, invoice: `in_${name}`, payment_status: 'paid', ...claim }
    const invoice = { ...of, id: `in_${name}`, billing_reason: 'subscription_create', total: 2000 }
    const next = { ...invoice, id: `next_${name}`, billing_reason: 'subscription_cycle', amount_paid: 2000 }
    return {
      session: () => deliver('checkout.session.completed', { ...session, amount_total: 2000 }),
      invoice: () => deliver('invoice.paid', { ...invoice, amount_paid: 1500 }),
      renewal: () => deliver('invoice.paid', next, 1_790_000_000),
    }
  }

  test('of two amounts of one payment the first counts, and the claim, names and customer of both', async () => {
    for (const [first, second, earned, paid, sent] of [
      ['session', 'invoice', 4, '20.00', '15.00'],
      ['invoice', 'session', 3, '15.00', '20.00'],
    ] as const) {
      const id = await seller(`${first}-first`)
      const events = subscribed(first, { metadata: { affiliate_id: `${id}` }, payment_intent: `pi_${first}` })
      const [recorded] = (await events[first]()).results
      assert.equal(recorded.status, 201)
      for (const again of [first, second, second, first] as const) {
        const { results } = await events[again]()
        assert.deepEqual(results, [{ status: 200, conversion_id: recorded.conversion_id }])
      }
      assert.equal(await owed(id), earned)
      assert.match(
        await problem(),
        new RegExp(
          `it is of ${paid} USD, and ${sent} USD was sent\\. What was reported first counts\\. \\(.* UTC\\)$`,
        ),
      )
      await events.renewal()
      assert.equal(await owed(id), earned + 4)
      // By the name that only the session has.
      const charge = { id: `ch_${first}`, payment_intent: `pi_${first}`, currency: 'usd' }
      await deliver('charge.refunded', { ...charge, amount_refunded: 2000 })
      assert.equal(await owed(id), 4)
    }
  })

  test('what differs credits nobody else, and a caller of the interface is told', async () => {
    const [id, other] = [await seller('earlier'), await seller('later')]
    const events = subscribed('twice', { metadata: { affiliate_id: `${other}` } })
    const sale = { kind: 'sale', context: 's', reference: 'in_twice', amount: 10, currency: 'USD' }
    assert.equal((await service().post('/conversions', { ...sale, affiliate_id: id })).status, 201)
    for (const { results } of [await events.session(), await events.invoice()])
      assert.equal(results[0].status, 200)
    assert.deepEqual([await owed(id), await owed(other)], [2, 0])
    // The customer is of whom the sale is.
    await events.renewal()
    assert.deepEqual([await owed(id), await owed(other)], [6, 0])
    const again = await service().post('/conversions', { ...sale, amount: 11, affiliate_id: other })
    assertFailure(again, 409, 'rest_conversion_exists')
    // Of a refund nothing but its amount counts.
    const refund = { kind: 'refund', context: 's', reference: 'in_twice', part: 'du_twice', amount: 1 }
    assert.equal((await service().post('/conversions', { ...refund, kind: 'dispute' })).status, 201)
    const dispute = { id: 'du_twice', charge: 'in_twice', currency: 'usd', amount: 200, status: 'lost' }
    const { results } = await deliver('charge.dispute.closed', dispute)
    assert.equal(results[0].status, 409)
  })

  test('a sale in another currency brings its claim as well', async () => {
    const id = await seller('currency')
    const sale = { kind: 'sale', context: 's', reference: 'in_yen', amount: 10, currency: 'USD' }
    assert.equal((await service().post('/conversions', sale)).status, 201)
    const session = { id: 'cs_yen', invoice: 'in_yen', payment_status: 'paid', amount_total: 1000 }
    const claim = { customer: 'cus_yen', metadata: { affiliate_id: `${id}` } }
    const { results } = await deliver('checkout.session.completed', { ...session, ...claim, currency: 'jpy' })
    assert.equal(results[0].status, 200)
    assert.match(await problem(), /it is of 10\.00 USD, and 1000 JPY was sent/)
    assert.equal(await owed(id), 2)
    const { body } = await service().get('/conversions?reference=cs_yen')
    assert.deepEqual([body[0].kind, body[0].amount, body[0].currency], ['attribution', 0, 'USD'])
  })
})
