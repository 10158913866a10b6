/** Accounts as client programs of AffiliateWP ask WordPress for them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeService, operatorOf } from '../../../test/harness.ts'
import { createKey } from '../keys/rules.ts'

describeService('/wp-json/wp/v2/users', service => {
  const ask = async (path: string, token = service().key.token, body?: object) => {
    const response = await fetch(`${service().url}/wp-json/wp/v2/users${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, headers: response.headers, body: (await response.json()) as any }
  }
  const customer = {
    username: 'jo',
    email: 'jo@shop.example',
    password: 'x',
    first_name: 'Jo',
    roles: ['administrator'],
  }

  test('201 - an account without a role, found again by its address', async () => {
    const { status, body, headers } = await ask('', undefined, customer)
    assert.equal(status, 201)
    assert.deepEqual([body.username, body.name, body.roles], ['jo', 'Jo', []])
    assert.match(headers.get('location')!, new RegExp(`/wp-json/wp/v2/users/${body.id}$`))
    const found = await ask('?search=jo@shop.example&context=edit')
    assert.deepEqual(found.body, [body])
    assert.equal(found.headers.get('x-wp-total'), '1')
    assert.deepEqual((await ask('?slug=JO')).body, [body])
    assert.deepEqual((await ask('?slug=nobody')).body, [])
    assert.deepEqual((await ask(`?slug=jo,admin&exclude=1&orderby=id`)).body, [body])
    assert.deepEqual((await ask(`/${body.id}`)).body, body)
    assert.deepEqual((await ask('/me')).body.roles, ['administrator'])
    const page = await ask('?per_page=1&page=2&orderby=id')
    assert.deepEqual([page.body.length, page.headers.get('x-wp-totalpages')], [1, '2'])
    assert.deepEqual((await ask('?per_page=1&offset=1&orderby=id')).body, page.body)
    const twice = await ask('', undefined, customer)
    assert.deepEqual([twice.status, twice.body.code], [409, 'existing_user_email'])
  })

  test('201 - the password may stand in the query, since it is not stored', async () => {
    const query = new URLSearchParams({ username: 'bo', email: 'bo@shop.example', password: 'x' })
    const response = await fetch(`${service().url}/wp-json/wp/v2/users?${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service().key.token}` },
    })
    assert.equal(response.status, 201)
  })

  test('400, 401, 403, 404 - what is not allowed', async () => {
    assert.equal((await ask('', undefined, { username: ' ', email: 'no' })).status, 400)
    const named = await ask('', undefined, { username: 'w+3', email: 'w3@shop.example' })
    assert.deepEqual([named.status, Object.keys(named.body.data.params)], [400, ['username']])
    assert.equal((await ask('', '')).status, 401)
    assert.equal((await ask('/999')).status, 404)
    const permissions = ['affiliates.read']
    const args = { user_id: 1, name: 'affiliates only', permissions }
    const { token } = await createKey(operatorOf(service().database), args, permissions)
    assert.equal((await ask('', token)).status, 403)
    assert.equal((await ask('', token, customer)).status, 403)
  })
})
