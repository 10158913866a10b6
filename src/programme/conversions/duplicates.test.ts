/** A sale that was reported under two names, before any report had both, is one sale. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { describeService } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { checkDatabase } from '../../operations/check/rules.ts'

const AT_ONCE = 12

describeService('a sale that is reported under names that are joined later', service => {
  let affiliate = 0
  let other = 0
  before(async () => {
    const own = { status: 'active', rate: 20, rate_type: 'percentage' }
    affiliate = (await service().newAffiliate('first', own)).id
    other = (await service().newAffiliate('second', own)).id
  })
  const report = async (reference: string, args: object = {}) => {
    const sale = { kind: 'sale', context: 's', amount: 100, reference, ...args }
    const { status, body } = await service().post('/conversions', sale)
    assert.ok(status < 300, JSON.stringify(body))
    return body
  }
  const sell = (reference: string, args: object = {}) =>
    report(reference, { affiliate_id: affiliate, ...args })
  const owed = async (id: number) => (await service().get(`/affiliates/${id}/balances`)).body.unpaid
  /** What it changes of what is owed to both. */
  const changed = async (work: () => Promise<unknown>) => {
    const before = [await owed(affiliate), await owed(other)]
    await work()
    return [(await owed(affiliate)) - before[0], (await owed(other)) - before[1]]
  }

  test('earns once, whoever is credited, and a refund takes back all of it', async () => {
    const join = await changed(async () => {
      await sell('a1')
      await sell('a2', { affiliate_id: other })
      const { explanation } = await sell('a3', { references: ['a1', 'a2'] })
      assert.match(explanation.sentences.join(' '), /is a sale of the same payment, which earns once/)
    })
    assert.deepEqual(join, [20, 0])
    const refund = { kind: 'refund', part: '1', amount: 40 }
    assert.deepEqual(await changed(() => report('a2', refund)), [-8, 0])
    assert.deepEqual(await changed(() => report('a3', { ...refund, part: '2', amount: 60 })), [-12, 0])
    const won = { kind: 'sale', references: ['a2'], affiliate_id: other }
    assert.deepEqual(await changed(() => report('a1', won)), [0, 0])
  })

  test('is called reported twice, whether or not something was refunded', async () => {
    for (const [name, takesBack] of [
      ['e', false],
      ['f', true],
    ] as const) {
      await sell(`${name}1`)
      const { referral_id: id } = (await sell(`${name}2`)).referrals[0]
      const refund = { kind: 'refund', part: '1', amount: 10, references: [`${name}2`] }
      await (takesBack
        ? report(`${name}1`, refund)
        : sell(`${name}3`, { references: [`${name}1`, `${name}2`] }))
      const transfers = await service().get(`/affiliates/${affiliate}/ledger?referral_id=${id}&order=desc`)
      assert.equal(transfers.body[0].reason, 'conversion.duplicate')
      const { body } = await service().get(`/referrals/${id}/explanation`)
      assert.deepEqual([body.status, body.reason, body.left], ['rejected', 'duplicate', '0'])
      const words = body.sentences.join(' ')
      assert.match(words, /was reported twice, and its payment earns once: this report earns nothing\./)
      assert.match(
        words,
        /It was rejected, because the sale was reported twice, and its payment earns once\.$/,
      )
      assert.doesNotMatch(words, /have left nothing|nothing is left/)
    }
  })

  test('is one order of its customer, for the limits and conditions of a rule', async () => {
    const { id } = await service().newAffiliate('limited', { status: 'active' })
    const rule = { name: 'limited', affiliate_id: id, rate: 50, max_payments: 2 }
    assert.equal((await service().post('/rules', rule)).status, 201)
    const statusOf = ({ referrals }: any) => referrals.map((one: any) => `${one.status} ${one.amount}`)
    for (const paid of [false, true]) {
      const name = (of: string) => `${of}-${paid}`
      const by = { affiliate_id: id, customer: { id: name('twice') }, occurred_at: '2026-11-01 10:00:05' }
      // The second report is of the time before the first.
      await sell(name('h1'), by)
      const second = await sell(name('h2'), { ...by, occurred_at: '2026-11-01 10:00:00' })
      const [{ referral_id, customer_id }] = second.referrals
      if (paid) await service().patch(`/referrals/${referral_id}`, { status: 'paid' })
      await sell(name('h3'), { ...by, references: [name('h1'), name('h2')] })
      const entered = { affiliate_id: id, customer_id, order_total: 100, date: '2026-12-01' }
      const { body } = await service().post('/referrals', entered)
      assert.deepEqual([body.status, body.amount], ['unpaid', '50.00'])
      const next = await sell(name('h4'), { ...by, occurred_at: '2026-12-01' })
      assert.deepEqual(statusOf(next), ['unpaid 50.00'])
      const third = await sell(name('h5'), { ...by, occurred_at: '2026-12-02' })
      assert.deepEqual(statusOf(third), ['rejected 0.00'])
    }
  })

  test('does not count itself where it is credited later', async () => {
    const { id } = await service().newAffiliate('first-order', { status: 'active' })
    const rule = { name: 'first-order', affiliate_id: id, rate: 50, max_payments: 1 }
    assert.equal((await service().post('/rules', rule)).status, 201)
    const by = { affiliate_id: undefined, customer: { id: 'later' } }
    await sell('i1', { ...by, occurred_at: '2026-11-01 10:00:05' })
    await sell('i2', { ...by, occurred_at: '2026-11-01 10:00:00' })
    await sell('i3', { ...by, references: ['i1', 'i2'] })
    const { referrals } = await sell('i1', { kind: 'attribution', amount: undefined, affiliate_id: id })
    assert.deepEqual(
      referrals.map((one: any) => one.amount),
      ['50.00'],
    )
  })

  test('a draft is called reported twice once its rate is there', async () => {
    const foreign = { currency: 'SEK', occurred_at: '2026-03-02 10:00:00' }
    await sell('g1', foreign)
    const { referral_id: id } = (await sell('g2', foreign)).referrals[0]
    await report('g1', { ...foreign, kind: 'refund', part: '1', amount: 10, references: ['g2'] })
    const rate = { from_currency: 'SEK', to_currency: 'USD', rate: 0.1, date: '2026-03-01' }
    const { status, body: answer } = await service().post('/exchange-rates', rate)
    assert.equal(status, 201, JSON.stringify(answer))
    const { body } = await service().get(`/referrals/${id}/explanation`)
    assert.deepEqual([body.status, body.reason], ['rejected', 'duplicate'])
    assert.match(body.sentences.join(' '), /this report earns nothing/)
  })

  test('earns for who is credited when the other report credits nobody', async () => {
    const join = await changed(async () => {
      await report('b1')
      await sell('b2')
      await report('b3', { references: ['b1', 'b2'], affiliate_id: other })
    })
    assert.deepEqual(join, [20, 0])
    assert.deepEqual(await changed(() => report('b2', { kind: 'refund', part: '1', amount: 50 })), [-10, 0])
  })

  test('is taken back by a refund where it was paid', async () => {
    await sell('c1')
    const { referrals } = await sell('c2')
    const id = referrals[0].referral_id
    await service().patch(`/referrals/${id}`, { status: 'paid' })
    assert.deepEqual(await changed(() => sell('c3', { references: ['c1', 'c2'] })), [-20, 0])
    const { body } = await service().get(`/referrals/${id}/explanation`)
    assert.match(
      body.sentences.at(-1),
      /takes back 20.00 USD of referral \d+ on [-0-9]+, because the sale was reported twice \(conversion \d+\)/,
    )
    assert.deepEqual(await changed(() => sell('c3', { references: ['c1', 'c2'] })), [0, 0])
  })

  test('is one in a ring of reports at once, and what is credited later is credited once', async () => {
    const name = (number: number) => `ring ${number % AT_ONCE}`
    const ring = () =>
      Promise.all(
        Array.from({ length: AT_ONCE }, (_, number) =>
          sell(name(number), { references: [name(number + 1)] }),
        ),
      )
    assert.deepEqual(await changed(ring), [20, 0])
    await report('d1')
    await report('d2')
    await report('d1', { references: ['d2'] })
    const attribution = { kind: 'attribution', amount: undefined, affiliate_id: affiliate }
    assert.deepEqual(await changed(() => report('d2', attribution)), [20, 0])
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })
})
