/** Orders of WooCommerce: what each of their states is worth. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { deliverTo, SECRET } from '../../../test/deliveries.ts'
import { describeService, giveSecretKey } from '../../../test/harness.ts'

describeService('orders of WooCommerce', service => {
  giveSecretKey()
  let shop: number
  const setUp = async (args: object) => {
    const { status, body } = await service().post('/sources', {
      ...{ name: 'Shop', type: 'woocommerce', secret: SECRET },
      ...args,
    })
    assert.equal(status, 201, JSON.stringify(body))
    return body.id as number
  }
  before(async () => {
    shop = await setUp({ context: 'orders' })
  })
  const deliver = (payload: object, { source = shop, headers = {} } = {}) =>
    deliverTo({ url: service().url, id: source, type: 'woocommerce' }, payload, headers)
  const seller = async (name: string) =>
    (await service().newAffiliate(name, { status: 'active', rate: 10, rate_type: 'percentage' })).id as number
  const owed = async (id: number) => (await service().get(`/affiliates/${id}/balances`)).body.unpaid as number
  const problemOf = async (id: number) => (await service().get(`/sources/${id}`)).body.problem as string
  const conversionsOf = async (order: number) =>
    (await service().get(`/conversions?reference=${order}&order=asc&number=100`)).body as any[]
  const storyOf = async (order: number) => {
    const [{ conversion_id }] = await conversionsOf(order)
    const { body } = await service().get(`/conversions/${conversion_id}/explanation`)
    return body.sentences.join(' ') as string
  }
  let orders = 4700
  /** An order of 120.00, tax 20.00, of which 10 % are 10.00. */
  const orderOf = (affiliate: number, args: object = {}) => ({
    id: ++orders,
    order_key: `wc_order_${orders}`,
    status: 'processing',
    currency: 'USD',
    total: '120.00',
    total_tax: '20.00',
    date_created_gmt: '2026-07-01T10:00:00',
    date_paid_gmt: '2026-07-01T10:00:05',
    date_modified_gmt: '2026-07-01T10:00:05',
    refunds: [],
    meta_data: [{ key: 'affiliate_id', value: String(affiliate) }],
    ...args,
  })
  const at = (hour: number) => ({ date_modified_gmt: `2026-07-02T${String(hour).padStart(2, '0')}:00:00` })
  /** Delivers states of an order one after another, each with what it is worth then. */
  const follow = async (affiliate: number, order: object, states: readonly (readonly [object, number])[]) => {
    for (const [state, worth] of states) {
      const { results } = await deliver({ ...order, ...state })
      // The sale itself stays as it was recorded, which its source says.
      for (const { status, message } of results) assert.ok(status < 300 || status === 409, message)
      assert.equal(await owed(affiliate), worth, JSON.stringify(state))
    }
  }

  test('saved again and again it says nothing new, and can be refunded and cancelled', async () => {
    const id = await seller('saved')
    for (const [status, most] of [
      ['processing', 21],
      ['completed', 1],
    ] as const) {
      const order = orderOf(id, { status })
      for (let hour = 0; hour < 24; hour += 1) await deliver({ ...order, ...at(hour) })
      assert.equal((await conversionsOf(order.id)).length, most)
    }
    assert.equal(await owed(id), 20)
    // One that was cancelled and is paid again is saved as often.
    const order = orderOf(id)
    await follow(id, order, [
      [{}, 30],
      [{ ...at(1), status: 'cancelled' }, 20],
      [at(2), 30],
    ])
    const saved = (day: number) =>
      deliver({ ...order, date_modified_gmt: new Date(Date.UTC(2026, 6, day)).toISOString().slice(0, 19) })
    for (let day = 3; day < 60; day += 1) await saved(day)
    assert.ok((await conversionsOf(order.id)).length < 30)
    await follow(id, { ...order, date_modified_gmt: '2026-10-01T10:00:00' }, [
      [{ status: 'cancelled' }, 20],
      [{ date_modified_gmt: '2026-10-02T10:00:00' }, 30],
    ])
  })

  test('given up and paid again at the same time, it is worth what it was', async () => {
    const id = await seller('at-once')
    const order = orderOf(id)
    await deliver(order)
    await Promise.all([deliver({ ...order, ...at(1), status: 'cancelled' }), deliver({ ...order, ...at(2) })])
    assert.equal(await owed(id), 10)
  })

  test('refunded whole, it is worth nothing, although one of its refunds is refused', async () => {
    const id = await seller('refused')
    const refunded = { ...at(1), status: 'refunded' }
    for (const state of [
      { ...refunded, currency: 'EUR', refunds: [{ id: 1, total: '-120.00' }] },
      { ...refunded, refunds: [{ id: 7, total: '-120.00' }] },
    ]) {
      const order = orderOf(id)
      await deliver(order)
      if (!('currency' in state)) await deliver({ ...order, refunds: [{ id: 7, total: '-10.00' }] })
      await deliver({ ...order, ...state })
      assert.equal(await owed(id), 0)
    }
  })

  test('given up beside another order of the same transaction, it is worth nothing, and the other what is left', async () => {
    const id = await seller('split')
    const transaction_id = 'ch_of_two'
    const large = orderOf(id, { transaction_id })
    const small = orderOf(id, { transaction_id, total: '12.00', total_tax: '2.00' })
    for (const order of [large, small]) await deliver(order)
    assert.equal(await owed(id), 10)
    await deliver({ ...small, ...at(1), status: 'cancelled' })
    assert.equal(await owed(id), 9)
  })

  test('given up or refunded whole, it is worth nothing, whatever was edited', async () => {
    const id = await seller('edited')
    const half = { total: '60.00', total_tax: '10.00' }
    const back = [{ id: 1, total: '-60.00' }]
    const ends: object[] = [
      { ...half, status: 'cancelled' },
      { ...half, status: 'failed', refunds: [{ id: 1, total: '-0.10' }] },
      { ...half, status: 'refunded', refunds: back },
      { ...half, status: 'refunded' },
      { total: '0.00', total_tax: '0.00', status: 'cancelled' },
      { total: '0.00', total_tax: '0.00', status: 'refunded' },
      { total: '240.00', status: 'cancelled' },
      { total: '60.00', currency: 'EUR', status: 'cancelled' },
      { total: undefined, status: 'cancelled' },
      { total: '120.00', status: 'refunded', refunds: [...back, { id: 2, total: '-60.00' }] },
    ]
    for (const end of ends) {
      const order = orderOf(id)
      await follow(id, order, [
        [{}, 10],
        [{ ...end, ...at(1) }, 0],
        [{ ...end, ...at(1) }, 0],
        [{ ...end, ...at(2) }, 0],
      ])
    }
    // One that is given up is worth what it was once it is paid again.
    await follow(id, orderOf(id), [
      [{}, 10],
      [{ ...half, status: 'cancelled', ...at(1) }, 0],
      [{ total: '0.00', status: 'cancelled', ...at(2) }, 0],
      [at(3), 10],
    ])
    // Without a sale, it is known by what it is now.
    const early = orderOf(id)
    await follow(id, early, [
      [{ ...half, status: 'cancelled', ...at(1) }, 10],
      [{}, 15],
      [{ ...half, status: 'cancelled', ...at(1) }, 10],
    ])
    assert.match(
      await storyOf(early.id),
      /120\.00 USD is disputed, or was lost or cancelled\. .*Nothing of it is left/,
    )
  })

  test('free, it is worth nothing once it was given up or refunded', async () => {
    const flat = { status: 'active', rate: 10, rate_type: 'flat' }
    const { id } = await service().newAffiliate('free', flat)
    for (const status of ['cancelled', 'refunded']) {
      await follow(id, orderOf(id, { total: '0.00', total_tax: '0.00' }), [
        [{}, 10],
        [{ status, ...at(1) }, 0],
      ])
    }
  })

  test('taken as sold without a time of payment, it is worth nothing once it is given up', async () => {
    const id = await seller('unpaid')
    // Cash on delivery has a time of payment only once the order is completed.
    const order = orderOf(id, { payment_method: 'cod', date_paid_gmt: null })
    for (const status of ['cancelled', 'failed', 'trash']) {
      const { results, ignored } = await deliver({ ...order, status })
      assert.deepEqual([results, ignored], [[], `The order is ${status}: it is not paid.`])
    }
    await follow(id, order, [
      [{}, 10],
      [{ ...at(1), status: 'cancelled' }, 0],
      [{ ...at(1), status: 'cancelled' }, 0],
      [at(2), 10],
      [{ ...at(3), status: 'failed' }, 0],
      [{ ...at(4), status: 'completed', date_paid_gmt: at(4).date_modified_gmt }, 10],
      [{ ...at(5), status: 'trash' }, 0],
    ])
    // Reported under its key by the shop itself.
    const own = orderOf(id, { date_paid_gmt: null, status: 'cancelled' })
    const sale = { kind: 'sale', context: 'orders', reference: own.order_key, amount: 80, affiliate_id: id }
    assert.equal((await service().post('/conversions', { ...sale, currency: 'USD' })).status, 201)
    assert.equal(await owed(id), 8)
    await follow(id, own, [[{}, 0]])
  })

  test('paid, it is sold in any state that does not say otherwise, and its refunds count in all', async () => {
    const id = await seller('states')
    let earned = 0
    for (const status of ['shipped', 'delivered', 'on-hold', 'processing']) {
      const order = orderOf(id, { status })
      const refunds = [{ id: 1, total: '-60.00' }]
      await follow(id, order, [
        [{}, earned + 10],
        [{ ...at(1), refunds }, earned + 5],
        [{ ...at(2), refunds, status: 'cancelled' }, earned],
        [{ ...at(3), refunds }, earned + 5],
        // Until it is paid once more, if ever.
        [{ ...at(4), status: 'pending', refunds: [...refunds, { id: 2, total: '-12.00' }] }, earned + 4],
      ])
      earned += 4
    }
    for (const status of ['pending', 'checkout-draft', 'auto-draft', 'draft', 'new', '']) {
      const { results, ignored } = await deliver(orderOf(id, { status }))
      assert.deepEqual([results, ignored], [[], `The order is ${status}: it is not paid.`])
    }
    // Each of its payments is an order.
    const subscription = orderOf(id, { status: 'active', billing_period: 'month' })
    assert.match((await deliver(subscription)).ignored, /no order/)
    for (const status of ['on-hold', 'shipped']) {
      const { results, ignored } = await deliver(orderOf(id, { status, date_paid_gmt: null }))
      assert.deepEqual([results, ignored], [[], `The order is ${status}: it is not paid.`])
    }
    // Cash on delivery.
    await follow(id, orderOf(id, { date_paid_gmt: null }), [
      [{}, earned + 10],
      [{ ...at(1), status: 'shipped', refunds: [{ id: 1, total: '-60.00' }] }, earned + 5],
    ])
  })

  test('put into the trash, it is worth nothing until it is restored', async () => {
    const id = await seller('trash')
    const order = orderOf(id)
    const topic = (name: string) => ({ headers: { 'x-wc-webhook-topic': name } })
    await follow(id, order, [[{}, 10]])
    // Of a product with the same number.
    assert.match((await deliver({ id: order.id }, topic('product.deleted'))).ignored, /no order/)
    assert.equal(await owed(id), 10)
    for (let times = 0; times < 2; times += 1) {
      // WordPress names it by text, where it is a post.
      await deliver({ id: times === 0 ? order.id : String(order.id) }, topic('order.deleted'))
      assert.equal(await owed(id), 0)
    }
    await follow(id, order, [
      // Long before the trash was reported, and behind what was known of it.
      [at(1), 10],
    ])
    // What is signed with more than a number is no deletion.
    await deliver(order, topic('order.deleted'))
    await deliver({ id: order.id, email: 'a@b.example' }, topic('order.deleted'))
    assert.equal(await owed(id), 10)
    const unknown = await deliver({ id: 999_999 }, topic('order.deleted'))
    assert.deepEqual([unknown.results, unknown.ignored], [[], 'No sale of the order is known.'])
    for (const payload of [{}, { id: null }, { id: 'x\u0000' }, { id: {} }]) {
      assert.deepEqual((await deliver(payload, topic('order.deleted'))).results, [])
    }
  })

  test('of another shop with the same context, it is not taken for the order of that number', async () => {
    const [own, other] = [await seller('shop-de'), await seller('shop-fr')]
    const [de, fr] = [await setUp({ name: 'Shop DE' }), await setUp({ name: 'Shop FR' })]
    const order = orderOf(own)
    await deliver(order, { source: de })
    assert.equal(await owed(own), 10)
    const said = `The order was recorded by source ${de} (Shop DE), which has the same context. Numbers of orders and customers count within a context: give each shop one of its own. All webhooks of one shop belong to one source.`
    const key = { order_key: 'wc_order_fr', meta_data: [{ key: 'affiliate_id', value: String(other) }] }
    const headers = { 'x-wc-webhook-topic': 'order.deleted' }
    const refused: [object, object][] = [
      [{ ...order, ...key }, {}],
      [{ ...order, ...key, total: '60.00', refunds: [{ id: 1, total: '-60.00' }] }, {}],
      [{ ...order, ...key, ...at(1), status: 'cancelled' }, {}],
      [{ id: order.id }, { headers }],
    ]
    for (const [payload, how] of refused) {
      const { results } = await deliver(payload, { source: fr, ...how })
      const conflict = { status: 409, code: 'rest_conversion_conflict', message: said }
      assert.deepEqual(results, [conflict])
      assert.ok((await problemOf(fr)).startsWith(`"${order.id}": ${said} (`), await problemOf(fr))
    }
    assert.deepEqual([await owed(own), await owed(other), await problemOf(de)], [10, 0, ''])
    // Who has its key, reports the same order.
    await deliver({ ...order, refunds: [{ id: 1, total: '-60.00' }] }, { source: fr })
    assert.equal(await owed(own), 5)
    // Others are taken, and with a context of its own or in the place of the other source this one as well.
    const next = orderOf(other)
    await deliver(next, { source: fr })
    assert.equal(await owed(other), 10)
    await service().patch(`/sources/${de}`, { status: 'inactive' })
    await deliver({ ...order, ...key, ...at(1), status: 'cancelled' }, { source: fr })
    assert.equal(await owed(own), 0)
    await service().patch(`/sources/${de}`, { status: 'active' })
    await service().patch(`/sources/${fr}`, { context: 'shop-fr' })
    await deliver({ ...order, ...key }, { source: fr })
    assert.equal(await owed(other), 20)
    await service().patch(`/sources/${de}`, { context: 'shop-de' })
  })
})
