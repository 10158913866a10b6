import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { revokeKey } from '../../src/accounts/keys/rules.ts'
import { findKey } from '../../src/accounts/keys/store.ts'
import { permissions, resources } from '../../src/app.ts'
import { formatTime, now } from '../../src/base/time.ts'
import {
  assertFailure,
  describeService,
  type Key,
  openDatabase,
  operatorOf,
  type Service,
} from '../harness.ts'
import { until } from '../load.ts'

const basic = (publicKey: string, token: string, scheme = 'Basic') =>
  `${scheme} ${Buffer.from(`${publicKey}:${token}`).toString('base64')}`

const withHeader = (service: Service, authorization: string, path = '/affiliates') =>
  service.get(path, { key: null, headers: { authorization } })

describeService('authentication', service => {
  test('200 - Basic and Bearer', async () => {
    const { publicKey, token } = service().key
    for (const header of [
      basic(publicKey, token),
      basic(publicKey, token, 'basic'),
      `Bearer ${token}`,
      `bearer ${token}`,
    ]) {
      assert.equal((await withHeader(service(), header)).status, 200)
    }
  })

  test('401 - all that is not a valid key, all alike', async () => {
    const { publicKey, token } = service().key
    const revoked = await service().newKey(permissions)
    await revokeKey(operatorOf(service().database), revoked.publicKey)
    const expired = await service().newKey(permissions)
    await service().database.transaction(tx =>
      tx
        .updateTable('api_keys')
        .set({ expires_at: 1_577_836_800 })
        .where('public_key', '=', expired.publicKey)
        .execute(),
    )
    const wrong = [
      '',
      'Basic',
      'Basic !!!',
      `${basic(publicKey, token)}!!!!`,
      `${basic(publicKey, token)}x`,
      basic(publicKey, token).replace('Y', '*Y'),
      `Digest ${token}`,
      token,
      `Bearer ${token}x`,
      `Bearer ${token.slice(0, -1)}`,
      'Bearer affiliated_sk_',
      basic(publicKey, `${token}x`),
      basic('affiliated_pk_0', token),
      basic(revoked.publicKey, token),
      basic('', token),
      basic(publicKey, ''),
      `Bearer ${revoked.token}`,
      `Bearer ${expired.token}`,
      'Bearer \u00ff',
    ]
    const answers = new Set<string>()
    for (const header of wrong) {
      const reply = await withHeader(service(), header)
      assertFailure(reply, 401, 'rest_forbidden')
      assert.match(reply.headers.get('www-authenticate')!, /^Basic /)
      answers.add(JSON.stringify(reply.body))
    }
    assert.equal(answers.size, 1)
  })

  test('401 - without a key neither routes nor items nor faults can be told apart', async () => {
    const { id } = await service().newAffiliate('secret')
    const answers = new Set<string>()
    const ask = async (method: string, path: string, options = {}) => {
      const { status, body } = await service().send(method, path, { key: null, ...options })
      answers.add(`${status} ${JSON.stringify(body)}`)
    }
    for (const path of [
      '',
      '/',
      '/affiliates',
      `/affiliates/${id}`,
      '/affiliates/999',
      '/nothing',
      '/affiliates/%ff',
      `/affiliates/${'1'.repeat(15_000)}`,
      '/openapi.json',
    ]) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])
        await ask(method, path)
    }
    await ask('POST', '/affiliates', { body: '{', headers: { 'content-type': 'application/json' } })
    await ask('POST', '/affiliates', { body: 'x', headers: { 'content-type': 'text/plain' } })
    await ask('POST', '/affiliates', { body: Buffer.alloc(2_000_000) })
    await ask('OPTIONS', '/affiliates', {
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'GET' },
    })
    assert.equal(answers.size, 1, [...answers].join('\n'))
  })

  test('401, 200 - a URL that comes whole, as for a proxy', async () => {
    const { url, key } = service()
    const ask = async (path: string, token: string) => {
      const asked = request(url, { path, headers: { authorization: `Bearer ${token}` } }).end()
      const [{ statusCode }] = await once(asked, 'response')
      return statusCode
    }
    const whole = 'http://user:word@somewhere.example/v1/affiliates?number=1'
    assert.deepEqual([await ask(whole, 'none'), await ask(whole, key.token)], [401, 200])
    assert.equal(await ask('http://[', key.token), 404)
    // As with a path alone: what stands below /v1 leads nowhere else.
    for (const up of ['/v1/../admin/', '/v1/%2e%2e/admin/', '/v1\\..\\admin\\']) {
      assert.equal(await ask(`http://somewhere.example${up}`, 'none'), await ask(up, 'none'), up)
    }
  })

  describe('permissions', () => {
    const uses: [string, string, (key: Key) => Promise<{ status: number; body: any }>][] = [
      ['affiliates.read', '/affiliates', key => service().get('/affiliates', { key })],
      ['affiliates.read', '/affiliates/1', key => service().get('/affiliates/1', { key })],
      ['affiliates.create', 'POST /affiliates', key => service().post('/affiliates', {}, { key })],
      ['affiliates.edit', 'PATCH /affiliates/1', key => service().patch('/affiliates/1', {}, { key })],
      ['affiliates.delete', 'DELETE /affiliates/999', key => service().delete('/affiliates/999', { key })],
      ['payouts.read', '/payouts', key => service().get('/payouts', { key })],
      ['payouts.create', 'POST /payouts', key => service().post('/payouts', {}, { key })],
      ['payouts.edit', 'PATCH /payouts/1', key => service().patch('/payouts/1', {}, { key })],
      ['payouts.delete', 'DELETE /payouts/999', key => service().delete('/payouts/999', { key })],
    ]
    for (const [permission, what, use] of uses) {
      test(`403 - ${what} without ${permission}, and not 403 with nothing else`, async () => {
        const others = await service().newKey(permissions.filter(other => other !== permission))
        const refused = await use(others)
        assert.equal(refused.status, 403)
        assert.equal(refused.body.code, 'rest_forbidden')
        const only = await use(await service().newKey([permission]))
        assert.notEqual(only.status, 403)
        assert.notEqual(only.status, 401)
      })
    }

    test('200 - any key may ask what there is', async () => {
      const key = await service().newKey(['payouts.delete'])
      for (const path of ['', '/openapi.json']) assert.equal((await service().get(path, { key })).status, 200)
      assert.equal((await service().send('OPTIONS', '/affiliates/1', { key })).status, 200)
    })

    test('every endpoint names a permission of its resource', () => {
      for (const { name, endpoints } of resources) {
        for (const { permission } of endpoints)
          assert.match(permission, new RegExp(`^${name.replaceAll('-', '_')}\\.(read|create|edit|delete)$`))
      }
    })
  })

  test('401 - within a second after another process revoked the key', async () => {
    const key = await service().newKey(permissions)
    assert.equal((await service().get('/affiliates', { key })).status, 200)
    const elsewhere = await openDatabase(service().databaseUrl)
    await revokeKey(operatorOf(elsewhere), key.publicKey)
    await elsewhere.close()
    await delay(1000)
    assertFailure(await service().get('/affiliates', { key }), 401, 'rest_forbidden')
  })

  test('401 - from the second after the key expired', async () => {
    const key = await service().newKey(permissions, { expires: formatTime(now() + 1) })
    assert.equal((await service().get('/affiliates', { key })).status, 200)
    await delay(2100)
    assertFailure(await service().get('/affiliates', { key }), 401, 'rest_forbidden')
  })

  test('the last use is written, at most once a minute', async () => {
    const key = await service().newKey(permissions)
    const lastUse = async () => (await findKey(service().database.reader, key.publicKey))!.last_used_at
    assert.equal(await lastUse(), null)
    const began = now()
    await service().get('/affiliates', { key })
    await service().post('/affiliates', {}, { key })
    // The answer does not wait for it.
    await until(async () => (await lastUse()) !== null)
    const first = await lastUse()
    assert.ok(first !== null && first >= began && first <= now())
    await delay(1100)
    await service().get('/affiliates', { key })
    await service().post('/affiliates', {}, { key })
    assert.equal(await lastUse(), first)
  })

  test('no token is kept', async () => {
    const rows = await service().database.reader.selectFrom('api_keys').selectAll().execute()
    assert.ok(!JSON.stringify(rows).includes(service().key.token))
    assert.ok(!JSON.stringify(rows).includes('affiliated_sk_'))
  })
})

describeService(
  'CORS for any origin',
  service => {
    const from = (origin: string) => ({ origin, 'access-control-request-method': 'GET' })

    test('204 - a preflight needs no key, and lets pages read', async () => {
      const reply = await service().send('OPTIONS', '/affiliates', {
        key: null,
        headers: from('https://any.example'),
      })
      assert.equal(reply.status, 204)
      assert.equal(reply.headers.get('access-control-allow-origin'), '*')
      assert.equal(reply.headers.get('access-control-allow-methods'), 'GET, HEAD, OPTIONS')
      assert.equal(reply.headers.get('access-control-allow-credentials'), null)
      const named = await service().send('OPTIONS', '/affiliates', {
        key: null,
        headers: from('https://shop.example'),
      })
      assert.equal(named.headers.get('access-control-allow-origin'), 'https://shop.example')
      assert.match(named.headers.get('access-control-allow-methods')!, /POST/)
    })

    test('200 - the index of the site may be read without a key', async () => {
      const site = { key: null, headers: from('https://any.example') }
      assert.equal((await service().send('OPTIONS', '/../wp-json', site)).status, 204)
      const { status, headers } = await service().get('/../wp-json', site)
      assert.deepEqual([status, headers.get('access-control-allow-origin')], [200, '*'])
    })

    test('200, 201 - answers to reads may be read, answers to writes may not', async () => {
      const headers = { origin: 'https://any.example' }
      const read = await service().get('/affiliates', { headers })
      assert.equal(read.status, 200)
      assert.equal(read.headers.get('access-control-allow-origin'), '*')
      assert.equal(read.headers.get('access-control-allow-credentials'), null)
      const args = { create_user: true, payment_email: 'cors@example.com' }
      const written = await service().post('/affiliates', args, { headers })
      assert.equal(written.status, 201)
      assert.equal(written.headers.get('access-control-allow-origin'), null)
    })
  },
  { corsOrigins: ['*', 'https://shop.example'] },
)

describeService(
  'CORS',
  service => {
    const preflight = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    }

    test('204 - a preflight of a configured origin needs no key', async () => {
      const reply = await service().send('OPTIONS', '/affiliates', {
        key: null,
        headers: { origin: 'https://shop.example', ...preflight },
      })
      assert.equal(reply.status, 204)
      assert.equal(reply.headers.get('access-control-allow-origin'), 'https://shop.example')
      assert.match(reply.headers.get('access-control-allow-headers')!, /Authorization/)
    })

    test('401 - a preflight of another origin, and OPTIONS that is no preflight', async () => {
      const other = await service().send('OPTIONS', '/affiliates', {
        key: null,
        headers: { origin: 'https://evil.example', ...preflight },
      })
      assertFailure(other, 401, 'rest_forbidden')
      assert.equal(other.headers.get('access-control-allow-origin'), null)
      const plain = await service().send('OPTIONS', '/affiliates', {
        key: null,
        headers: { origin: 'https://shop.example' },
      })
      assertFailure(plain, 401, 'rest_forbidden')
    })

    test('200 - an answer that the page may read', async () => {
      const reply = await service().get('/affiliates', { headers: { origin: 'https://shop.example' } })
      assert.equal(reply.headers.get('access-control-allow-origin'), 'https://shop.example')
      assert.match(reply.headers.get('access-control-expose-headers')!, /Link/)
    })

    test('200 - the headers of an answer of WordPress are for the page as well', async () => {
      const reply = await service().get('/../wp-json/wp/v2/users', {
        headers: { origin: 'https://shop.example' },
      })
      const exposed = reply.headers.get('access-control-expose-headers')!.split(', ')
      for (const name of ['X-WP-Total', 'X-WP-TotalPages']) {
        assert.ok(reply.headers.has(name), name)
        assert.ok(exposed.includes(name), name)
      }
    })
  },
  { corsOrigins: ['https://shop.example'] },
)
