/** What one caller may take, and what happens when there is more to do than can be done. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { permissions } from '../src/app.ts'
import { queries } from '../src/storage/timing.ts'
import {
  ADMIN_PASSWORD,
  assertFailure,
  describeService,
  hashSlowly,
  type Key,
  type ServeProcess,
  serveProcess,
  temporaryFolder,
} from './harness.ts'
import { load, tally, until } from './load.ts'

const LIMIT = 50

describeService(
  'requests per minute',
  service => {
    test('429 - the request after the last one, of this key only', async () => {
      const key = await service().newKey(permissions)
      for (let number = 1; number <= LIMIT; number += 1) {
        const { status, headers } = await service().get('/affiliates', { key })
        assert.equal(status, 200)
        assert.equal(headers.get('ratelimit-limit'), String(LIMIT))
        assert.equal(headers.get('ratelimit-policy'), `${LIMIT};w=60`)
        assert.equal(headers.get('ratelimit-remaining'), String(LIMIT - number))
        const reset = Number(headers.get('ratelimit-reset'))
        assert.ok(reset >= 1 && reset <= 60)
      }
      const refused = await service().post('/affiliates', {}, { key })
      assertFailure(refused, 429, 'rest_too_many_requests')
      assert.equal(refused.headers.get('ratelimit-remaining'), '0')
      const retryAfter = Number(refused.headers.get('retry-after'))
      assert.ok(retryAfter >= 1 && retryAfter <= 60)
      assert.equal(refused.body.data.retry_after, retryAfter)
      assert.equal((await service().get('/affiliates')).status, 200)
    })

    test('429 - keys from where many were refused are looked up together, and a valid one is found', async () => {
      const address = '192.0.2.77'
      const send = (token: string) =>
        service().get('/affiliates', {
          key: { publicKey: '', token },
          headers: { 'x-forwarded-for': address },
        })
      for (let number = 0; number <= LIMIT; number += 1) await send(`affiliated_sk_before${number}`)
      const { token } = await service().newKey(permissions)
      let asked = 0
      const count = () => {
        asked += 1
      }
      queries.subscribe(count)
      const wrong = Array.from({ length: 200 }, (_, number) => send(`affiliated_sk_wrong${number}`))
      const [right, ...refused] = await Promise.all([send(token), ...wrong])
      queries.unsubscribe(count)
      assert.equal(right!.status, 200)
      for (const reply of refused) assertFailure(reply, 429, 'rest_too_many_requests')
      // Some for what the valid one lists and for the note of its use.
      assert.ok(asked < 50, `${asked} queries`)
    })

    test('429 - a large body counts as several requests', async () => {
      const key = await service().newKey(permissions)
      const send = (bytes: number) =>
        service().post('/affiliates', JSON.stringify({ notes: 'x'.repeat(bytes) }), {
          key,
          headers: { 'content-type': 'application/json' },
        })
      const small = await send(1000)
      assert.equal(small.headers.get('ratelimit-remaining'), String(LIMIT - 1))
      const large = await send(20 * 16 * 1024)
      assertFailure(large, 400, 'rest_invalid_param')
      assert.equal(large.headers.get('ratelimit-remaining'), String(LIMIT - 1 - 21))
      await send(20 * 16 * 1024)
      assertFailure(await send(20 * 16 * 1024), 429, 'rest_too_many_requests')
      assert.equal((await service().get('/affiliates', { key })).status, 200)
    })

    test('429 - refused keys of one address; a valid key from there is served', async () => {
      const wrong = (address: string) =>
        service().get('/affiliates', {
          key: null,
          headers: { authorization: 'Bearer affiliated_sk_wrong', 'x-forwarded-for': address },
        })
      for (let number = 0; number < LIMIT; number += 1)
        assertFailure(await wrong('192.0.2.1'), 401, 'rest_forbidden')
      const refused = await wrong('192.0.2.1')
      assertFailure(refused, 429, 'rest_too_many_requests')
      assert.ok(Number(refused.headers.get('retry-after')) >= 1)
      assertFailure(await wrong('192.0.2.2'), 401, 'rest_forbidden')
      const right = await service().get('/affiliates', { headers: { 'x-forwarded-for': '192.0.2.1' } })
      assert.equal(right.status, 200)
      for (let number = 0; number < LIMIT; number += 1) await wrong(`2001:db8::${number}`)
      assertFailure(await wrong('2001:db8::ffff:1'), 429, 'rest_too_many_requests')
    })
  },
  { rateLimit: LIMIT },
)

describeService(
  'one proxy in between',
  service => {
    test('the last address that was forwarded counts, and not what the client made up', async () => {
      const wrong = (forwarded: string) =>
        service().get('/', { key: null, headers: { 'x-forwarded-for': forwarded } })
      for (let number = 0; number < LIMIT; number += 1) await wrong(`10.9.9.${number}, 192.0.2.7`)
      assertFailure(await wrong('10.9.9.99, 192.0.2.7'), 429, 'rest_too_many_requests')
    })

    test('what is no address and no scheme is not taken', async () => {
      const admin = await service().admin()
      const came = async (headers: Record<string, string>) => {
        const visitor = service().visitor()
        const { headers: answered } = await visitor.logIn('admin', ADMIN_PASSWORD, headers)
        const { body } = await admin.get('/audit?action=session.create&order=desc&number=1')
        const secure = answered.getSetCookie().every(cookie => cookie.includes('; Secure'))
        return [body[0].address, secure]
      }
      const own = await came({})
      assert.match(own[0], /127\.0\.0\.1$/)
      for (const [address, scheme, expected] of [
        ['192.0.2.7', 'https', ['192.0.2.7', true]],
        ['192.0.2.7:4711', 'HTTPS', ['192.0.2.7', true]],
        ['[2001:db8::7]:4711', 'http', ['2001:db8::7', false]],
        ['unknown, 192.0.2.7', 'javascript, https', ['192.0.2.7', true]],
        ['192.0.2.7, <script>', 'https, ftp', own],
        [`${'x'.repeat(5000)}`, 'https://evil.example/', own],
      ] as const) {
        assert.deepEqual(await came({ 'x-forwarded-for': address, 'x-forwarded-proto': scheme }), expected)
      }
      const { body } = await service().get('/', { headers: { 'x-forwarded-proto': 'javascript' } })
      assert.equal(body._links.self[0].href, `${service().url}/v1`)
    })

    test('https is what the proxy says', async () => {
      const { body } = await service().get('/', {
        headers: { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' },
      })
      assert.equal(body._links.self[0].href, 'https://shop.example/v1')
    })
  },
  { rateLimit: LIMIT, trustProxy: 1 },
)

for (const trustProxy of [0, [], ['192.0.2.99']]) {
  describeService(
    `nobody in between who is trusted: ${JSON.stringify(trustProxy)}`,
    service => {
      test('what somebody says of host and protocol is not believed', async () => {
        const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' }
        const { body } = await service().get('/', { headers })
        assert.equal(body._links.self[0].href, `${service().url}/v1`)
        const send = { body: { login: 'nobody', password: 'wrong' } }
        const visitor = service().visitor()
        const from = (origin: string) =>
          visitor.send('POST', '/session', { ...send, headers: { ...headers, origin } })
        assertFailure(await from('https://shop.example'), 403, 'rest_forbidden')
        assertFailure(await from(service().url), 401, 'rest_wrong_login')
        await service().admin()
        const reply = await visitor.logIn('admin', ADMIN_PASSWORD, headers)
        for (const cookie of reply.headers.getSetCookie()) assert.doesNotMatch(cookie, /Secure/)
      })
    },
    { trustProxy },
  )
}

describe('a service of two processes', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let service: ServeProcess
  before(async () => {
    folder = await temporaryFolder()
    service = await serveProcess([
      '--workers',
      '2',
      '--rate-limit',
      '200',
      '--log-level',
      'fatal',
      '--database',
      `sqlite:${folder.path}/limits.db`,
    ])
  })
  after(async () => {
    await service.stop('SIGKILL')
    await folder.remove()
  })

  test('429 - all processes together allow what one would', async () => {
    const clients = load(service.announced.token, 8, () => ({
      method: 'GET',
      url: `${service.announced.url}/v1/affiliates?number=1`,
    }))
    while (clients.answers.length < 600) await delay(20)
    await clients.stop()
    const { 200: allowed = 0, 429: refused = 0, ...others } = tally(clients.answers)
    assert.deepEqual(others, {})
    assert.deepEqual(clients.lost, [])
    assert.ok(allowed > 180 && allowed <= 200, `${allowed} of 200 were allowed`)
    assert.ok(refused >= 400)
  })
})

describeService('long lists', service => {
  test('429 - the seventeenth that one key reads at once, until one is read', async t => {
    await service().database.transaction(async tx => {
      const plain = {
        first_name: '',
        last_name: '',
        role: '',
        password_hash: '',
        registered_at: 1,
        updated_at: 1,
      } as const
      const counts = {
        earnings: 0,
        unpaid_earnings: 0,
        referrals: 0,
        visits: 0,
        registered_at: 1,
        updated_at: 1,
      }
      for (let number = 0; number < 400; number += 1) {
        const login = `long${number}`
        const user = {
          login,
          login_key: login,
          email: login,
          email_key: login,
          display_name: 'x'.repeat(16_000),
          display_name_key: login,
        }
        const { id } = await tx
          .insertInto('users')
          .values({ ...user, ...plain })
          .returning('id')
          .executeTakeFirstOrThrow()
        const mail = { payment_email: login, payment_email_key: login }
        await tx
          .insertInto('affiliates')
          .values({
            user_id: id,
            rate: null,
            rate_type: null,
            status: 'active',
            notes: '',
            ...mail,
            ...counts,
          })
          .execute()
      }
    })
    const { hostname, port } = new URL(service().url)
    const open: Socket[] = []
    t.after(() => open.map(socket => socket.destroy()))
    for (let number = 0; number < 16; number += 1) {
      const socket = connect(Number(port), hostname)
      socket.write(
        `GET /v1/affiliates?number=-1&user=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service().key.token}\r\n\r\n`,
      )
      open.push(socket)
    }
    // A list that only looks whether the limit is reached would else take the place of one that is to begin.
    await Promise.all(open.map(socket => once(socket, 'readable')))
    const list = (key?: Key) => service().get('/affiliates?number=-1&fields=ids', key && { key })
    const refused = await list()
    assertFailure(refused, 429, 'rest_too_many_requests')
    assert.equal(refused.headers.get('retry-after'), '1')
    assert.equal((await service().get('/affiliates')).status, 200)
    assert.equal((await list(await service().newKey(permissions))).status, 200)
    open[0]!.destroy()
    await until(async () => (await list()).status === 200)
  })
})

describeService('a flood of log-ins', service => {
  test('503 - who comes while 32 wait for a hash, uncounted; programs are answered meanwhile', async t => {
    hashSlowly(t, 1 / 3)
    const beganAt = performance.now()
    const attempts = Array.from({ length: 60 }, (_, number) =>
      service()
        .visitor()
        .logIn(`flood${number}`, 'wrong', { 'x-forwarded-for': `198.18.20.${number}` }),
    )
    let over = false
    const flood = Promise.all(attempts).finally(() => {
      over = true
    })
    const tookMs: number[] = []
    while (!over) {
      const askedAt = performance.now()
      assert.equal((await service().get('/affiliates')).status, 200)
      if (!over) tookMs.push(performance.now() - askedAt)
      await delay(20)
    }
    const replies = await flood
    // Whoever had to wait for those hashes would wait for as long as the flood lasts.
    const floodMs = performance.now() - beganAt
    assert.ok(tookMs.length > 20, `${tookMs.length} answers`)
    assert.ok(Math.max(...tookMs) < floodMs / 2, `${Math.max(...tookMs)} of ${floodMs} ms`)
    // The first of them may have their hash, and make room, before the last have come.
    const hashed = replies.filter(({ status }) => status === 401).length
    assert.ok(hashed >= 32, `${hashed} were hashed`)
    const shed = replies.filter(({ status }) => status !== 401)
    assert.ok(shed.length > 0)
    for (const reply of shed) assertFailure(reply, 503, 'rest_unavailable')
    const counted = await service().database.reader.selectFrom('login_attempts').selectAll().execute()
    assert.equal(new Set(counted.map(({ attempt }) => attempt)).size, hashed)
  })

  test('200 - an edit with If-Match that sets a password keeps no other write waiting', async t => {
    const admin = await service().admin()
    const { body } = await admin.post('/users', { login: 'edited', email: 'edited@example.com' })
    hashSlowly(t, 4)
    const order: string[] = []
    const edit = admin
      .send('PATCH', `/users/${body.id}`, {
        body: { password: 'long enough', role: 'administrator' },
        headers: { 'if-match': '*' },
      })
      .finally(() => order.push('edit'))
    await delay(100)
    await service().newAffiliate('unhindered')
    order.push('write')
    assert.equal((await edit).status, 200)
    assert.deepEqual(order, ['write', 'edit'])
    assert.equal((await service().visitor().logIn('edited', 'long enough')).status, 201)
  })
})
