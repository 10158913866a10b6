/** What drafts become once the rate is there that they wait for. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { describeService, operatorOf } from '../../../test/harness.ts'
import { draftRejudger } from './drafts.ts'

describeService('drafts whose rate comes later', service => {
  let affiliate: { id: number }
  before(async () => {
    affiliate = await service().newAffiliate('drafted', { status: 'active' })
  })
  const post = async (path: string, body: object) => {
    const reply = await service().post(path, body)
    assert.ok(reply.status < 300, JSON.stringify(reply.body))
    return reply.body
  }
  const enterRate = (from_currency: string) =>
    post('/exchange-rates', { from_currency, rate: 2, date: '2020-01-01' })
  const statusOf = async (id: number) => (await service().get(`/referrals/${id}`)).body.status

  test('a write-off is owed at once, and what else nobody has approved waits for a review', async () => {
    const draft = async (args: object) => {
      const referral = await post('/referrals', {
        affiliate_id: affiliate.id,
        amount: 5,
        currency: 'CHF',
        ...args,
      })
      assert.equal(referral.status, 'draft')
      return referral.id
    }
    const writeOff = await draft({ type: 'write_off', amount: -5 })
    const sent = await draft({ type: 'write_off', amount: -5, status: 'pending' })
    const refund = await draft({ type: 'refund', amount: -5 })
    const sale = await draft({})
    await enterRate('CHF')
    assert.deepEqual(await Promise.all([writeOff, sent, refund, sale].map(statusOf)), [
      'unpaid',
      'pending',
      'pending',
      'pending',
    ])
  })

  test('200 - what is to be rejected is one draft until then, however often it is sent', async () => {
    const sent = {
      ...{ affiliate_id: affiliate.id, context: 'shop', reference: 'rejected-1' },
      ...{ amount: 5, currency: 'SGD', status: 'rejected' },
    }
    const first = await service().post('/referrals', sent)
    assert.deepEqual([first.status, first.body.status], [201, 'draft'])
    const { id } = first.body
    const again = await service().post('/referrals', sent)
    assert.deepEqual([again.status, again.body.id], [200, id])
    const other = await service().post('/referrals', { ...sent, amount: 6 })
    assert.equal(other.status, 409)
    await enterRate('SGD')
    assert.equal(await statusOf(id), 'rejected')
    // What is rejected does not keep its reference from others.
    const { body: next, status } = await service().post('/referrals', { ...sent, status: 'unpaid' })
    assert.deepEqual([status, next.status], [201, 'unpaid'])
  })

  test('more than one transaction judges again are judged in the background, though the clock has stepped back', async t => {
    const lines = Array.from({ length: 150 }, (_, number) =>
      JSON.stringify({
        kind: 'sale',
        reference: `many-${number}`,
        amount: 100,
        currency: 'NOK',
        affiliate_id: affiliate.id,
        occurred_at: '2026-03-01',
      }),
    )
    const headers = { 'content-type': 'application/x-ndjson' }
    const sent = await service().post('/conversions', lines.join('\n'), { headers })
    assert.equal(sent.status, 200, sent.body)
    const drafts = async () => {
      const path = `/referrals?affiliate_id=${affiliate.id}&status=draft&number=1&count=1`
      return Number((await service().get(path)).headers.get('x-total-count'))
    }
    const later = { from_currency: 'NOK', rate: 0.1, date: '2026-04-01' }
    const { exchange_rate_id } = await post('/exchange-rates', later)
    const context = operatorOf(service().database)
    const rejudge = draftRejudger(context, () => false)
    await rejudge()
    assert.equal(await drafts(), 150)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 60_000 })
    await service().patch(`/exchange-rates/${exchange_rate_id}`, { date: '2026-02-01' })
    assert.equal(await drafts(), 50)
    // Another process reads them again after a second.
    context.settings.forget()
    await rejudge()
    assert.equal(await drafts(), 0)
  })

  test('hold that a person sets - is that of what the draft becomes', async () => {
    const hold_until = '2090-06-01 00:00:00'
    const foreign = { affiliate_id: affiliate.id, currency: 'ZAR' }
    const sale = { kind: 'sale', reference: 'held', amount: 100, occurred_at: '2026-03-01' }
    const { referrals } = await post('/conversions', { ...sale, ...foreign })
    const entered = await post('/referrals', { ...foreign, amount: 5 })
    const ids = [referrals[0].referral_id, entered.id]
    for (const id of ids) {
      const { status, body } = await service().patch(`/referrals/${id}`, { hold_until })
      assert.deepEqual([status, body.status], [200, 'draft'])
    }
    await enterRate('ZAR')
    for (const id of ids) {
      const { body } = await service().get(`/referrals/${id}/explanation`)
      assert.deepEqual([body.status, body.hold_until], ['pending', hold_until])
    }
  })

  test('one that is rejected leaves its reference to others, as any that is rejected', async () => {
    const payment = { context: 'shop', reference: 'drafted-1' }
    const sale = { ...payment, amount: 100, currency: 'NOK', affiliate_id: affiliate.id }
    const { referrals } = await post('/conversions', { kind: 'sale', ...sale })
    await post('/conversions', { kind: 'refund', ...payment, part: '1', amount: 100 })
    await enterRate('NOK')
    assert.equal(await statusOf(referrals[0].referral_id), 'rejected')
    const other = await post('/referrals', { ...payment, affiliate_id: affiliate.id, amount: 7 })
    assert.notEqual(other.id, referrals[0].referral_id)
  })
})

describeService('drafts that no rule is for', service => {
  /** @returns a sale of an affiliate whose rate type names no rule */
  async function drafted(name: string, terms: object) {
    const person = await service().newAffiliate(name, { status: 'active', ...terms })
    const sale = { kind: 'sale', reference: name, amount: 100, affiliate_id: person.id }
    const { body } = await service().post('/conversions', sale)
    assert.equal(body.referrals[0].status, 'draft', JSON.stringify(body))
    const id = body.referrals[0].referral_id
    const path = `/referrals/${id}`
    return { id, person, read: async () => (await service().get(path)).body }
  }
  before(async () => {
    const admin = await service().admin()
    await admin.patch('/settings', { rate_types: ['percentage', 'flat', 'partner'] })
  })

  test('are earned once the affiliate has other terms', async () => {
    const { person, read } = await drafted('renamed', { rate_type: 'partner' })
    const edited = await service().patch(`/affiliates/${person.id}`, { rate_type: 'percentage', rate: 30 })
    assert.equal(edited.status, 200, JSON.stringify(edited.body))
    assert.equal(edited.body.unpaid_earnings, 30)
    const { status, amount } = await read()
    assert.deepEqual([status, amount], ['unpaid', '30.00'])
  })

  test('of an affiliate who is deleted - stay drafts whatever rule there is then, until a person gives them an amount', async () => {
    const { id, person, read } = await drafted('deleted', { rate_type: 'partner', rate: 40 })
    const given = await drafted('given', { rate_type: 'partner' })
    for (const one of [person, given.person])
      assert.equal((await service().delete(`/affiliates/${one.id}`)).status, 200)
    const rule = { name: 'unrelated', rate: 5, conditions: [{ field: 'country', is: ['ZZ'] }] }
    const { body } = await service().post('/rules', rule)
    const context = operatorOf(service().database)
    await draftRejudger(context, () => false)()
    assert.equal((await read()).status, 'draft')
    const edited = await service().patch(`/referrals/${id}`, { status: 'unpaid', amount: 40 })
    assert.deepEqual([edited.status, edited.body.amount], [200, '40.00'])
    // Somebody else's terms apply to what is moved to them.
    const other = await service().newAffiliate('inheriting', { status: 'active', rate: 10 })
    const moved = await service().patch(`/referrals/${given.id}`, { affiliate_id: other.id })
    assert.deepEqual([moved.body.status, moved.body.amount], ['unpaid', '10.00'])
    assert.equal((await service().delete(`/rules/${body.id}`)).status, 200)
  })

  test('moved to an affiliate whose terms are known - are judged with the edit, and others wait', async () => {
    const { id } = await drafted('moved', { rate_type: 'partner' })
    const known = await service().newAffiliate('known', { status: 'active', rate: 30 })
    const unknown = await service().newAffiliate('unknown', { status: 'active', rate_type: 'partner' })
    const move = async (affiliate_id: number) => {
      const { status, body } = await service().patch(`/referrals/${id}`, { affiliate_id })
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }
    assert.equal((await move(unknown.id)).status, 'draft')
    const { status, amount } = await move(known.id)
    assert.deepEqual([status, amount], ['unpaid', '30.00'])
    const { body } = await service().get(`/affiliates/${known.id}/ledger`)
    assert.deepEqual(
      body.map((one: any) => [one.reason, one.referral_id, Number(one.amount)]),
      [['referral.edit', id, 30]],
    )
  })

  test('are earned in the background once the default is another', async () => {
    const admin = await service().admin()
    await admin.patch('/settings', { default_rate_type: 'partner', default_rate: 20 })
    const context = operatorOf(service().database)
    const rejudge = draftRejudger(context, () => false)
    const { read } = await drafted('by-default', {})
    await rejudge()
    assert.equal((await read()).status, 'draft')
    await admin.patch('/settings', { default_rate_type: 'percentage' })
    // Another process reads them again after a second.
    context.settings.forget()
    await rejudge()
    const { status, amount } = await read()
    assert.deepEqual([status, amount], ['unpaid', '20.00'])
  })

  test('are judged in turn by a rule that asks for the sales before them', async () => {
    const admin = await service().admin()
    await admin.patch('/settings', { default_rate_type: 'partner' })
    const promise = async (rate: number, priority: number, conditions: object[]) => {
      const { status, body } = await service().post('/rules', { name: `${rate}`, rate, priority, conditions })
      assert.equal(status, 201, JSON.stringify(body))
    }
    await promise(6, 1, [{ field: 'sales_ever', at_least: 2 }])
    await promise(4, 2, [{ field: 'sales_ever', at_least: 1 }])
    const { person, read } = await drafted('in-turn', {})
    const sold = { kind: 'sale', amount: 100, affiliate_id: person.id }
    for (const reference of ['second', 'third']) await service().post('/conversions', { ...sold, reference })
    assert.equal((await read()).status, 'draft')
    await promise(2, 3, [])
    const { body } = await service().get(`/referrals?affiliate_id=${person.id}&orderby=referral_id&order=asc`)
    assert.deepEqual(
      body.map(({ amount }: { amount: string }) => amount),
      ['2.00', '4.00', '6.00'],
    )
  })
})
