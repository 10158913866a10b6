import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertFailure, describeService, type Visitor } from '../../test/harness.ts'

describeService('administration area: who is let in', service => {
  let admin: Visitor
  before(async () => {
    admin = await service().admin()
  })

  test('401 - a session is no credential under /v1', async () => {
    for (const headers of [
      { cookie: admin.cookie! },
      ...admin.secrets.map(secret => ({ authorization: `Bearer ${secret}` })),
    ]) {
      assertFailure(await service().get('/affiliates', { key: null, headers }), 401, 'rest_forbidden')
    }
  })

  test('401 - an API key is no credential under /admin/api', async () => {
    const { publicKey, token } = service().key
    for (const authorization of [
      `Bearer ${token}`,
      `Basic ${Buffer.from(`${publicKey}:${token}`).toString('base64')}`,
    ]) {
      const reply = await service().visitor().get('/affiliates', { headers: { authorization } })
      assertFailure(reply, 401, 'rest_session_required')
    }
  })

  test('401 - without a session there is nothing but logging in, not even a 404', async () => {
    for (const path of ['/affiliates', '/users/1', '/settings', '/system', '/nothing', '/', '/password']) {
      assertFailure(await service().visitor().get(path), 401, 'rest_session_required')
    }
    assertFailure(await service().visitor().delete('/session'), 401, 'rest_session_required')
    for (const path of ['/keys', '/keys?a=/session', '/nothing/session', '/session/1']) {
      assertFailure(await service().visitor().post(path, {}), 401, 'rest_session_required')
    }
    const forged = service().visitor()
    for (const cookie of [
      'affiliated_session=',
      'affiliated_session=%00',
      `affiliated_session=${'x'.repeat(4000)}`,
    ]) {
      forged.cookie = cookie
      assertFailure(await forged.get('/affiliates'), 401, 'rest_session_required')
    }
  })

  test('404, 405 - with a session', async () => {
    assertFailure(await admin.get('/nothing'), 404, 'rest_no_route')
    const reply = await admin.delete('/settings')
    assertFailure(reply, 405, 'rest_no_route')
    assert.equal(reply.headers.get('allow'), 'HEAD, GET, PATCH, POST, OPTIONS')
  })

  test('403 - what changes anything comes from the pages of the area', async () => {
    const own = new URL(service().url)
    const refused = [
      { 'x-admin-request': '' },
      { 'x-admin-request': 'true' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://${own.hostname}:1` },
      { origin: own.origin, 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'none' },
    ]
    for (const headers of refused) {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const reply = await admin.send(method, '/affiliates', { headers: headers as Record<string, string> })
        assertFailure(reply, 403, 'rest_forbidden')
        assert.equal(reply.headers.get('access-control-allow-origin'), null)
      }
    }
    const body = { login: 'admin', password: 'wrong' }
    const noHeader = await admin.send('POST', '/session', { body, headers: { 'x-admin-request': '' } })
    assertFailure(noHeader, 403, 'rest_forbidden')
    const headers = { origin: own.origin, 'sec-fetch-site': 'same-origin' }
    assert.equal((await admin.send('PATCH', '/settings', { body: {}, headers })).status, 200)
  })

  test('200 - behind a proxy the name that the browser used counts', async () => {
    const headers = { origin: 'https://shop.example', 'x-forwarded-host': 'shop.example' }
    assert.equal((await admin.send('PATCH', '/settings', { body: {}, headers })).status, 200)
    const other = { origin: 'https://shop.example', 'x-forwarded-host': 'other.example' }
    assertFailure(await admin.send('PATCH', '/settings', { body: {}, headers: other }), 403, 'rest_forbidden')
  })

  test('401 - an account that is no administrator any more', async () => {
    const password = 'a password of somebody'
    const { body } = await admin.post('/users', {
      login: 'demoted',
      email: 'demoted@example.com',
      role: 'administrator',
      password,
    })
    const demoted = service().visitor()
    await demoted.logIn('demoted', password)
    assert.equal((await demoted.get('/affiliates')).status, 200)
    assert.equal((await admin.patch(`/users/${body.id}`, { role: '' })).status, 200)
    assertFailure(await demoted.get('/affiliates'), 401, 'rest_session_required')
  })

  test('the answers are kept by nobody, framed by nobody, and taken for what they are', async () => {
    for (const reply of [await admin.get('/affiliates'), await service().visitor().get('/nothing')]) {
      assert.equal(reply.headers.get('cache-control'), 'no-store')
      assert.equal(reply.headers.get('x-content-type-options'), 'nosniff')
      assert.equal(reply.headers.get('x-frame-options'), 'DENY')
      assert.equal(reply.headers.get('referrer-policy'), 'no-referrer')
      assert.equal(reply.headers.get('cross-origin-opener-policy'), 'same-origin')
      assert.match(
        reply.headers.get('content-security-policy')!,
        /default-src 'none'.*frame-ancestors 'none'/,
      )
    }
  })
})

describeService('administration area: affiliates and payouts', service => {
  let admin: Visitor
  before(async () => {
    admin = await service().admin()
  })

  test('the same records and rules as under /v1', async () => {
    const created = await admin.post('/affiliates', {
      create_user: true,
      payment_email: 'same@example.com',
      notes: 'met at the fair\n<script>alert(1)</script>',
    })
    assert.equal(created.status, 201)
    const id = created.body.affiliate_id
    assert.equal(created.headers.get('location'), `${service().url}/admin/api/affiliates/${id}`)
    assert.deepEqual((await service().get(`/affiliates/${id}`)).body, created.body)
    const approved = await admin.patch(`/affiliates/${id}`, { status: 'active' })
    assert.equal(approved.body.status, 'active')
    assertFailure(await admin.patch(`/affiliates/${id}`, { rate: -1 }), 400, 'rest_invalid_param')
    const payout = await admin.post('/payouts', { affiliate_id: id, amount: 27.87 })
    assert.equal(payout.status, 201)
    assert.equal(payout.body.owner, 1)
    assert.equal((await admin.delete(`/affiliates/${id}`)).body.deleted, true)
    assert.equal((await admin.get(`/payouts/${payout.body.id}`)).body.affiliate_id, id)
  })

  test('lists page and count', async () => {
    for (const name of ['page1', 'page2', 'page3']) await service().newAffiliate(name)
    const first = await admin.get('/affiliates?number=2&count=1&search=page')
    assert.equal(first.headers.get('x-total-count'), '3')
    const next = /<.*\/admin\/api(\/affiliates\?[^>]*)>; rel="next"/.exec(first.headers.get('link')!)![1]!
    assert.equal((await admin.get(next)).body.length, 1)
  })

  test('notes - of an affiliate, and of one that is not there', async () => {
    const { id } = await service().newAffiliate('noted', { notes: 'met at the fair\n"quoted"' })
    assert.deepEqual((await admin.get(`/affiliates/${id}/notes`)).body, {
      notes: 'met at the fair\n"quoted"',
    })
    assertFailure(await admin.get('/affiliates/987654/notes'), 404, 'invalid_affiliate_id')
    assertFailure(await service().get(`/affiliates/${id}/notes`), 404, 'rest_no_route')
  })

  test('totals of affiliates - by status, narrowed as the list is', async () => {
    for (const [name, status] of [
      ['tot1', 'active'],
      ['tot2', 'active'],
      ['tot3', 'rejected'],
    ] as const) {
      await service().newAffiliate(name, { status })
    }
    const totals = async (query: string) => (await admin.get(`/affiliates/totals?${query}`)).body
    assert.deepEqual(await totals('search=tot'), {
      count: 3,
      by_status: { active: 2, inactive: 0, pending: 0, rejected: 1 },
    })
    assert.deepEqual(await totals('search=tot&filter[status]=active'), {
      count: 2,
      by_status: { active: 2, inactive: 0, pending: 0, rejected: 0 },
    })
    assertFailure(await admin.get('/affiliates/totals?status=open'), 400, 'rest_invalid_param')
    assertFailure(await service().get('/affiliates/totals'), 404, 'rest_no_route')
  })

  test('totals of payouts - exact where a floating-point number is not', async () => {
    const { id } = await service().newAffiliate('rich')
    for (let number = 0; number < 100; number += 1) {
      await service().newPayout(id, { amount: 999_999_999_999.99 })
    }
    for (const amount of [0.1, 0.2]) await service().newPayout(id, { amount, status: 'failed' })
    const response = await fetch(`${service().url}/admin/api/payouts/totals?affiliate_id=${id}`, {
      headers: { cookie: admin.cookie! },
    })
    assert.equal(
      await response.text(),
      '{"count":102,"sum":99999999999999.3,"paid":{"count":100,"sum":99999999999999},"failed":{"count":2,"sum":0.3}}',
    )
    assert.deepEqual((await admin.get(`/payouts/totals?affiliate_id=${id}&status=failed`)).body, {
      count: 2,
      sum: 0.3,
      paid: { count: 0, sum: 0 },
      failed: { count: 2, sum: 0.3 },
    })
    assert.equal((await admin.get('/payouts/totals?payout_id=987654')).body.sum, 0)
    assertFailure(await admin.get('/payouts/totals?amount=0.001'), 400, 'rest_invalid_param')
  })
})
