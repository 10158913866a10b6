/** Amounts in deliveries: each is read as what it is, or refused, since what was recorded stays. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { deliverTo, type SourceType, sourceOfEach } from '../../../test/deliveries.ts'
import { describeService, giveSecretKey } from '../../../test/harness.ts'

describeService('amounts in deliveries', service => {
  giveSecretKey()
  let ids: Record<SourceType, number>
  before(async () => {
    const mapping = {
      kind: '/kind',
      reference: '/id',
      part: '/part',
      amount: '/cents',
      tax: '/tax',
      minor_units: true,
      currency: 'USD',
    }
    ids = await sourceOfEach((path, body) => service().post(path, body), mapping)
  })
  const deliver = (type: SourceType, payload: object) =>
    deliverTo({ url: service().url, id: ids[type], type }, payload)
  const problemOf = async (type: SourceType) =>
    (await service().get(`/sources/${ids[type]}`)).body.problem as string
  const conversionOf = async (reference: string) =>
    (await service().get(`/conversions?reference=${reference}`)).body[0]
  /** Nothing of it is recorded, and the source says why. */
  const refused = async (type: SourceType, payload: object, reference: string, reason: RegExp) => {
    const { results } = await deliver(type, payload)
    assert.deepEqual(
      results.map((one: any) => one.status),
      [400],
      JSON.stringify([payload, results]),
    )
    assert.match(results[0].message, reason)
    const problem = await problemOf(type)
    assert.ok(problem.includes(JSON.stringify(reference)) && reason.test(problem), problem)
    assert.equal(await conversionOf(reference), undefined)
  }
  let payloads = 0
  const named = () => `amount-${++payloads}`

  test('minor units: text is the number that it is anywhere, or is refused', async () => {
    const read: [unknown, number][] = [
      [1050, 10.5],
      ['1050', 10.5],
      ['+1050', 10.5],
      ['1050.', 10.5],
      ['1.05e3', 10.5],
      ['10e2', 10],
      ['1e3', 10],
    ]
    for (const [cents, amount] of read) {
      const id = named()
      const { results } = await deliver('generic', { kind: 'sale', id, cents })
      assert.equal(results[0].status, 201, JSON.stringify(results))
      assert.equal((await conversionOf(id)).amount, amount, String(cents))
    }
    const returned = { kind: 'refund', part: '1', id: named(), cents: '-1.05e3' }
    await deliver('generic', returned)
    assert.equal((await conversionOf(returned.id)).amount, 10.5)
    const unread = ['.5', 'abc', '12,00', '0x10', '10.50 USD', ' 1050', '1_050', true, {}, [1050]]
    for (const cents of unread) {
      const id = named()
      await refused('generic', { kind: 'sale', id, cents }, id, /amount: must/)
      const taxed = named()
      await refused('generic', { kind: 'sale', id: taxed, cents: 5000, tax: cents }, taxed, /tax: must/)
    }
    for (const cents of [undefined, null, '']) {
      const id = named()
      await refused('generic', { kind: 'sale', id, cents }, id, /Missing argument: amount/)
    }
  })

  const event = (type: string, object: object) => ({ type, created: 1_780_000_000, data: { object } })

  test('Stripe: an amount that is missing or no number is refused, and never 0', async () => {
    const session = (args: object) => ({ payment_status: 'paid', currency: 'usd', ...args })
    const paid = (args: object) => ({ currency: 'usd', ...args })
    const unread = ['abc', '12,00', {}, true]
    const missing = [undefined, null, '']
    for (const value of [...unread, ...missing]) {
      const reason = missing.some(one => one === value)
        ? /Missing argument: amount/
        : /amount: must be a number/
      const cases: [type: string, object: object][] = [
        ['checkout.session.completed', session({ amount_total: value })],
        ['checkout.session.async_payment_succeeded', session({ amount_total: value })],
        ['invoice.paid', paid({ amount_paid: value })],
        ['invoice.paid', paid({ amount_paid: value, total: 5000 })],
        ['charge.refunded', paid({ amount_refunded: value })],
      ]
      for (const [type, object] of cases) {
        const id = named()
        await refused('stripe', event(type, { id, ...object }), id, reason)
      }
      const charge = named()
      const dispute = { id: 'du', charge, currency: 'usd', amount: value, status: 'needs_response' }
      await refused('stripe', event('charge.dispute.created', dispute), charge, reason)
    }
    const session5 = session({ amount_total: 5000 })
    for (const value of unread) {
      const wrong: [type: string, object: object, reason: RegExp][] = [
        ['checkout.session.completed', { ...session5, total_details: { amount_tax: value } }, /tax: must be/],
        [
          'checkout.session.completed',
          { ...session5, total_details: { amount_shipping: value } },
          /shipping: must be/,
        ],
        [
          'checkout.session.completed',
          { ...session5, total_details: { amount_discount: value } },
          /discount: must be/,
        ],
        ['invoice.paid', paid({ amount_paid: 5000, total: value }), /amount: must be/],
        ['invoice.paid', paid({ amount_paid: 5000, tax: value }), /tax: must be/],
        [
          'invoice.paid',
          paid({ amount_paid: 5000, total_taxes: [{ amount: 1 }, { amount: value }] }),
          /tax: must be/,
        ],
        ['invoice.paid', paid({ amount_paid: 5000, total_taxes: [{}] }), /tax: must be/],
        [
          'invoice.paid',
          paid({ amount_paid: 5000, shipping_cost: { amount_total: value } }),
          /shipping: must be/,
        ],
      ]
      for (const [type, object, reason] of wrong) {
        const id = named()
        await refused('stripe', event(type, { id, ...object }), id, reason)
      }
    }
  })

  test('what was not taken stays with its source, with its name and the time', async t => {
    const at = Date.UTC(2026, 8, 1, 10, 20, 30)
    t.mock.timers.enable({ apis: ['Date'], now: at })
    const wrong = { id: 'cs_wrong', payment_status: 'paid', currency: 'usd', amount_total: 'abc' }
    await deliver('stripe', event('checkout.session.completed', wrong))
    const problem = await problemOf('stripe')
    assert.match(problem, /^"cs_wrong": .*amount: must be a number.* \(2026-09-01 10:20 UTC\)$/)
    t.mock.timers.setTime(at + 3_600_000)
    const taken = { ...wrong, id: 'cs_taken', amount_total: 500 }
    await deliver('stripe', event('checkout.session.completed', taken))
    assert.equal(await problemOf('stripe'), problem)
    const unnamed = { ...event('checkout.session.completed', { ...taken, id: null }), id: 'evt_unnamed' }
    await deliver('stripe', unnamed)
    assert.match(await problemOf('stripe'), /^"evt_unnamed": .*reference.* \(2026-09-01 11:20 UTC\)$/)
    await deliver('generic', { kind: 'sale', cents: 5 })
    assert.match(await problemOf('generic'), /^"sale": .*reference.* \(2026-09-01 11:20 UTC\)$/)
    await deliver('generic', { kind: 'sale', id: 'x'.repeat(5000), cents: 'abc' })
    const long = await problemOf('generic')
    assert.ok(long.length <= 500 && long.endsWith(' (2026-09-01 11:20 UTC)'), long)
  })

  test('Stripe: what is optional may be null or left out', async () => {
    const taken = async (type: string, of: object) => {
      const id = named()
      const { results } = await deliver('stripe', event(type, { id, currency: 'usd', ...of }))
      assert.equal(results[0].status, 201, JSON.stringify(results))
      return conversionOf(id)
    }
    const session = { payment_status: 'paid', amount_total: 5000 }
    const none = { amount_tax: null, amount_shipping: null, amount_discount: null }
    for (const args of [{}, { total_details: null }, { total_details: {} }, { total_details: none }]) {
      const { amount, tax, shipping } = await taken('checkout.session.completed', { ...session, ...args })
      assert.deepEqual([amount, tax, shipping], [50, 0, 0])
    }
    const trial = { payment_status: 'no_payment_required', amount_total: null, currency: null }
    assert.equal((await taken('checkout.session.completed', trial)).kind, 'lead')
    const without = {
      tax: null,
      total: null,
      shipping_cost: null,
      total_taxes: null,
      total_discount_amounts: null,
    }
    for (const args of [{}, without, { total_taxes: [] }]) {
      const { amount, tax, shipping } = await taken('invoice.paid', { amount_paid: 5000, ...args })
      assert.deepEqual([amount, tax, shipping], [50, 0, 0])
    }
    // A half of it was paid by the customer's balance.
    const half = { amount_paid: 5000, total: 10_000, total_taxes: [{ amount: 1000 }, { amount: 600 }] }
    assert.equal((await taken('invoice.paid', half)).tax, 8)
  })

  test('WooCommerce: an amount that is missing or no number is refused, and never 0', async () => {
    const order = (args: object) => ({
      currency: 'USD',
      status: 'completed',
      total: '50.00',
      date_paid_gmt: '2026-07-01T10:00:00',
      date_modified_gmt: '2026-07-04T10:00:00',
      ...args,
    })
    for (const value of ['abc', '12,00', {}]) {
      const wrong: [object, RegExp][] = [
        [{ total: value }, /amount: must be/],
        [{ total: value, status: 'processing' }, /amount: must be/],
        [{ total: value, status: 'cancelled' }, /amount: must be/],
        [{ total_tax: value }, /tax: must be/],
        [{ shipping_total: value }, /shipping: must be/],
        [{ discount_total: value }, /discount: must be/],
        [{ line_items: [{ product_id: 1, total: value }] }, /lines: amount of item 1/],
      ]
      for (const [args, reason] of wrong) {
        const id = named()
        await refused('woocommerce', order({ id, date_modified_gmt: '', ...args }), id, reason)
      }
    }
    for (const total of [undefined, null, '']) {
      for (const status of ['processing', 'completed', 'cancelled']) {
        const id = named()
        await refused('woocommerce', order({ id, total, status }), id, /Missing argument: amount/)
      }
    }
    // The sale is not lost by one of its refunds.
    for (const total of ['abc', undefined]) {
      const id = named()
      const { results } = await deliver('woocommerce', order({ id, refunds: [{ id: 1, total }] }))
      assert.deepEqual(
        results.map((one: any) => one.status),
        [201, 400],
      )
      const recorded = (await service().get(`/conversions?reference=${id}`)).body
      assert.deepEqual(
        recorded.map(({ kind, amount }: any) => [kind, amount]),
        [['sale', 50]],
      )
    }
    for (const args of [{}, { total_tax: '', shipping_total: null, line_items: [{ product_id: 1 }] }]) {
      const { results } = await deliver('woocommerce', order({ id: named(), ...args }))
      assert.equal(results[0].status, 201, JSON.stringify(results))
    }
    const product = { id: 7, status: 'trash', price: '5.00' }
    assert.match((await deliver('woocommerce', product)).ignored, /It is no order/)
  })
})
