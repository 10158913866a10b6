/** Keys and sessions that end while a request is under way: because its body, or whoever reads its answer, is slow. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { revokeKey } from '../../src/accounts/keys/rules.ts'
import { hashPassword } from '../../src/accounts/users/password.ts'
import { editUser, setPassword } from '../../src/accounts/users/rules.ts'
import { features } from '../../src/app.ts'
import { write } from '../../src/events/write.ts'
import { fillWithDemo } from '../../src/operations/demo/demo.ts'
import { lockSettingsAlone } from '../../src/settings/store.ts'
import {
  ADMIN_PASSWORD,
  assertFailure,
  describeService,
  hashSlowly,
  type Key,
  operatorOf,
  type Service,
} from '../harness.ts'
import { until } from '../load.ts'

const LONG_AFTER_MS = 1200

/** Sends the head of a request, lets something happen, sends the body, and reads the answer. */
async function heldBack(
  { url }: Service,
  path: string,
  headers: Record<string, string>,
  body: string,
  meanwhile: () => Promise<unknown>,
): Promise<string> {
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  const head = { Host: 'x', 'Content-Type': 'application/json', 'Content-Length': body.length, ...headers }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}Connection: close\r\n\r\n`)
  await delay(100)
  await meanwhile()
  socket.write(body)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** The password of the first administrator is set by somebody else, which ends its sessions. */
async function takeBack(service: Service, password: string): Promise<void> {
  const hash = await hashPassword(password)
  await write(operatorOf(service.database), tx => setPassword(tx, 1, hash))
}

describeService('revocation', service => {
  const demote = (user_id: number) =>
    editUser(operatorOf(service().database), { user_id, role: 'reader' }, undefined)

  test('401 - a key that was revoked while the body was on its way', async () => {
    const key = await service().newKey(['affiliates.create'])
    const body = '{"create_user":true,"payment_email":"late@example.com"}'
    const headers = { Authorization: `Bearer ${key.token}` }
    const answer = await heldBack(service(), '/v1/affiliates', headers, body, async () => {
      await revokeKey(operatorOf(service().database), key.publicKey)
      await delay(LONG_AFTER_MS)
    })
    assert.match(answer, /^HTTP\/1\.1 401 /)
    const { body: found } = await service().get('/affiliates?search=late@example.com')
    assert.deepEqual(found, [])
  })

  test('401 - a session that ended while the body was on its way', async () => {
    const { cookie } = await service().admin()
    const body = JSON.stringify({
      login: 'backdoor',
      email: 'backdoor@example.com',
      role: 'administrator',
      password: 'a password of mine',
    })
    const headers = { Cookie: cookie!, 'X-Admin-Request': '1' }
    const answer = await heldBack(service(), '/admin/api/users', headers, body, () =>
      takeBack(service(), ADMIN_PASSWORD),
    )
    assert.match(answer, /^HTTP\/1\.1 401 /)
    assertFailure(await service().visitor().logIn('backdoor', 'a password of mine'), 401, 'rest_wrong_login')
  })

  test('401 - a session that ended while its password was hashed: what was set meanwhile stays', async t => {
    const intruder = await service().admin()
    const hash = await hashPassword('set by the operator')
    hashSlowly(t, 4)
    const changing = intruder.post('/password', {
      current_password: ADMIN_PASSWORD,
      new_password: ADMIN_PASSWORD,
    })
    const tries = service().database.reader.selectFrom('login_attempts').selectAll()
    await until(async () => (await tries.execute()).length > 0)
    await delay(50)
    await write(operatorOf(service().database), tx => setPassword(tx, 1, hash))
    assertFailure(await changing, 401, 'rest_session_required')
    assertFailure(await service().visitor().logIn('admin', ADMIN_PASSWORD), 401, 'rest_wrong_login')
    assert.equal((await service().visitor().logIn('admin', 'set by the operator')).status, 201)
    await takeBack(service(), ADMIN_PASSWORD)
  })

  test('401 - a password that the same session has changed meanwhile, in another tab', async t => {
    const admin = await service().admin()
    hashSlowly(t, 2)
    const change = (new_password: string) =>
      admin.post('/password', { current_password: ADMIN_PASSWORD, new_password })
    const statuses = await Promise.all([change('set in one of two tabs'), change('set in the other tab')])
    assert.deepEqual(statuses.map(({ status }) => status).sort(), [200, 401])
    await takeBack(service(), ADMIN_PASSWORD)
  })

  test('an answer that is read slowly ends when its key is revoked', async () => {
    await service().database.transaction(async () => {})
    await fillWithDemo(service().database, features, { affiliates: 20_000, payouts: 0 })
    const key = await service().newKey(['affiliates.read'])
    const { port } = new URL(service().url)
    const socket = connect({ port: Number(port), host: '127.0.0.1' })
    socket.write(
      `GET /v1/affiliates?number=-1&user=1 HTTP/1.0\r\nHost: x\r\nAuthorization: Bearer ${key.token}\r\n\r\n`,
    )
    await once(socket, 'readable')
    await revokeKey(operatorOf(service().database), key.publicKey)
    await delay(LONG_AFTER_MS)
    const rest = async () => {
      for await (const _ of socket);
    }
    await assert.rejects(rest, { code: 'ECONNRESET' })
  })

  for (const [status, what, end] of [
    [401, 'was revoked', (key: Key) => revokeKey(operatorOf(service().database), key.publicKey)],
    [403, "lost a permission with its owner's role", (_key: Key, owner: number) => demote(owner)],
  ] as const) {
    test(`${status} - a key that ${what} while its write waited for another`, async t => {
      const { database } = service()
      // The embedded engine has one writer: the change of the key would wait as well.
      if (database.engine.name === 'SQLite') return t.skip()
      const owner = { login: `owner${status}`, email: `owner${status}@example.com`, role: 'manager' }
      const { id: ownerId } = (await (await service().admin()).post('/users', owner)).body
      const key = await service().newKey(['payouts.create'], { user_id: ownerId })
      const { id } = await service().newAffiliate(`waited.for.${status}`)
      const released = Promise.withResolvers<void>()
      const holding = database.transaction(async tx => {
        await lockSettingsAlone(tx, database.engine)
        await released.promise
      })
      await delay(50)
      const paying = service().post('/payouts', { affiliate_id: id, amount: 7 }, { key })
      await delay(50)
      await end(key, ownerId)
      await delay(LONG_AFTER_MS)
      released.resolve()
      await holding
      assertFailure(await paying, status, 'rest_forbidden')
      assert.deepEqual((await service().get(`/payouts?affiliate_id=${id}`)).body, [])
    })
  }
})
