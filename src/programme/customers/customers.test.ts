import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFailure, describeService, operatorOf, runCommand } from '../../../test/harness.ts'
import { erasePerson } from '../../operations/privacy/rules.ts'

describeService('customers', service => {
  const create = (args: object) => service().post('/customers', args)

  test('201 - with all that can be sent, and an edit that leaves the rest', async () => {
    const sent = {
      user_id: 1,
      first_name: 'Ada',
      last_name: 'Bauer',
      email: 'Ada@example.com',
      ip: '203.0.113.0',
      date_created: '2026-01-02 03:04:05',
      affiliate_id: 0,
    }
    const { status, body } = await create({ ...sent, ip: '203.0.113.7' })
    assert.equal(status, 201, JSON.stringify(body))
    assert.deepEqual(body, { customer_id: body.id, ...sent, id: body.id })
    assert.deepEqual(Object.keys(body), ['customer_id', ...Object.keys(sent), 'id'])
    const { body: edited } = await service().patch(`/customers/${body.id}`, {
      user_id: 0,
      last_name: 'Costa',
    })
    assert.deepEqual(edited, { ...body, user_id: 0, last_name: 'Costa' })
    assert.deepEqual((await service().get(`/customers/${body.id}`)).body, edited)
    assert.deepEqual((await service().get('/customers?search=COSTA&fields=ids')).body, [body.id])
    assert.equal((await service().delete(`/customers/${body.id}`)).status, 200)
    assertFailure(await service().get(`/customers/${body.id}`), 404, 'invalid_customer')
  })

  test('409 - an e-mail address that another customer has, in any case of letters', async () => {
    const { body: first } = await create({ email: 'twice@example.com' })
    assert.equal(first.user_id, 0)
    assertFailure(await create({ email: 'TWICE@example.com' }), 409, 'affwp_rest_customer_email_in_use')
    const { body: other } = await create({ email: 'once@example.com' })
    const taken = await service().patch(`/customers/${other.id}`, { email: 'Twice@Example.com' })
    assertFailure(taken, 409, 'affwp_rest_customer_email_in_use')
    assert.equal(
      (await service().patch(`/customers/${first.id}`, { email: 'Twice@example.com' })).status,
      200,
    )
  })

  test('400 - without an e-mail address, or with an account that is not there', async () => {
    assertFailure(await create({ first_name: 'Ben' }), 400, 'rest_missing_callback_param')
    const { body } = await create({ email: 'ben@example.com', user_id: 999_999, ip: 'home' })
    assert.deepEqual(Object.keys(body.data.params).sort(), ['ip', 'user_id'])
  })

  test('a person who is erased is erased as a customer, and so are two', async () => {
    for (const name of ['leaving', 'gone']) {
      const { user_id } = await service().newAffiliate(name)
      const { body } = await create({
        email: `${name}@example.net`,
        first_name: 'Eve',
        user_id,
        ip: '203.0.113.7',
      })
      await erasePerson(operatorOf(service().database), user_id)
      const { body: erased } = await service().get(`/customers/${body.id}`)
      assert.deepEqual([erased.first_name, erased.email, erased.ip], ['', '', ''])
      const events = await service()
        .database.reader.selectFrom('events')
        .select('personal')
        .where('record_kind', '=', 'customer')
        .where('record_id', '=', body.id)
        .execute()
      assert.deepEqual(
        events.map(({ personal }) => personal),
        [''],
      )
    }
  })

  test('200 - by e-mail address, with the account and the affiliates', async () => {
    const { id: affiliate } = await service().newAffiliate('bringer')
    const { body } = await create({ email: 'Seen+1@example.com', user_id: 1, affiliate_id: affiliate })
    const found = await service().get('/customers/seen%2B1%40EXAMPLE.com?user=1&meta=1')
    assert.equal(found.status, 200, JSON.stringify(found.body))
    const { user, meta, ...record } = found.body
    assert.deepEqual(record, body)
    assert.deepEqual([user.ID, user.user_login, meta], [1, 'admin', { affiliate_id: [affiliate] }])
    assert.equal((await service().get('/customers/seen+1@example.com')).body.id, body.id)
    const { body: slashed } = await create({ email: 'a/b@example.com' })
    assert.equal((await service().get('/customers/a%2Fb%40example.com')).body.id, slashed.id)
    assertFailure(await service().get('/customers/c%2Fd@example.com'), 404, 'invalid_customer')
    assertFailure(await service().get('/customers/a/b@example.com'), 404, 'rest_no_route')
    const { body: other } = await create({ email: 'other@example.com' })
    const shown = (await service().get(`/customers/${other.id}?user=1&meta=1`)).body
    assert.deepEqual([shown.user, shown.meta], [false, { affiliate_id: [] }])
    assertFailure(await service().get('/customers/nobody@example.com'), 404, 'invalid_customer')
    assertFailure(await service().get('/customers/nobody'), 404, 'rest_no_route')
    assert.equal((await service().send('OPTIONS', '/customers/a@example.com')).status, 200)
  })

  test('a customer without an account is erased from the command line, and can be exported before', async () => {
    const { body } = await create({ email: 'bought@example.com', first_name: 'Zoe', ip: '2001:db8:1:2::3' })
    assert.equal(body.ip, '2001:db8:1::')
    const run = (...args: string[]) => runCommand(['customers', ...args, '--database', service().databaseUrl])
    const exported = JSON.parse((await run('export', 'Bought@example.com')).stdout)
    assert.equal(exported.customers[0].first_name, 'Zoe')
    assert.equal((await run('erase', 'nobody@example.com', '--yes')).code, 1)
    const { code, stderr } = await run('erase', 'bought@example.com', '--yes')
    assert.equal(code, 0, stderr)
    const { body: erased } = await service().get(`/customers/${body.id}`)
    assert.deepEqual([erased.first_name, erased.email, erased.ip], ['', '', ''])
    const events = await service()
      .database.reader.selectFrom('events')
      .select(['action', 'personal'])
      .where('record_kind', '=', 'customer')
      .where('record_id', '=', body.id)
      .orderBy('id')
      .execute()
    assert.deepEqual(
      events.map(({ action, personal }) => [action, personal]),
      [
        ['customer.create', ''],
        ['customer.erase', ''],
      ],
    )
    assert.equal((await runCommand(['audit', 'verify', '--database', service().databaseUrl])).code, 0)
  })

  test('200 - those with an address, in any case of letters, and nobody for one that nobody has', async () => {
    const { body: made } = await service().post('/customers', { email: 'By.Address@example.com' })
    const found = async (query: string) => {
      const { status, body } = await service().get(`/customers?fields=ids&${query}`)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }
    assert.deepEqual(await found('email=by.address@EXAMPLE.com'), [made.customer_id ?? made.id])
    assert.deepEqual(await found('email=nobody@example.com'), [])
    assert.deepEqual(await found('email[]=nobody@example.com&email[]=by.address@example.com'), [
      made.customer_id ?? made.id,
    ])
  })
})
