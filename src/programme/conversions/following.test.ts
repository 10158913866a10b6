import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeService, operatorOf } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { creditRest } from './following.ts'

const RENEWALS = 230

describeService('a customer with more purchases than are credited at once', service => {
  let shops = 0
  /**
   * @param large the references of purchases whose commission is more than an amount can be
   * @returns how many of the purchases are credited to the affiliate
   */
  async function bought({ status = 'active', large = [] as readonly string[] } = {}) {
    shops += 1
    const context = `shop${shops}`
    const customer = { id: 'C', email: `buyer${shops}@example.org` }
    const affiliate = await service().newAffiliate(`seller${shops}`, {
      status: 'active',
      rate: large.length > 0 ? 200 : 10,
    })
    const report = (args: object) => service().post('/conversions', { context, customer, ...args })
    const lines = Array.from({ length: RENEWALS }, (_, place) => ({
      context,
      customer,
      kind: 'renewal',
      reference: `R${place}`,
      amount: large.includes(`R${place}`) ? 999_999_999_999.99 : 100,
      // Several of each second.
      occurred_at: `2026-03-01 10:00:${String(place % 7).padStart(2, '0')}`,
    }))
    const text = lines.map(line => JSON.stringify(line)).join('\n')
    const headers = { 'content-type': 'application/x-ndjson' }
    const sent = await service().post<string>('/conversions', text, { headers })
    assert.equal(sent.status, 200, sent.body)
    const sale = await report({
      kind: 'sale',
      reference: 'S',
      amount: 100,
      occurred_at: '2026-02-01',
      affiliate_id: affiliate.id,
    })
    assert.equal(sale.status, 201, JSON.stringify(sale.body))
    const credited = async () => {
      const path = `/conversions?affiliate_id=${affiliate.id}&kind=renewal&number=1&count=1`
      return Number((await service().get(path)).headers.get('x-total-count'))
    }
    const { customer_id } = sale.body.conversion
    if (status !== 'active') await service().patch(`/affiliates/${affiliate.id}`, { status })
    return { affiliate, credited, customer_id }
  }
  const rest = () => creditRest(operatorOf(service().database))
  const waiting = () => service().database.reader.selectFrom('following_sales').selectAll().execute()

  test('earns of each, the rest in the background', async () => {
    const { affiliate, credited } = await bought()
    assert.equal(await credited(), 100)
    await Promise.all([rest(), rest()])
    assert.equal(await credited(), RENEWALS)
    const { body } = await service().get(`/affiliates/${affiliate.id}/balances`)
    assert.equal(body.unpaid, (RENEWALS + 1) * 10)
    assert.deepEqual(await waiting(), [])
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })

  test('201 - a sale, an attribution or a line of a customer whose other purchase cannot be credited', async () => {
    const { id } = await service().newAffiliate('seller-beside', { status: 'active', rate: 10 })
    const admin = await service().admin()
    const high = await service().newAffiliate('seller-high', { status: 'active', rate: 200 })
    const renewal = { kind: 'renewal', context: 'beside', occurred_at: '2026-03-10', amount: 50 }
    const sale = { kind: 'sale', context: 'beside', occurred_at: '2026-03-01', amount: 100 }
    const report = async (args: object) => {
      const reply = await service().post('/conversions', args)
      assert.equal(reply.status, 201, JSON.stringify(reply.body))
      return reply.body
    }
    const headers = { 'content-type': 'application/x-ndjson' }
    const reportLine = async (args: object) => {
      const { body } = await service().post<string>('/conversions', JSON.stringify(args), { headers })
      const [line] = body.trim().split('\n')
      assert.equal(JSON.parse(line!).status, 201, body)
      return JSON.parse(line!)
    }
    // The service credits in the background as well, and may be the first.
    const told: number[] = []
    const refusals: number[] = []
    for (const way of ['sale', 'attribution', 'line', 'large'] as const) {
      const affiliate_id = way === 'large' ? high.id : id
      const customer = { id: way }
      const name = (reference: string) => ({ reference: `${way}-${reference}`, customer })
      await report({ ...renewal, ...name('before'), occurred_at: '2026-03-05' })
      const amount = way === 'large' ? 999_999_999_999.99 : 50
      const refused = await report({ ...renewal, ...name('refused'), amount })
      await report({ ...renewal, ...name('after'), occurred_at: '2026-03-15' })
      // Its reference is that of another referral by now.
      if (way !== 'large') {
        const { reference } = name('refused')
        const byHand = { affiliate_id, context: 'beside', reference, amount: 10 }
        assert.equal((await service().post('/referrals', byHand)).status, 201)
      }
      const first = { ...sale, ...name('first') }
      if (way === 'attribution') await report(first)
      const send = way === 'line' ? reportLine : report
      const { referrals } = await send(
        way === 'attribution'
          ? { kind: 'attribution', context: 'beside', reference: first.reference, affiliate_id }
          : { ...first, affiliate_id },
      )
      assert.equal(referrals.length, 1)
      const credited = async () => {
        const path = `/conversions?affiliate_id=${affiliate_id}&search=${way}-&kind=renewal`
        const { body } = await service().get(path)
        return body.map((one: any) => one.reference)
      }
      assert.deepEqual(await credited(), [`${way}-before`])
      await creditRest(
        operatorOf(service().database),
        () => false,
        ({ id }) => told.push(id),
      )
      const { conversion_id } = refused.conversion
      refusals.push(conversion_id)
      assert.deepEqual((await credited()).sort(), [`${way}-after`, `${way}-before`])
      const { body } = await admin.get(`/audit?action=conversion.attribute&record_id=${conversion_id}`)
      assert.deepEqual(body, [])
    }
    assert.ok(told.length > 0 && told.every(id => refusals.includes(id)), String(told))
    assert.deepEqual(await waiting(), [])
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })

  test('a commission that no amount can be keeps no other purchase waiting', async () => {
    // Two of those that are credited in the background.
    const large = ['R145', `R${RENEWALS - 1}`]
    const first = await bought({ large })
    const second = await bought()
    await rest()
    const left = await service()
      .database.reader.selectFrom('conversions')
      .select('reference')
      .where('customer_id', '=', first.customer_id)
      .where('affiliate_id', '=', 0)
      .orderBy('reference')
      .execute()
    assert.deepEqual(
      left.map(({ reference }) => reference),
      large,
    )
    assert.equal(await first.credited(), RENEWALS - large.length)
    assert.equal(await second.credited(), RENEWALS)
    assert.deepEqual(await waiting(), [])
  })

  test('earns no more once the affiliate is inactive or the customer is deleted', async () => {
    const inactive = await bought({ status: 'inactive' })
    const deleted = await bought()
    assert.equal((await service().delete(`/customers/${deleted.customer_id}`)).status, 200)
    await rest()
    assert.equal(await inactive.credited(), 100)
    assert.equal(await deleted.credited(), 100)
    assert.deepEqual(await waiting(), [])
  })
})
