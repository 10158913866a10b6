/** Orders of WooCommerce: what each of their states is worth. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { before, test } from 'node:test'
import { describeService, giveSecretKey } from '../../../test/harness.ts'

const SECRET = 'whsec_of_the_test'

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
  const deliver = async (payload: object, { source = shop, headers = {} } = {}): Promise<any> => {
    const body = JSON.stringify(payload)
    const mac = createHmac('sha256', SECRET).update(body).digest('base64')
    const reply = await fetch(`${service().url}/v1/sources/${source}/deliveries`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-wc-webhook-signature': mac, ...headers },
      body,
    })
    assert.equal(reply.status, 200)
    return reply.json()
  }
  const seller = async (name: string) =>
    (await service().newAffiliate(name, { status: 'active', rate: 10, rate_type: 'percentage' })).id as number
  const owed = async (id: number) => (await service().get(`/affiliates/${id}/balances`)).body.unpaid as number
  const conversionsOf = async (order: number) =>
    (await service().get(`/conversions?reference=${order}&order=asc&number=100`)).body as any[]
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
      for (const { status, message } of results) assert.ok(status < 300, message)
      assert.equal(await owed(affiliate), worth, JSON.stringify(state))
    }
  }

  test('saved again and again it says nothing new, and can be refunded and cancelled', async () => {
    const id = await seller('saved')
    for (const status of ['processing', 'completed']) {
      const order = orderOf(id, { status })
      for (let hour = 0; hour < 24; hour += 1) await deliver({ ...order, ...at(hour) })
      assert.deepEqual(
        (await conversionsOf(order.id)).map(({ kind }) => kind),
        ['sale'],
      )
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
})
