import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertFailure, describeService, operatorOf } from '../../../test/harness.ts'
import { changeSettings } from '../../settings/rules.ts'
import { payout as kind } from './payout.ts'

describeService('payouts', service => {
  let affiliate: number
  before(async () => {
    affiliate = (await service().newAffiliate('paid')).id
  })

  test('201 - with all that can be sent', async () => {
    const reply = await service().post('/payouts', {
      affiliate_id: affiliate,
      referrals: [7, 3, 7, 5],
      amount: 27.869999999999997,
      payout_method: '50%_o\'ff \\ "PayPal"',
      status: 'failed',
    })
    assert.equal(reply.status, 201)
    assert.deepEqual(Object.keys(reply.body), Object.keys(kind.record.properties))
    const { payout_id, date, ...rest } = reply.body
    assert.deepEqual(rest, {
      id: payout_id,
      affiliate_id: affiliate,
      referrals: '7,3,5',
      amount: 27.87,
      payout_method: '50%_o\'ff \\ "PayPal"',
      status: 'failed',
      owner: 1,
    })
    assert.match(date, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    assert.equal(reply.headers.get('location'), `${service().url}/v1/payouts/${payout_id}`)
    assert.deepEqual((await service().get(`/payouts/${payout_id}`)).body, reply.body)
  })

  test('201 - with the least that can be sent, by PUT', async () => {
    const { status, body } = await service().send('PUT', '/payouts', { body: { affiliate_id: affiliate } })
    assert.equal(status, 201)
    const { referrals, amount, payout_method, status: paid } = body
    assert.deepEqual(
      { referrals, amount, payout_method, paid },
      { referrals: '', amount: 0, payout_method: '', paid: 'paid' },
    )
  })

  test('201 - amounts are exact', async () => {
    for (const [sent, shown] of [
      [0.1 + 0.2, 0.3],
      [27.869999999999997, 27.87],
      [999_999_999_999.99, 999_999_999_999.99],
      ['19.90', 19.9],
      [1e3, 1000],
    ]) {
      assert.equal((await service().newPayout(affiliate, { amount: sent })).amount, shown)
    }
  })

  test('201 - referrals as text', async () => {
    assert.equal((await service().newPayout(affiliate, { referrals: ' 3, 1,3 ,2' })).referrals, '3,1,2')
    assert.equal((await service().newPayout(affiliate, { referrals: '' })).referrals, '')
    const many = Array.from({ length: 2000 }, (_, index) => index + 1)
    assert.equal((await service().newPayout(affiliate, { referrals: many })).referrals, many.join(','))
  })

  test('400 - affiliate_id is missing, on create and on edit', async () => {
    const { id } = await service().newPayout(affiliate)
    for (const path of ['/payouts', `/payouts/${id}`]) {
      const reply = await service().post(path, { amount: 1 })
      assertFailure(reply, 400, 'rest_missing_callback_param')
      assert.deepEqual(reply.body.data.params, ['affiliate_id'])
    }
  })

  test('400 - wrong values, all named', async () => {
    const reply = await service().post('/payouts', {
      affiliate_id: 987654,
      amount: 1.005,
      status: 'pending',
      referrals: [0],
      payout_method: 'a\nb',
    })
    assertFailure(reply, 400, 'rest_invalid_param')
    const names = ['affiliate_id', 'amount', 'payout_method', 'referrals', 'status']
    assert.deepEqual(Object.keys(reply.body.data.params).sort(), names)
  })

  for (const amount of [-0.01, 1_000_000_000_000, 0.001, '1,5', 'NaN', '']) {
    test(`400 - the amount ${JSON.stringify(amount)}`, async () => {
      const reply = await service().post('/payouts', { affiliate_id: affiliate, amount })
      assertFailure(reply, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(reply.body.data.params), ['amount'])
    })
  }

  test('200 - edit changes what was sent, failed becomes paid', async () => {
    const other = (await service().newAffiliate('other')).id
    const payout = await service().newPayout(affiliate, { status: 'failed', amount: 5, referrals: [1, 2] })
    const path = `/payouts/${payout.id}`
    const paid = await service().post(path, { affiliate_id: affiliate, status: 'paid' })
    assert.equal(paid.status, 200)
    assert.deepEqual(paid.body, { ...payout, status: 'paid' })
    const moved = await service().patch(path, {
      affiliate_id: other,
      amount: 6.25,
      referrals: '9001',
      payout_method: 'bank',
    })
    assert.deepEqual(moved.body, {
      ...paid.body,
      affiliate_id: other,
      amount: 6.25,
      referrals: '9001',
      payout_method: 'bank',
    })
    assert.deepEqual((await service().get('/payouts?referrals=9001')).body, [moved.body])
    assert.deepEqual((await service().get(`/payouts?referrals=1&payout_id=${payout.id}`)).body, [])
  })

  test('200 - a payout to an affiliate that was deleted is still corrected, and 400 - made', async () => {
    const gone = (await service().newAffiliate('gone')).id
    const payout = await service().newPayout(gone, { amount: 5 })
    await service().delete(`/affiliates/${gone}`)
    const path = `/payouts/${payout.id}`
    const failed = await service().patch(path, { affiliate_id: gone, status: 'failed' })
    assert.deepEqual(failed.body, { ...payout, status: 'failed' })
    const wrong = await service().patch(path, { affiliate_id: gone, amount: 0.001, status: 'lost' })
    assert.deepEqual(Object.keys(wrong.body.data.params).sort(), ['amount', 'status'])
    assertFailure(await service().post('/payouts', { affiliate_id: gone }), 400, 'rest_invalid_param')
    const other = await service().newPayout(affiliate)
    const moved = await service().patch(`/payouts/${other.id}`, { affiliate_id: gone })
    assertFailure(moved, 400, 'rest_invalid_param')
  })

  test('200 - delete shows the record as it was', async () => {
    const payout = await service().newPayout(affiliate, { referrals: [77] })
    const gone = await service().delete(`/payouts/${payout.id}`)
    assert.equal(gone.status, 200)
    assert.deepEqual(gone.body, { deleted: true, previous: payout })
    assertFailure(await service().get(`/payouts/${payout.id}`), 404, 'invalid_payout_id')
    assertFailure(await service().delete(`/payouts/${payout.id}`), 404, 'invalid_payout_id')
    const edit = await service().patch(`/payouts/${payout.id}`, { affiliate_id: affiliate })
    assertFailure(edit, 404, 'invalid_payout_id')
    assert.ok((await service().newPayout(affiliate)).id > payout.id, 'identifiers are not used again')
  })
})

describeService('payouts in another currency', service => {
  test('the minor unit of the currency decides the decimals, and the ledger keeps it', async () => {
    const { database } = service()
    const affiliate = (await service().newAffiliate('yen')).id
    await changeSettings(operatorOf(database), { currency: 'JPY' })
    assertFailure(
      await service().post('/payouts', { affiliate_id: affiliate, amount: 0.5 }),
      400,
      'rest_invalid_param',
    )
    const payout = await service().newPayout(affiliate, { amount: 1500 })
    assert.equal(payout.amount, 1500)
    const change = () => changeSettings(operatorOf(database), { currency: 'KWD' })
    await assert.rejects(change(), /currency: must stay JPY/)
    // What was posted stays.
    await service().delete(`/payouts/${payout.id}`)
    await assert.rejects(change(), /currency: must stay JPY/)
  })
})

describeService('payouts and referrals in a currency with three decimals', service => {
  test('amounts have as many, and the first referral keeps the currency', async () => {
    const { database } = service()
    const affiliate = (await service().newAffiliate('dinar')).id
    await changeSettings(operatorOf(database), { currency: 'KWD' })
    const { body } = await service().post('/referrals', {
      affiliate_id: affiliate,
      amount: 1.005,
      status: 'unpaid',
    })
    assert.deepEqual([body.amount, body.currency], ['1.005', 'KWD'])
    assert.equal((await service().newPayout(affiliate, { referrals: [body.id] })).amount, 1.005)
    await assert.rejects(changeSettings(operatorOf(database), { currency: 'USD' }), /currency: must stay KWD/)
  })
})
