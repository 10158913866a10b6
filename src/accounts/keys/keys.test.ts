import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import {
  assertFailure,
  describeService,
  openDatabase,
  operatorOf,
  type Visitor,
} from '../../../test/harness.ts'
import { until } from '../../../test/load.ts'
import { KeyRing, revokeKey } from './rules.ts'
import { keyRecord } from './schema.ts'

describeService('keys', service => {
  let admin: Visitor
  before(async () => {
    admin = await service().admin()
  })

  const generate = async (args: object = {}) => {
    const reply = await admin.post('/keys', {
      name: 'Shop',
      user_id: 1,
      permissions: ['affiliates.read'],
      ...args,
    })
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return reply.body
  }
  const listed = async (id: number) =>
    (await admin.get('/keys?number=0')).body.find((key: { id: number }) => key.id === id)

  test('201 - the token is shown once, and the key works', async () => {
    const { token, ...key } = await generate({ name: 'Ship <b>it</b>', expires: '2999-12-31' })
    assert.deepEqual(Object.keys(key), Object.keys(keyRecord.properties))
    assert.match(token, /^affiliated_sk_[\w-]{43}$/)
    const { id, public_key, date_created, ...rest } = key
    assert.deepEqual(rest, {
      name: 'Ship <b>it</b>',
      owner: { id: 1, login: 'admin' },
      permissions: ['affiliates.read'],
      status: 'active',
      last_used: null,
      expires: '2999-12-31 23:59:59',
      revoked: null,
    })
    assert.match(public_key, /^affiliated_pk_/)
    assert.ok(date_created)
    const list = await admin.get('/keys?number=0')
    assert.equal(JSON.stringify(list.body).includes(token), false)
    const used = { publicKey: public_key, token }
    assert.equal((await service().get('/affiliates', { key: used })).status, 200)
    assertFailure(await service().get('/payouts', { key: used }), 403, 'rest_forbidden')
    // The answer of a use does not wait for it.
    await until(async () => (await listed(id)).last_used !== null)
    assert.match((await listed(id)).last_used, /^\d{4}-/)
  })

  test('200 - a revoked key stops working at once, here and on other processes', async () => {
    const { id, public_key, token } = await generate()
    const key = { publicKey: public_key, token }
    const elsewhere = await openDatabase(service().databaseUrl)
    const ring = new KeyRing(elsewhere)
    assert.ok(await ring.find(token))
    assert.equal((await service().get('/affiliates', { key })).status, 200)
    const revoked = await admin.delete(`/keys/${id}`)
    assert.equal(revoked.status, 200)
    assert.equal(revoked.body.status, 'revoked')
    assert.ok(revoked.body.revoked)
    assertFailure(await service().get('/affiliates', { key }), 401, 'rest_forbidden')
    await new Promise(resolve => setTimeout(resolve, 1000))
    assert.equal(await ring.find(token), undefined)
    await ring.close()
    await elsewhere.close()
    const again = await admin.delete(`/keys/${id}`)
    assert.deepEqual([again.status, again.body.revoked], [200, revoked.body.revoked])
    assert.equal((await listed(id)).status, 'revoked')
    assertFailure(await admin.delete('/keys/987654'), 404, 'invalid_key_id')
  })

  test('a read that began before a key was forgotten is not cached', async () => {
    const { token, public_key } = await generate()
    const { database } = service()
    const ring = new KeyRing(database)
    const finding = ring.find(token)
    ring.forget()
    assert.ok(await finding)
    await revokeKey(operatorOf(database), public_key)
    assert.equal(await ring.find(token), undefined)
    await ring.close()
  })

  test('200 - one that has expired is shown as such', async () => {
    const { id } = await generate({ expires: '2999-12-31' })
    const { database } = service()
    await database.transaction(tx =>
      tx.updateTable('api_keys').set({ expires_at: 1 }).where('id', '=', id).execute(),
    )
    assert.equal((await listed(id)).status, 'expired')
  })

  test('400 - every wrong argument is named', async () => {
    const missing = await admin.post('/keys', {})
    assert.deepEqual(missing.body.data.params.sort(), ['name', 'permissions', 'user_id'])
    const wrong = await admin.post('/keys', {
      name: ' ',
      user_id: 0,
      permissions: ['settings.edit'],
      expires: 'soon',
    })
    assertFailure(wrong, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(wrong.body.data.params).sort(), [
      'expires',
      'name',
      'permissions',
      'user_id',
    ])
    const dead = await admin.post('/keys', {
      name: 'dead',
      user_id: 1,
      permissions: ['payouts.read'],
      expires: '2020-01-01',
    })
    assertFailure(dead, 400, 'rest_invalid_param')
    assert.match(dead.body.message, /expires: must not be in the past/)
    const none = await admin.post('/keys', { name: 'none', user_id: 1, permissions: [] })
    assert.deepEqual(Object.keys(none.body.data.params), ['permissions'])
    const nobody = await admin.post('/keys', { name: 'n', user_id: 987654, permissions: ['payouts.read'] })
    assertFailure(nobody, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(nobody.body.data.params), ['user_id'])
  })

  test('200 - a name is found in any case of its letters', async () => {
    const admin = await service().admin()
    const made = await admin.post('/keys', { user_id: 1, name: 'ÄRGER Büro', permissions: ['payouts.read'] })
    assert.equal(made.status, 201)
    const { body } = await admin.get(`/keys?search=${encodeURIComponent('ärger BÜ')}`)
    assert.deepEqual(
      body.map((key: { name: string }) => key.name),
      ['ÄRGER Büro'],
    )
  })

  test('200 - the list: search, owner, order, pages', async () => {
    for (const name of ['List C', 'List A', 'List 100%']) await generate({ name })
    const names = async (query: string) =>
      (await admin.get(`/keys?${query}`)).body.map((key: { name: string }) => key.name)
    assert.deepEqual(await names('search=list&orderby=name'), ['List 100%', 'List A', 'List C'])
    assert.deepEqual(await names('search=100%25'), ['List 100%'])
    assert.deepEqual(await names('search=list&order=desc&number=1'), ['List 100%'])
    assert.deepEqual(await names('user_id=987654'), [])
    const counted = await admin.get('/keys?search=list&count=1&number=1&orderby=last_used')
    assert.equal(counted.headers.get('x-total-count'), '3')
  })
})
