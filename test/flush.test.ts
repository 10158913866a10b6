/** The disk fails at the very moment at which it confirms a write. The system itself fails here, see `failing-flush.ts`. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { affiliated, BROWSER, serveProcess, temporaryFolder } from './harness.ts'
import { until } from './load.ts'

const environment = { NODE_OPTIONS: `--import=${new URL('failing-flush.ts', import.meta.url)}` }
const skip = process.platform !== 'linux' && 'only Linux has filters for calls of the system'
/** Longer than it takes until what was written is sealed, which would be what fails first. */
const QUIET_MS = 1500

test('503 - a write whose flush fails is in doubt: nothing is read any more, the process ends, and the next start decides', {
  skip,
}, async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const database = ['--database', `sqlite:${join(folder.path, 'flush.db')}`]
  const service = await serveProcess(database, { environment })
  t.after(() => service.stop('SIGKILL'))
  const { url, token } = service.announced
  const send = (base: string, path: string, body?: object, headers = {}) =>
    fetch(`${base}/v1${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
  const made = await send(url, '/affiliates', { create_user: true, payment_email: 'ada@example.com' })
  assert.equal(made.status, 201)
  await delay(QUIET_MS)
  const exited = once(service.child, 'exit')
  service.child.kill('SIGUSR2')
  await until(() => service.stderr().includes('Flushes fail.'))

  const payout = { affiliate_id: 1, amount: 27.87 }
  const key = { 'idempotency-key': 'the payout of November' }
  const refused = await send(url, '/payouts', payout, key)
  const { message } = (await refused.json()) as { message: string }
  assert.equal(refused.status, 503, message)
  assert.match(
    message,
    /failed while it confirmed the change, or after it\. Look whether the change was made/,
  )
  assert.doesNotMatch(message, /Nothing was changed/)
  // Whoever looks now must not be told that it is not there. The process may be gone by now.
  const looked = await send(url, '/payouts').catch(() => undefined)
  assert.ok(looked === undefined || looked.status === 503, String(looked?.status))
  assert.deepEqual((await exited)[0], 1)
  assert.match(service.stderr(), /disk I\/O error.*may have been made or not/)

  const again = await serveProcess(database)
  t.after(() => again.stop('SIGKILL'))
  const repeated = await send(again.announced.url, '/payouts', payout, key)
  assert.equal(repeated.status, 201)
  const list = (await (await send(again.announced.url, '/payouts')).json()) as unknown[]
  assert.equal(list.length, 1, 'the payout is there once')
  assert.equal(repeated.headers.get('idempotent-replayed'), 'true', 'what was written is what was found')
  assert.equal(await again.stop(), 0)
  assert.equal((await affiliated(['check', ...database])).code, 0)
})

test('302 - a visit whose flush fails was answered; the process ends, since what is written later stands behind it', {
  skip,
}, async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const database = ['--database', `sqlite:${join(folder.path, 'flush.db')}`]
  const page = ['settings', 'set', 'programme_page', 'https://shop.example/', ...database]
  assert.equal((await affiliated(['migrate', ...database])).code, 0)
  assert.equal((await affiliated(page)).code, 0)
  const service = await serveProcess(database, { environment })
  t.after(() => service.stop('SIGKILL'))
  const { url, token } = service.announced
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ create_user: true, payment_email: 'ada@example.com', status: 'active' })
  assert.equal((await fetch(`${url}/v1/affiliates`, { method: 'POST', headers, body })).status, 201)
  await delay(QUIET_MS)
  const exited = once(service.child, 'exit')
  service.child.kill('SIGUSR2')
  await until(() => service.stderr().includes('Flushes fail.'))
  const visited = await fetch(`${url}/r/1`, { headers: { 'user-agent': BROWSER }, redirect: 'manual' })
  assert.equal(visited.status, 302)
  assert.deepEqual((await exited)[0], 1)
  assert.match(service.stderr(), /disk I\/O error.*may have been made or not/)
  assert.equal((await affiliated(['check', ...database])).code, 0)
})

test('1 - a command whose flush fails says that its change is in doubt', { skip }, async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const database = ['--database', `sqlite:${join(folder.path, 'flush.db')}`]
  assert.equal((await affiliated(['migrate', ...database])).code, 0)
  const set = ['settings', 'set', 'currency', 'EUR', ...database]
  const { code, stdout, stderr } = await affiliated(set, '', {
    environment: { ...environment, FLUSHES_FAIL: '1' },
  })
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /^error: SQLite: disk I\/O error \(EIO\), while a change was put on the disk/m)
})
