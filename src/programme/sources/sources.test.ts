import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { before, test } from 'node:test'
import { assertFailure, describeService, giveSecretKey } from '../../../test/harness.ts'
import { keepSecretKeyIn } from '../../storage/secret-keys.ts'

const SECRET = 'whsec_of_the_test'

/** The same shuffles each time. */
function shuffled<T>(values: readonly T[], seed: number): T[] {
  let state = seed
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
  return values
    .map(value => ({ value, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value)
}

describeService('sources', service => {
  giveSecretKey()
  let stripe: number
  let woo: number
  let generic: number
  const setUp = async (args: object) => {
    const { status, body } = await service().post('/sources', { name: 'shop', secret: SECRET, ...args })
    assert.equal(status, 201, JSON.stringify(body))
    return body.id as number
  }
  before(async () => {
    stripe = await setUp({ type: 'stripe', context: 'Stripe' })
    woo = await setUp({ type: 'woocommerce', context: 'woo' })
    generic = await setUp({
      type: 'generic',
      context: 'own',
      signature_header: 'X-Own-Signature',
      mapping: {
        kind: '/event',
        kinds: { paid: 'sale', returned: 'refund' },
        reference: '/order/id',
        references: ['/order/charge'],
        part: '/return/id',
        amount: '/cents',
        minor_units: true,
        currency: 'USD',
        affiliate_id: '/order/partners/0',
        'customer.email': '/order/buyer~1mail',
      },
    })
  })
  const send = (id: number, body: string, headers: Record<string, string>) =>
    fetch(`${service().url}/v1/sources/${id}/deliveries`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
  const mac = (text: string, encoding: 'hex' | 'base64', secret = SECRET) =>
    createHmac('sha256', secret).update(text).digest(encoding)
  const byStripe = async (event: object, { at = Math.floor(Date.now() / 1000), secret = SECRET } = {}) => {
    const body = JSON.stringify(event)
    const signature = `t=${at},v1=${'0'.repeat(64)},v1=${mac(`${at}.${body}`, 'hex', secret)}`
    const reply = await send(stripe, body, { 'stripe-signature': signature })
    return { status: reply.status, body: (await reply.json()) as any }
  }
  const event = (type: string, object: object, created = 1_780_000_000) => ({
    type,
    created,
    data: { object },
  })
  const seller = async (name: string) =>
    (await service().newAffiliate(name, { status: 'active', rate: 10, rate_type: 'percentage' })).id as number
  const owed = async (id: number) => (await service().get(`/affiliates/${id}/balances`)).body.unpaid
  const counted = async () => {
    const { headers } = await service().get('/conversions?count=1&number=1')
    return Number(headers.get('x-total-count'))
  }

  test('the secret is never shown', async () => {
    const { body } = await service().get(`/sources/${stripe}`)
    assert.ok(!JSON.stringify(body).includes(SECRET))
    const { body: events } = await service().get('/events?number=0')
    assert.ok(!JSON.stringify(events).includes(SECRET))
    const stored = await service().database.reader.selectFrom('sources').select('secret').execute()
    assert.ok(stored.length > 0)
    for (const { secret } of stored) assert.ok(!secret.includes(SECRET))
  })

  test('401 - a wrong signature, a replay, an unknown source: all alike, and nothing is written', async () => {
    const before = await counted()
    const sale = event('invoice.paid', { id: 'in_x', amount_paid: 100, currency: 'usd' })
    const wrong = await byStripe(sale, { secret: 'whsec_other' })
    const late = await byStripe(sale, { at: Math.floor(Date.now() / 1000) - 3600 })
    const none = await send(stripe, JSON.stringify(sale), {})
    const nowhere = await send(999_999, '{}', {})
    for (const { status } of [wrong, late, none, nowhere]) assert.equal(status, 401)
    for (const signature of [
      't=,v1=',
      't=x,v1=0',
      `v1=${mac(JSON.stringify(sale), 'hex')}`,
      ',=,t',
      '\u00e9',
    ]) {
      const reply = await send(stripe, JSON.stringify(sale), { 'stripe-signature': signature })
      assert.equal(reply.status, 401, signature)
    }
    assert.deepEqual(wrong.body, await nowhere.json())
    await service().patch(`/sources/${stripe}`, { status: 'inactive' })
    assert.equal((await byStripe(sale)).status, 401)
    await service().patch(`/sources/${stripe}`, { status: 'active' })
    assert.equal(await counted(), before)
  })

  test('405 - deliveries are posted', async () => {
    for (const method of ['GET', 'PUT', 'OPTIONS']) {
      const path = `/sources/${stripe}/deliveries`
      const reply = await service().send(method, path)
      assertFailure(reply, 405, 'rest_no_route')
      assert.equal(reply.headers.get('allow'), 'POST')
      assertFailure(await service().send(method, path, { key: null }), 401, 'rest_forbidden')
    }
    assertFailure(await service().get('/sources/x/deliveries'), 404, 'rest_no_route')
  })

  test('Stripe: refunds of two charges that have paid one invoice add up', async () => {
    const affiliate = await seller('charges')
    const paid = { id: 'in_two', currency: 'usd', customer: 'cus_two', amount_paid: 10_000 }
    const deliver = async (type: string, of: object) => {
      const { status, body } = await byStripe(event(type, of))
      assert.equal(status, 200)
      for (const { status, message } of body.results) assert.ok(status < 300, message)
    }
    await deliver('invoice.paid', { ...paid, metadata: { affiliate_id: String(affiliate) } })
    for (const name of ['a', 'b']) {
      const payment = { type: 'payment_intent', payment_intent: `pi_two_${name}` }
      await deliver('invoice_payment.paid', { invoice: paid.id, payment })
    }
    const refund = (name: string, amount_refunded: number) =>
      deliver('charge.refunded', {
        ...{ id: `ch_two_${name}`, payment_intent: `pi_two_${name}`, currency: 'usd' },
        amount_refunded,
      })
    // 10 % of 100.00 less all that was refunded so far.
    const steps: [name: string, refunded: number, left: number][] = [
      ['a', 3000, 7],
      ['b', 3000, 4],
      ['b', 5000, 2],
      ['b', 3000, 2],
      ['a', 3000, 2],
    ]
    for (const [name, refunded, left] of steps) {
      await refund(name, refunded)
      assert.equal(await owed(affiliate), left, `${name} ${refunded}`)
    }
    // A total without a part is that of the whole payment.
    const whole = { kind: 'refund', context: 'stripe', reference: paid.id, cumulative: true, amount: 90 }
    await service().post('/conversions', whole)
    assert.equal(await owed(affiliate), 1)
  })

  test('Stripe: shuffled, doubled and with gaps, deliveries end in the ledger of the ordered ones', async () => {
    const story = (affiliate: number, run: string) => {
      const of = (name: string) => `${name}_${run}`
      const customer = of('cus')
      const metadata = { affiliate_id: String(affiliate) }
      const paid = { currency: 'usd', customer }
      const charge = { id: of('ch'), payment_intent: of('pi'), currency: 'usd' }
      const dispute = {
        id: of('du'),
        charge: of('ch'),
        payment_intent: of('pi'),
        amount: 2000,
        currency: 'usd',
      }
      return [
        event('checkout.session.completed', {
          ...{ ...paid, id: of('cs'), invoice: of('in'), payment_intent: null, metadata },
          ...{ payment_status: 'paid', amount_total: 12_000, total_details: { amount_tax: 2000 } },
          customer_details: { email: `${run}@example.org`, address: { country: 'DE' } },
        }),
        event('invoice.paid', {
          ...{ ...paid, id: of('in'), amount_paid: 12_000, billing_reason: 'subscription_create' },
          total_taxes: [{ amount: 2000 }],
        }),
        event('invoice_payment.paid', {
          invoice: of('in'),
          payment: { type: 'payment_intent', payment_intent: of('pi') },
        }),
        event('charge.refunded', { ...charge, amount_refunded: 3000 }),
        event('charge.refunded', { ...charge, amount_refunded: 6000 }),
        event('charge.dispute.created', { ...dispute, status: 'needs_response' }),
        event('charge.dispute.closed', { ...dispute, status: 'won' }),
        event(
          'invoice.paid',
          { ...paid, id: of('in2'), amount_paid: 5000, billing_reason: 'subscription_cycle' },
          1_790_000_000,
        ),
        event('customer.updated', { id: customer }),
      ]
    }
    for (let seed = 0; seed < 12; seed += 1) {
      const affiliate = await seller(`stripe${seed}`)
      const events = story(affiliate, `run${seed}`)
      const gap = seed % 3 === 1 ? [3, 5] : []
      const some = events.filter((_event, place) => !gap.includes(place))
      for (const one of seed === 0 ? some : shuffled([...some, ...some], seed)) {
        const { status, body } = await byStripe(one)
        assert.equal(status, 200)
        for (const { status, message } of body.results) assert.ok(status < 300, message)
      }
      // 10 % of what is left of 100.00 net, half of which was refunded, and of the renewal.
      assert.equal(await owed(affiliate), 10, `seed ${seed}`)
    }
  })

  test('Stripe: a payment that cannot be credited as it waits for is joined and refunded all the same', async () => {
    const id = await seller('not-joined')
    const session = { id: 'cs_j', payment_status: 'paid', payment_intent: 'pi_j' }
    const bought = { ...session, amount_total: 1000, currency: 'usd' }
    assert.equal((await byStripe(event('checkout.session.completed', bought))).status, 200)
    const attribution = { kind: 'attribution', context: 'stripe', reference: 'in_j', affiliate_id: id }
    assert.equal((await service().post('/conversions', attribution)).status, 201)
    // Its reference is that of another referral.
    const other = { affiliate_id: id, context: 'stripe', reference: 'cs_j', amount: 2 }
    const { status, body: taken } = await service().post('/referrals', other)
    assert.equal(status, 201)
    const joining = event('invoice_payment.paid', { invoice: 'in_j', payment: { payment_intent: 'pi_j' } })
    assert.deepEqual(await byStripe(joining), { status: 200, body: { results: [] } })
    const charge = { id: 'ch_j', invoice: 'in_j', currency: 'usd', amount: 1000 }
    const refunded = async (amount_refunded: number) => {
      const { body } = await byStripe(event('charge.refunded', { ...charge, amount_refunded }))
      assert.deepEqual(
        body.results.map((one: any) => one.status),
        [201],
      )
    }
    await refunded(200)
    assert.equal(await owed(id), 0)
    // Its reference is free, so that the next report of the payment credits it.
    assert.equal((await service().patch(`/referrals/${taken.id}`, { status: 'rejected' })).status, 200)
    await refunded(400)
    assert.equal(await owed(id), 0.6)
  })

  test('WooCommerce: an order each time it changes, with all its refunds', async () => {
    const id = await seller('woo')
    const order = (args: object) => ({
      id: 731,
      order_key: 'wc_order_1',
      currency: 'USD',
      total: '121.00',
      total_tax: '21.00',
      date_paid_gmt: '2026-07-01T10:00:00',
      billing: { email: 'woo@example.org', country: 'NL' },
      line_items: [{ product_id: 7, sku: 'A-7', quantity: 2, total: '100.00' }],
      meta_data: [{ key: 'affiliate_id', value: String(id) }],
      ...args,
    })
    const deliver = async (args: object) => {
      const body = JSON.stringify(order(args))
      const reply = await send(woo, body, { 'x-wc-webhook-signature': mac(body, 'base64') })
      const taken: any = await reply.json()
      assert.equal(reply.status, 200, JSON.stringify(taken))
      return taken
    }
    assert.equal((await send(woo, 'webhook_id=4', {})).status, 200)
    assert.match((await deliver({ status: 'pending' })).ignored, /not paid/)
    for (const status of ['processing', 'completed']) await deliver({ status })
    assert.equal(await owed(id), 10)
    const refunds = [{ id: 1, total: '-30.25' }]
    for (let times = 0; times < 2; times += 1) await deliver({ status: 'completed', refunds })
    assert.equal(await owed(id), 7.5)
    await deliver({ status: 'refunded', refunds: [...refunds, { id: 2, total: '-90.75' }] })
    assert.equal(await owed(id), 0)
  })

  test('WooCommerce: given up after it was paid, and paid again, in any order', async () => {
    const deliver = async (order: object) => {
      const body = JSON.stringify(order)
      const reply = await send(woo, body, { 'x-wc-webhook-signature': mac(body, 'base64') })
      const taken: any = await reply.json()
      for (const { status, message } of taken.results) assert.ok(status < 300, message)
      return taken.results.length as number
    }
    const changedAt = (order: number, affiliate: number, status: string, time: string) => ({
      id: order,
      currency: 'USD',
      total: '50.00',
      status,
      date_paid_gmt: '2026-07-01T10:00:00',
      date_modified_gmt: `2026-07-01T${time}`,
      meta_data: [{ key: 'affiliate_id', value: String(affiliate) }],
    })
    // As gateways do within seconds.
    for (const [place, last] of ['processing', 'completed'].entries()) {
      const id = await seller(`at-once${place}`)
      const steps = [
        ['processing', '10:00:00', 5],
        ['processing', '10:00:01', 5],
        ['failed', '10:00:30', 0],
        [last, '10:00:45', 5],
        ['cancelled', '10:00:50', 0],
        [last, '10:01:00', 5],
      ] as const
      for (const [status, time, worth] of steps) {
        await deliver(changedAt(780 + place, id, status, time))
        assert.equal(await owed(id), worth, `${status} at ${time}`)
      }
    }
    for (let seed = 0; seed < 8; seed += 1) {
      const id = await seller(`again${seed}`)
      const changed = (status: string, hour: number) => changedAt(800 + seed, id, status, `${hour}:00:05`)
      const states = [
        changed('processing', 10),
        changed('cancelled', 11),
        changed('processing', 12),
        changed('cancelled', 13),
        changed('processing', 14),
        changed('completed', 15),
      ]
      for (const state of seed === 0 ? states : shuffled([...states, ...states], seed)) await deliver(state)
      assert.equal(await owed(id), 5, `seed ${seed}`)
      await deliver(changed('cancelled', 16))
      assert.equal(await owed(id), 0)
      // Its reference is given away, and it is paid once more.
      const other = { affiliate_id: id, context: 'woo', reference: `${800 + seed}`, status: 'unpaid' }
      assert.equal((await service().post('/referrals', { ...other, amount: 2 })).status, 201)
      await deliver(changed('processing', 17))
      assert.equal(await owed(id), 7)
    }
    // Nothing more is told of an order that was never given up.
    const plain = { id: 900, currency: 'USD', total: '50.00', date_paid_gmt: '2026-07-01T10:00:00' }
    const sent = { ...plain, status: 'completed', date_modified_gmt: '2026-07-04T10:00:00' }
    assert.equal(await deliver(sent), 1)
  })

  test('generic: numbers of more digits than a JavaScript number has are names of their own', async () => {
    const id = await setUp({
      type: 'generic',
      context: 'long',
      mapping: {
        kind: 'sale',
        reference: '/order/id',
        references: ['/order/charge'],
        amount: '/amount',
        currency: 'USD',
        'customer.id': '/buyer',
      },
    })
    const deliver = async (order: string, amount: string) => {
      const body = `{"order":{"id":${order},"charge":9${order}},"amount":${amount},"buyer":${order}01}`
      const reply = await send(id, body, { 'x-signature': mac(body, 'hex') })
      const { results }: any = await reply.json()
      return results[0]
    }
    const orders = ['1234567890123456789', '1234567890123456788', '1234567890123456787']
    for (const [place, order] of orders.entries()) {
      // As PHP has written amounts for long.
      const { status, conversion_id } = await deliver(order, `${10 + place}.050000000000001`)
      assert.equal(status, 201, order)
      const { body } = await service().get(`/conversions/${conversion_id}`)
      assert.deepEqual(
        [body.reference, body.references, body.customer.id, body.amount],
        [order, [`9${order}`], `${order}01`, 10.05 + place],
      )
      assert.equal((await deliver(order, `${10 + place}.05`)).status, 200)
    }
    const payload = `{"name":"x","payload":{"order":{"id":${orders[0]}},"amount":1}}`
    const headers = { 'content-type': 'application/json' }
    const { body: tried } = await service().post(`/sources/${id}/try`, payload, { headers })
    assert.equal(tried.conversions[0].reference, orders[0])
  })

  test('a source takes live events or those of test mode, never both', async () => {
    const before = await counted()
    const sale = event('invoice.paid', { id: 'in_mode', amount_paid: 100, currency: 'usd' })
    const { body: refused } = await byStripe({ ...sale, livemode: false })
    assert.deepEqual(refused, {
      results: [],
      ignored: 'The source takes live events, and this is one of test mode.',
    })
    await service().patch(`/sources/${stripe}`, { mode: 'test' })
    assert.match((await byStripe({ ...sale, livemode: true })).body.ignored, /takes test events/)
    assert.equal(await counted(), before)
    assert.equal((await byStripe({ ...sale, livemode: false })).body.results[0].status, 201)
    await service().patch(`/sources/${stripe}`, { mode: 'live' })
  })

  test('a new secret is told by its date; without a key to seal it, none is taken', async t => {
    const id = await setUp({ type: 'stripe' })
    await service().database.transaction(tx => tx.updateTable('sources').set({ secret_at: 0 }).execute())
    await service().patch(`/sources/${id}`, { secret: 'whsec_replaced' })
    const { body: events } = await service().get('/events?number=1000&type=source.edit')
    assert.equal(events.at(-1).record_id, id)
    assert.deepEqual(Object.keys(events.at(-1).changes), ['secret_date'])
    const { SECRET_KEY } = process.env
    t.after(() => {
      process.env.SECRET_KEY = SECRET_KEY
      keepSecretKeyIn(undefined)
    })
    delete process.env.SECRET_KEY
    keepSecretKeyIn(undefined)
    const reply = await service().post('/sources', { name: 'unsealed', type: 'stripe', secret: SECRET })
    assertFailure(reply, 409, 'rest_secret_key')
    assert.match(reply.body.message, /start it with SECRET_KEY/)
  })

  test('400 - signed deliveries that are no JSON object', async () => {
    const signed = (body: string) => send(woo, body, { 'x-wc-webhook-signature': mac(body, 'base64') })
    for (const body of ['null', '[]', ' [ ] ', '\uFEFFnull', '[{}]', '1', '"a"', '{', '']) {
      const reply = await signed(body)
      const { code } = (await reply.json()) as { code: string }
      assert.deepEqual([reply.status, code], [400, 'rest_invalid_json'], body)
    }
    assert.equal((await signed('{}')).status, 200)
  })

  test('signed deliveries of any shape are answered, and a sale below zero earns nothing', async () => {
    const conversions = await counted()
    const strange = { toString: 1, valueOf: 1 }
    const bodies = [
      { event: strange },
      { event: 'constructor' },
      { event: 'paid', order: { id: 'odd-1', charge: strange }, cents: -500 },
      { event: 'paid', order: { id: 'odd-2', 'buyer/mail': strange }, cents: 500 },
    ]
    for (const body of bodies) {
      const text = JSON.stringify(body)
      const reply = await send(generic, text, { 'x-own-signature': mac(text, 'hex') })
      assert.equal(reply.status, 200, text)
    }
    const events = [
      event('constructor', {}),
      event('__proto__', {}),
      event('invoice.paid', { id: 'in_odd', amount_paid: 100, currency: 'usd' }, 1e300),
      event('invoice_payment.paid', { invoice: 'in_\0', payment: { payment_intent: 'pi_\0' } }),
    ]
    for (const each of events) assert.equal((await byStripe(each)).status, 200, JSON.stringify(each))
    // The sale whose buyer alone is strange.
    assert.equal(await counted(), conversions + 1)
    const [odd] = (await service().get('/conversions?reference=odd-2')).body
    assert.deepEqual([odd.amount, odd.customer_id], [5, 0])
  })

  test('a source of one’s own: fields by JSON pointers, tried on a sample, signed by HMAC', async () => {
    const id = await seller('own')
    const paid = {
      event: 'paid',
      cents: 5000,
      order: { id: 17, charge: 'c17', partners: [id], 'buyer/mail': 'own@example.org' },
    }
    const { body: tried } = await service().post(`/sources/${generic}/try`, { payload: paid })
    assert.deepEqual(tried.conversions, [
      {
        kind: 'sale',
        reference: '17',
        currency: 'USD',
        affiliate_id: id,
        amount: 50,
        references: ['c17'],
        customer: { email: 'own@example.org' },
      },
    ])
    const deliver = async (payload: object, encoding: 'hex' | 'base64') => {
      const body = JSON.stringify(payload)
      const prefix = encoding === 'hex' ? 'sha256=' : ''
      const reply = await send(generic, body, { 'x-own-signature': prefix + mac(body, encoding) })
      return { status: reply.status, body: (await reply.json()) as any }
    }
    assert.deepEqual((await deliver(paid, 'hex')).body.results[0].status, 201)
    assert.deepEqual((await deliver(paid, 'base64')).body.results[0].status, 200)
    await deliver({ event: 'returned', cents: 1000, order: { id: 'c17' }, return: { id: 3 } }, 'hex')
    assert.equal(await owed(id), 4)
    const { body: refused } = await deliver({ event: 'paid', cents: 1.5, order: { id: 18 } }, 'hex')
    assert.equal(refused.results[0].status, 400)
    const problem = async () => (await service().get(`/sources/${generic}`)).body.problem
    assert.match(await problem(), /^"18": Invalid argument/)
    // What is invalid of the buyer is left out, and the sale is not lost.
    const unreachable = { ...paid.order, id: 19, charge: 'c19', 'buyer/mail': 'own.@example.org' }
    const { body: taken } = await deliver({ ...paid, order: unreachable }, 'hex')
    assert.equal(taken.results[0].status, 201)
    assert.match(
      await problem(),
      /^"19": recorded without what is invalid of the customer: email\. \(\d{4}-\d\d-\d\d \d\d:\d\d UTC\)$/,
    )
    assert.equal(await owed(id), 9)
    // Of minor units of which no currency is said, a sale is in the programme's, and a refund in that of its sale.
    const unsaid = await setUp({
      type: 'generic',
      context: 'unsaid',
      mapping: { kind: '/kind', reference: '/lines/0', part: 'p', amount: '/cents', minor_units: true },
    })
    const sale = { kind: 'sale', context: 'unsaid', reference: 'yen', amount: 500, currency: 'JPY' }
    assert.equal((await service().post('/conversions', sale)).status, 201)
    const read = async (payload: object) =>
      (await service().post(`/sources/${unsaid}/try`, { payload })).body.conversions[0]
    assert.deepEqual(await read({ kind: 'refund', lines: ['yen'], cents: 300 }), {
      kind: 'refund',
      reference: 'yen',
      part: 'p',
      currency: 'JPY',
      amount: 300,
    })
    assert.equal((await read({ kind: 'sale', lines: ['other'], cents: 300 })).amount, 3)
    const pointed = await service().patch(`/sources/${unsaid}`, {
      mapping: { kind: 'sale', reference: '/lines/', minor_units: false },
    })
    assert.equal(pointed.status, 200)
    assert.equal((await read({ lines: ['first'] })).reference, undefined)
    const misspelt = [{ minor_units: 'yes' }, { kind: 'sael' }, { kind: '/kind', kinds: { paid: 'sael' } }]
    for (const mapping of misspelt) {
      assertFailure(await service().patch(`/sources/${unsaid}`, { mapping }), 400, 'rest_invalid_param')
    }
    const wrong = await service().post('/sources', {
      type: 'generic',
      secret: SECRET,
      mapping: { total: '/a' },
    })
    assertFailure(wrong, 400, 'rest_invalid_param')
  })
})
