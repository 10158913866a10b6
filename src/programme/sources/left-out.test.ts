/** A sale is recorded whatever is wrong with what decides nothing: that is left out, or made fit. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { deliverTo, type SourceType, sourceOfEach } from '../../../test/deliveries.ts'
import { describeService, giveSecretKey } from '../../../test/harness.ts'

const LONG = 'x'.repeat(191)

describeService('deliveries with something that is invalid', service => {
  giveSecretKey()
  let ids: Record<SourceType, number>
  let affiliate = 0
  before(async () => {
    const own = { status: 'active', rate: 20, rate_type: 'percentage' }
    affiliate = (await service().newAffiliate('seller', own)).id
    const coupon = { affiliate_id: affiliate, code: 'SAVE' }
    assert.equal((await service().post('/coupons', coupon)).status, 201)
    const mapping = {
      kind: '/kind',
      reference: '/id',
      part: '/part',
      amount: '/amount',
      tax: '/tax',
      shipping: '/shipping',
      currency: '/currency',
      affiliate_id: '/partner',
      visit_id: '/visit',
      coupon: '/coupon',
      'click.first': '/first',
      'click.last': '/last',
      'customer.id': '/buyer',
      'customer.country': '/country',
    }
    ids = await sourceOfEach((path, body) => service().post(path, body), mapping)
  })
  const deliver = (type: SourceType, payload: object) =>
    deliverTo({ url: service().url, id: ids[type], type }, payload)
  const problemOf = async (type: SourceType) =>
    (await service().get(`/sources/${ids[type]}`)).body.problem as string
  const owed = async () => (await service().get(`/affiliates/${affiliate}/balances`)).body.unpaid as number
  let payments = 0
  const named = () => ++payments + 10_000
  const recorded = async (id: number) => (await service().get(`/conversions?reference=${id}`)).body[0]
  /** An order of 120.00, of which 20.00 are tax. */
  const order = (args: object) => ({
    id: named(),
    currency: 'USD',
    status: 'completed',
    total: '120.00',
    total_tax: '20.00',
    date_paid_gmt: '2026-07-01T10:00:00',
    ...args,
  })
  const meta = (key: string, value: unknown) => ({ meta_data: [{ key, value }] })
  /** What is paid to the affiliate of the coupon for something that is worth 100.00. */
  const earns = async (type: SourceType, payload: object, earned: number) => {
    const before = await owed()
    const { results } = await deliver(type, payload)
    assert.equal(results[0].status, 201, JSON.stringify([payload, results]))
    assert.equal((await owed()) - before, earned, JSON.stringify(payload))
  }

  test('an affiliate who cannot be one: another claim is credited', async () => {
    for (const value of ['0', '-1', 0, -1, 'login', '', null, [7], '1.5', '1e300']) {
      const coupon_lines = [{ code: 'SAVE' }]
      await earns('woocommerce', order({ ...meta('affiliate_id', value), coupon_lines }), 20)
      const session = { id: `cs_${named()}`, payment_status: 'paid', amount_total: 1000, currency: 'usd' }
      const metadata = { affiliate_id: value, coupon: 'SAVE' }
      const completed = { type: 'checkout.session.completed', created: 1_780_000_000 }
      await earns('stripe', { ...completed, data: { object: { ...session, metadata } } }, 2)
      const sale = { kind: 'sale', id: named(), amount: 10, coupon: 'SAVE' }
      await earns('generic', { ...sale, partner: value, visit: value }, 2)
    }
    assert.match(
      await problemOf('woocommerce'),
      /recorded without what is invalid of its origin: affiliate_id\./,
    )
    assert.match(await problemOf('generic'), /of its origin: affiliate_id, visit_id\. \(/)
  })

  test('nobody is named by 0, which is no problem', async () => {
    const payload = { kind: 'sale', id: named(), amount: 10, coupon: 'SAVE', partner: 0, visit: '0' }
    const before = await problemOf('generic')
    await earns('generic', payload, 2)
    assert.equal(await problemOf('generic'), before)
  })

  test('a coupon, click or product that cannot be one', async () => {
    const credited = meta('affiliate_id', String(affiliate))
    for (const code of [LONG, 'A\nB']) {
      await earns('woocommerce', order({ ...credited, coupon_lines: [{ code }] }), 20)
      assert.match(await problemOf('woocommerce'), /of its origin: coupon\. \(/)
    }
    const sale = { kind: 'sale', amount: 10, partner: affiliate }
    for (const last of ['x'.repeat(2049), 'A\nB']) {
      const coupon_lines = [{ code: 'SAVE' }]
      await earns('woocommerce', order({ ...meta('aff_click', last), coupon_lines }), 20)
      assert.match(await problemOf('woocommerce'), /of its origin: click\.last\. \(/)
      await earns('generic', { ...sale, id: named(), first: 'foreign', last, country: 'D1', buyer: 'b' }, 2)
      assert.match(await problemOf('generic'), /of the customer: country; of its origin: click\.last\. \(/)
    }
    const items = [
      { sku: `A\tB\u202E${LONG}`, product_id: 1, total: '50.00' },
      { sku: '\t', product_id: 2, total: '30.00' },
      { sku: '\u{1F600}'.repeat(191), total: '20.00' },
    ]
    const bought = order({ ...credited, line_items: items })
    await earns('woocommerce', bought, 20)
    assert.deepEqual(
      (await recorded(bought.id)).lines.map((line: any) => line.product),
      [`A B ${LONG}`.slice(0, 190), '2', '\u{1F600}'.repeat(190)],
    )
  })

  test('more lines or pieces than can be are refused', async () => {
    const line = { product_id: 1, total: '1.00' }
    const wrong: [object[], RegExp][] = [
      [Array.from({ length: 201 }, () => line), /lines/],
      [[{ ...line, quantity: 2_000_000 }], /quantity/],
    ]
    for (const [line_items, reason] of wrong) {
      const { results } = await deliver('woocommerce', order({ line_items }))
      assert.equal(results[0].status, 400)
      assert.match(results[0].message, reason)
      assert.match(await problemOf('woocommerce'), reason)
    }
  })

  test('WooCommerce: amounts of more decimals than the currency has are rounded', async () => {
    const line_items = [{ product_id: 1, total: '104.99495' }]
    const exact = { total: '124.9537', total_tax: '19.9550', shipping_total: '5.0049', discount_total: 0.005 }
    const sold = order({ ...exact, line_items, ...meta('affiliate_id', `${affiliate}`) })
    await earns('woocommerce', sold, 20)
    const { amount, tax, shipping, discount, lines } = await recorded(sold.id)
    assert.deepEqual([amount, tax, shipping, discount, lines[0].amount], [124.95, 19.96, 5, 0.01, 104.99])
    const before = await owed()
    const refunds = [
      { id: 1, total: '-24.995' },
      { id: 2, total: '-99.9587' },
    ]
    for (const some of [refunds.slice(0, 1), refunds]) {
      const { results } = await deliver('woocommerce', { ...sold, refunds: some })
      for (const { status, message } of results) assert.ok(status < 300, message)
    }
    assert.equal(await owed(), before - 20)
    const yen = order({ currency: 'JPY', total: '1190.00', total_tax: '108.5', shipping_total: '1081.5' })
    await deliver('woocommerce', yen)
    const inYen = await recorded(yen.id)
    assert.deepEqual([inYen.amount, inYen.tax, inYen.shipping], [1190, 109, 1081])
    const dinar = order({ currency: 'kwd', total: '12.34550' })
    await deliver('woocommerce', dinar)
    assert.equal((await recorded(dinar.id)).amount, 12.346)
  })

  test('generic: so are those that are no minor units, and lines and totals fit', async () => {
    const read: [sent: object, amounts: number[]][] = [
      [{ amount: '1.005', currency: 'eur' }, [1.01, 0, 0]],
      [{ amount: 1.0049 }, [1, 0, 0]],
      [{ amount: 27.869999999999997 }, [27.87, 0, 0]],
      [{ amount: 0.004 }, [0, 0, 0]],
      [{ amount: 3, tax: 1.005, shipping: 1.995 }, [3, 1.01, 1.99]],
      [{ amount: 2.994, tax: 1.005, shipping: '1.989' }, [2.99, 1.01, 1.98]],
      [{ amount: '1000.5', tax: 0.4, currency: 'JPY' }, [1001, 0, 0]],
    ]
    for (const [sent, amounts] of read) {
      const payload = { kind: 'sale', id: named(), ...sent }
      const { results } = await deliver('generic', payload)
      assert.equal(results[0].status, 201, JSON.stringify([sent, results]))
      const { amount, tax, shipping } = await recorded(payload.id)
      assert.deepEqual([amount, tax, shipping], amounts, JSON.stringify(sent))
      assert.equal((await deliver('generic', payload)).results[0].status, 200)
    }
    const id = named()
    await earns('generic', { kind: 'sale', id, amount: 10, currency: 'JPY', partner: affiliate }, 0)
    // A refund is in the currency of its sale.
    const refund = { kind: 'refund', id, part: '1', amount: '-4.5' }
    assert.equal((await deliver('generic', refund)).results[0].status, 201)
    const [, { amount }] = (await service().get(`/conversions?reference=${id}&order=asc`)).body
    assert.equal(amount, 5)
    for (const wrong of [
      { amount: 10, tax: 8.006, shipping: 2.006 },
      { amount: -0.5 },
      { amount: '1e15' },
      { amount: 1.234, currency: 'XYZ' },
      { amount: 1.234, currency: { toString: 1, valueOf: 1 } },
    ]) {
      const { results } = await deliver('generic', { kind: 'sale', id: named(), ...wrong })
      assert.equal(results[0].status, 400, JSON.stringify([wrong, results]))
    }
  })
})
