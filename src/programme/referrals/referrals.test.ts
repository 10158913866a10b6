import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertFailure, describeService } from '../../../test/harness.ts'

const FIELDS = [
  'referral_id',
  'affiliate_id',
  'visit_id',
  'rest_id',
  'customer_id',
  'parent_id',
  'description',
  'status',
  'amount',
  'currency',
  'custom',
  'context',
  'campaign',
  'reference',
  'products',
  'date',
  'type',
  'payout_id',
  'id',
]

describeService('referrals: create', service => {
  let affiliate: { id: number; user_id: number }
  before(async () => {
    affiliate = await service().newAffiliate('earner', { username: 'Earner' })
  })
  const create = (args: object) => service().post('/referrals', { affiliate_id: affiliate.id, ...args })

  test('201 - products as PHP writes them in a form or a query', async () => {
    const products = [
      { name: 'mug', price: '5' },
      { name: 'cup', price: '7', sizes: ['s', 'l'] },
    ]
    const sent = new URLSearchParams({ affiliate_id: String(affiliate.id), amount: '1' })
    for (const [place, { name, price, sizes = [] }] of products.entries()) {
      sent.set(`products[${place}][name]`, name)
      sent.set(`products[${place}][price]`, price)
      for (const [index, size] of sizes.entries()) sent.set(`products[${place}][sizes][${index}]`, size)
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const reply of [
      await service().post('/referrals', String(sent), { headers: form }),
      await service().post(`/referrals?${sent}`),
    ]) {
      assert.equal(reply.status, 201, JSON.stringify(reply.body))
      assert.deepEqual(reply.body.products, products)
    }
  })

  test('200 - an edit of order_total changes no amount, as its description says', async () => {
    const { body: earned } = await create({ order_total: 100 })
    assert.equal(earned.amount, '20.00')
    const { status, body } = await service().patch(`/referrals/${earned.id}`, { order_total: 500 })
    assert.deepEqual([status, body.amount], [200, '20.00'])
    const { endpoints } = (await service().send('OPTIONS', `/referrals/${earned.id}`)).body
    const said = endpoints.find(({ methods }: any) => methods.includes('PATCH')).args.amount.description
    assert.match(said, /Unchanged when omitted, whatever order_total is\./)
  })

  test('201 - a map by identifier in a form stays one', async () => {
    const reply = await service().post(
      '/referrals',
      `affiliate_id=${affiliate.id}&amount=1&custom[12][a]=b&custom[14][a]=c`,
      {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
    )
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    assert.deepEqual(reply.body.custom, { 12: { a: 'b' }, 14: { a: 'c' } })
  })

  test('400 - a parent that is the referral itself, or below it', async () => {
    const [above, below] = [(await create({})).body.referral_id, (await create({})).body.referral_id]
    assert.equal((await service().patch(`/referrals/${below}`, { parent_id: above })).status, 200)
    for (const parent_id of [above, below]) {
      const reply = await service().patch(`/referrals/${above}`, { parent_id })
      assertFailure(reply, 400, 'rest_invalid_param')
      assert.match(reply.body.data.params.parent_id, /neither the referral itself nor one below it/)
    }
    assert.equal((await service().patch(`/referrals/${below}`, { parent_id: 0 })).status, 200)
    assert.equal((await service().patch(`/referrals/${above}`, { parent_id: below })).status, 200)
  })

  test('201 - with all that can be sent', async () => {
    const { body: parent } = await create({})
    const reply = await create({
      parent_id: parent.id,
      rest_id: '1:77',
      amount: 12.5,
      description: 'two books\nand a pen',
      reference: 'order 7',
      context: 'WooCommerce',
      campaign: 'Spring',
      currency: 'usd',
      custom: { coupon: ['A', 'B'] },
      products: [{ id: 3, price: '9.99' }],
      order_total: 62.5,
      date: '2026-01-02 03:04:05',
      type: 'lead',
      status: 'unpaid',
    })
    assert.equal(reply.status, 201)
    assert.deepEqual(Object.keys(reply.body), FIELDS)
    const { referral_id, ...rest } = reply.body
    assert.deepEqual(rest, {
      affiliate_id: affiliate.id,
      visit_id: 0,
      rest_id: '1:77',
      customer_id: '0',
      parent_id: parent.id,
      description: 'two books\nand a pen',
      status: 'unpaid',
      amount: '12.50',
      currency: 'USD',
      custom: { coupon: ['A', 'B'] },
      context: 'woocommerce',
      campaign: 'Spring',
      reference: 'order 7',
      products: [{ id: 3, price: '9.99' }],
      date: '2026-01-02 03:04:05',
      type: 'lead',
      payout_id: '0',
      id: referral_id,
    })
    assert.equal(reply.headers.get('location'), `${service().url}/v1/referrals/${referral_id}`)
    assert.deepEqual((await service().get(`/referrals/${referral_id}`)).body, reply.body)
  })

  test('201, 200 - a rest_id without a colon is ignored, and leaves what is there', async () => {
    const { status, body, headers } = await service().post(
      `/referrals?affiliate_id=${affiliate.id}&amount=5&rest_id=17`,
    )
    assert.deepEqual([status, body.rest_id, headers.get('x-ignored-arguments')], [201, '', 'rest_id'])
    const edit = async (rest_id: unknown) => {
      const reply = await service().patch(`/referrals/${body.id}`, { rest_id })
      return [reply.status, reply.body.rest_id, reply.headers.get('x-ignored-arguments')]
    }
    assert.deepEqual(await edit('1:17'), [200, '1:17', null])
    assert.deepEqual(await edit('17'), [200, '1:17', 'rest_id'])
    assert.deepEqual(await edit(17), [200, '1:17', 'rest_id'])
    assert.deepEqual(await edit(''), [200, '', null])
  })

  test('201 - with the least that can be sent, in the query, by PUT or PATCH', async () => {
    for (const method of ['PUT', 'PATCH']) {
      const { status, body } = await service().send(
        method,
        `/referrals?affiliate_id=${affiliate.id}&amount=29.00&custom=text&currency=`,
      )
      assert.equal(status, 201)
      const { amount, status: pending, type, currency, custom, products, reference } = body
      assert.deepEqual(
        { amount, pending, type, currency, custom, products, reference },
        {
          amount: '29.00',
          pending: 'pending',
          type: 'sale',
          currency: 'USD',
          custom: 'text',
          products: '',
          reference: '',
        },
      )
    }
  })

  test('201 - the affiliate by account or by login, in any case of letters', async () => {
    for (const by of [{ user_id: affiliate.user_id }, { user_name: 'EARNER' }]) {
      const reply = await service().post('/referrals', by)
      assert.equal(reply.status, 201)
      assert.equal(reply.body.affiliate_id, affiliate.id)
    }
  })

  test('201 - a refund and a write-off may be negative, and a write-off is owed at once', async () => {
    assert.equal((await create({ type: 'refund', amount: -3, status: 'unpaid' })).body.amount, '-3.00')
    const { body } = await create({ type: 'write_off', amount: -0.5 })
    assert.deepEqual([body.amount, body.status], ['-0.50', 'unpaid'])
  })

  test('400 - nobody is named', async () => {
    const reply = await service().post('/referrals', { amount: 1 })
    assertFailure(reply, 400, 'rest_missing_callback_param')
    assert.deepEqual(reply.body.data.params, ['affiliate_id'])
    for (const by of [{ user_id: 1 }, { user_name: 'nobody' }]) {
      const wrong = await service().post('/referrals', by)
      assertFailure(wrong, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(wrong.body.data.params), Object.keys(by))
    }
  })

  test('400 - wrong values, all named, and nothing is written', async () => {
    const before = await service().get('/referrals?count=1')
    const reply = await create({
      affiliate_id: 987654,
      parent_id: 987654,
      amount: 1.005,
      status: 'draft',
      type: 'gift',
      currency: 'XYZ',
      reference: 'x'.repeat(191),
      products: 'books',
      rest_id: '1:\u0000',
      date: 'yesterday',
      custom: 'x'.repeat(70_000),
    })
    assertFailure(reply, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(reply.body.data.params).sort(), [
      'affiliate_id',
      'amount',
      'currency',
      'custom',
      'date',
      'parent_id',
      'products',
      'reference',
      'rest_id',
      'status',
      'type',
    ])
    assert.match(reply.body.data.params.rest_id, /as site:id, or empty/)
    assert.equal(
      (await service().get('/referrals?count=1')).headers.get('x-total-count'),
      before.headers.get('x-total-count'),
    )
  })

  for (const args of [{ amount: -1 }, { amount: 1e12 }, { amount: 'ten' }, { amount: -1, type: 'lead' }]) {
    test(`400 - ${JSON.stringify(args)}`, async () => {
      const reply = await create(args)
      assertFailure(reply, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(reply.body.data.params), ['amount'])
    })
  }
})

describeService('referrals: the same again', service => {
  let affiliate: number
  before(async () => {
    affiliate = (await service().newAffiliate('shop')).id
  })
  const order = (args: object = {}) => ({
    affiliate_id: affiliate,
    context: 'shop',
    reference: '1',
    amount: 5,
    status: 'unpaid',
    ...args,
  })
  const send = (args: object) => service().post('/referrals', args)

  test('200 - what is sent again answers what is there', async () => {
    const first = await send(order())
    assert.equal(first.status, 201)
    const again = await send(order())
    assert.equal(again.status, 200)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(again.body, first.body)
    // Also after somebody has decided about it.
    await service().patch(`/referrals/${first.body.id}`, { amount: 4 })
    const later = await send(order())
    assert.deepEqual([later.status, later.body.amount], [200, '4.00'])
  })

  test('200 - the same objects, whose members are in another order', async () => {
    const products = [{ name: 'Tea', price: 5 }]
    const sent = order({ reference: 'ordered', custom: { b: '3', a: { d: 2, c: 1 } }, products })
    assert.equal((await send(sent)).status, 201)
    const custom = { a: { c: 1, d: 2 }, b: '3' }
    const turned = [{ price: 5, name: 'Tea' }]
    const same = order({ reference: 'ordered', custom, products: turned })
    for (const args of [same, { affiliate_id: affiliate, context: 'SHOP', reference: 'ordered', custom }]) {
      const { status, body } = await send(args)
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(Object.keys(body.custom), ['b', 'a'])
    }
    assertFailure(await send({ ...same, custom: { ...custom, b: '1' } }), 409, 'rest_referral_exists')
  })

  test('409 - another amount, which names the referral that is there', async () => {
    const { body: first } = await send(order({ reference: '2' }))
    const other = await send(order({ reference: '2', amount: 6 }))
    assertFailure(other, 409, 'rest_referral_exists')
    assert.equal(other.body.data.referral_id, first.id)
  })

  test('201 - another context, another type, another affiliate, a refund, no context, or one that was rejected', async () => {
    const other = (await service().newAffiliate('second')).id
    const reference = '3'
    assert.equal((await send(order({ reference }))).status, 201)
    for (const args of [
      { context: 'other' },
      { type: 'lead' },
      { affiliate_id: other },
      { type: 'refund', amount: -1 },
      { type: 'refund', amount: -1 },
      { context: '' },
      { context: '' },
    ]) {
      assert.equal((await send(order({ reference, ...args }))).status, 201, JSON.stringify(args))
    }
    const { body: rejected } = await send(order({ reference: '4' }))
    await service().patch(`/referrals/${rejected.id}`, { status: 'rejected' })
    const { status, body } = await send(order({ reference: '4' }))
    assert.equal(status, 201)
    assert.notEqual(body.id, rejected.id)
    const revived = await service().patch(`/referrals/${rejected.id}`, { status: 'pending' })
    assertFailure(revived, 409, 'rest_referral_exists')
    assert.equal(revived.body.data.referral_id, body.id)
    const { body: another } = await send(order({ reference: '4 again' }))
    const renamed = await service().patch(`/referrals/${another.id}`, { reference: '4' })
    assertFailure(renamed, 409, 'rest_referral_exists')
    assert.equal(renamed.body.data.referral_id, body.id)
  })

  test('200 equal creates at once make one referral, one transfer and one event', async () => {
    const args = order({ reference: 'race', amount: 7 })
    const replies = await Promise.all(Array.from({ length: 200 }, () => send(args)))
    const ids = new Set(replies.map(({ body }) => body.id))
    assert.equal(ids.size, 1)
    assert.equal(replies.filter(({ status }) => status === 201).length, 1)
    assert.ok(replies.every(({ body }) => JSON.stringify(body) === JSON.stringify(replies[0]!.body)))
    const { reader } = service().database
    const [id] = [...ids]
    const transfers = await reader
      .selectFrom('ledger_transfers')
      .select('event_id')
      .where('referral_id', '=', id!)
      .execute()
    const events = await reader
      .selectFrom('events')
      .select('id')
      .where('record_kind', '=', 'referral')
      .where('record_id', '=', id!)
      .execute()
    assert.deepEqual(
      transfers.map(row => row.event_id),
      events.map(row => row.id),
    )
    assert.equal(events.length, 1)
  })
})

describeService('referrals: edit and delete', service => {
  let affiliate: number
  before(async () => {
    affiliate = (await service().newAffiliate('edited')).id
  })
  const made = async (args: object = {}) =>
    (await service().post('/referrals', { affiliate_id: affiliate, amount: 10, ...args })).body
  const figures = async (id = affiliate) => {
    const { earnings, unpaid_earnings, referrals } = (await service().get(`/affiliates/${id}`)).body
    return [earnings, unpaid_earnings, referrals]
  }

  test('200 - only what was sent changes, and the figures of the affiliate follow', async () => {
    const before = await made({ reference: 'a', description: 'kept' })
    const path = `/referrals/${before.id}`
    assert.deepEqual(await figures(), [0, 0, 0])
    const approved = await service().patch(`${path}?status=unpaid`)
    assert.equal(approved.status, 200)
    assert.deepEqual(approved.body, { ...before, status: 'unpaid' })
    assert.deepEqual(await figures(), [0, 10, 1])
    const changed = await service().send('PUT', path, { body: { amount: 12.34, reference: '' } })
    assert.deepEqual(changed.body, { ...approved.body, amount: '12.34', reference: '' })
    assert.deepEqual(await figures(), [0, 12.34, 1])
    await service().post(path, { status: 'paid' })
    assert.deepEqual(await figures(), [12.34, 0, 1])
    await service().post(path, { status: 'unpaid' })
    const other = (await service().newAffiliate('heir')).id
    await service().patch(path, { affiliate_id: other, amount: 1 })
    assert.deepEqual(
      [await figures(), await figures(other)],
      [
        [0, 0, 0],
        [0, 1, 1],
      ],
    )
    await service().patch(path, { status: 'rejected' })
    assert.deepEqual(await figures(other), [0, 0, 0])
  })

  test('409 - a move that there is not', async () => {
    const { id } = await made({ status: 'paid' })
    const reply = await service().patch(`/referrals/${id}`, { status: 'rejected' })
    assertFailure(reply, 409, 'rest_referral_conflict')
    assert.match(reply.body.message, /paid can become unpaid, not rejected/)
  })

  test('400 - wrong values; 404 - not there', async () => {
    const { id } = await made()
    const wrong = await service().patch(`/referrals/${id}`, {
      status: 'draft',
      amount: -1,
      affiliate_id: 987654,
    })
    assertFailure(wrong, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(wrong.body.data.params).sort(), ['affiliate_id', 'amount', 'status'])
    for (const reply of [
      await service().get('/referrals/987654'),
      await service().patch('/referrals/987654', { status: 'paid' }),
      await service().delete('/referrals/987654'),
    ]) {
      assertFailure(reply, 404, 'invalid_referral_id')
    }
  })

  test('200 - delete shows the record as it was, and its amount goes back', async () => {
    const owner = (await service().newAffiliate('deleted')).id
    const before = await made({ affiliate_id: owner, status: 'unpaid' })
    assert.deepEqual(await figures(owner), [0, 10, 1])
    const gone = await service().delete(`/referrals/${before.id}`)
    assert.deepEqual([gone.status, gone.body], [200, { deleted: true, previous: before }])
    assert.deepEqual(await figures(owner), [0, 0, 0])
  })

  test('200 - lists: by what existing clients send', async () => {
    const owner = (await service().newAffiliate('listed')).id
    const rows = []
    for (const [index, status] of ['pending', 'unpaid', 'paid'].entries()) {
      const args = {
        affiliate_id: owner,
        status,
        amount: index + 1,
        reference: `L${index}`,
        context: 'list',
        campaign: 'c',
      }
      rows.push(await made({ ...args, date: `2026-02-0${index + 1}` }))
    }
    const list = async (query: string) =>
      (await service().get(`/referrals?affiliate_id=${owner}&${query}`)).body.map((row: any) => row.reference)
    assert.deepEqual(await list('orderby=date&order=DESC'), ['L2', 'L1', 'L0'])
    assert.deepEqual(await list('status=unpaid'), ['L1'])
    assert.deepEqual(await list('filter[status][]=unpaid&filter[status][]=paid'), ['L1', 'L2'])
    assert.deepEqual(await list('reference=L2'), ['L2'])
    assert.deepEqual(await list('ref_context=LIST&number=1&offset=1'), ['L1'])
    assert.deepEqual(await list('campaign=c&orderby=amount&order=desc'), ['L2', 'L1', 'L0'])
    assert.deepEqual(await list('date[start]=2026-02-02'), ['L1', 'L2'])
    assert.deepEqual(await list('amount[min]=2&amount[max]=2'), ['L1'])
    assert.deepEqual(await list('search=l2'), ['L2'])
    assert.deepEqual(await list('type=lead'), [])
    await made({
      affiliate_id: owner,
      context: 'woo-eu',
      campaign: 'Été 2026',
      description: 'a hat',
      type: 'lead',
    })
    for (const words of ['été', 'ete', 'WOO', 'lea', 'hat', 'lead 2026 woo-eu']) {
      assert.deepEqual(await list(`search=${encodeURIComponent(words)}`), [''], words)
    }
    assert.deepEqual(await list('search=sale'), ['L0', 'L1', 'L2'])
    await service().delete(`/referrals/${(await service().get('/referrals?search=woo-eu')).body[0].id}`)
    const { body } = await service().get(`/referrals?affiliate_id=${owner}&fields=ids`)
    assert.deepEqual(
      body,
      rows.map(row => row.id),
    )
  })

  test('search - digits find a record by its number, and by what the shop calls it; after # by its number alone', async () => {
    const { id: affiliate_id } = await service().newAffiliate('numbered')
    const make = async (reference: string) =>
      (await service().post('/referrals', { affiliate_id, amount: 1, reference })).body.referral_id
    const first = await make('first')
    const called = await make(String(first))
    await make(`${first}0`)
    const found = async (search: string) => {
      const { body } = await service().get(`/referrals?search=${encodeURIComponent(search)}&order=asc`)
      return body.map(({ referral_id }: { referral_id: number }) => referral_id)
    }
    assert.deepEqual(await found(String(first)), [first, called])
    assert.deepEqual(await found(`#${first}`), [first])
  })
})

describeService('referrals: totals in the area', service => {
  test('200 - count and sum by status, exact, and narrowed as the list is', async () => {
    const { id } = await service().newAffiliate('totalled')
    for (const [amount, status] of [
      [999_999_999_999.99, 'unpaid'],
      [999_999_999_999.99, 'unpaid'],
      [0.1, 'pending'],
    ]) {
      await service().post('/referrals', { affiliate_id: id, amount, status })
    }
    const admin = await service().admin()
    const { body } = await admin.get(`/referrals/totals?affiliate_id=${id}`)
    assert.deepEqual(body.by_status.unpaid, { count: 2, sum: 1_999_999_999_999.98 })
    assert.deepEqual(
      [body.count, body.sum, body.by_status.paid],
      [3, 2_000_000_000_000.08, { count: 0, sum: 0 }],
    )
    assert.equal((await admin.get(`/referrals/totals?affiliate_id=${id}&status=pending`)).body.sum, 0.1)
    assertFailure(await service().get('/referrals/totals'), 404, 'rest_no_route')
  })
})
