/** The database is there and cannot be written, or its files are not there any more: what callers and load balancers hear. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import {
  affiliated,
  assertFailure,
  BROWSER,
  engines,
  openDatabase,
  type Reply,
  serveProcess,
  temporaryFolder,
} from './harness.ts'
import { until } from './load.ts'

/** A load balancer asks every few seconds. */
const NOTICED_WITHIN_MS = 10_000
/** Ten seconds, and what a busy machine adds. */
const ENDED_WITHIN_MS = 13_000

let number = 0

/** @param knownToken where the database had its first start before */
async function started(url: string, knownToken?: string) {
  const service = await serveProcess(['--database', url])
  const { url: base, token = knownToken } = service.announced
  const send = async (method: string, path: string): Promise<Reply> => {
    const response = await fetch(base + path, { method, headers: { authorization: `Bearer ${token}` } })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  return {
    service,
    get: (path: string) => send('GET', path),
    create: () =>
      send('POST', `/v1/affiliates?create_user=1&status=active&payment_email=a${++number}@example.com`),
  }
}

test('503 - the files of the database are moved away or removed while the service runs', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const data = join(folder.path, 'data')
  await mkdir(data)
  const url = `sqlite:${join(data, 'moved.db')}`
  const { service, get, create } = await started(url)
  t.after(() => service.stop('SIGKILL'))
  assert.equal((await create()).status, 201)
  const page = ['settings', 'set', 'programme_page', 'https://shop.example/', '--database', url]
  assert.equal((await affiliated(page)).code, 0)
  const followed = async (code: number) => {
    const headers = { 'user-agent': BROWSER }
    const visit = await fetch(`${service.announced.url}/r/${code}`, { redirect: 'manual', headers })
    return [visit.status, visit.headers.get('location')?.replace(/=.*/, '=')]
  }
  await until(async () => String((await followed(1))[1]).endsWith('?aff_click='))
  const backup = join(folder.path, 'backup.db')
  assert.equal((await affiliated(['backup', backup, '--database', url])).code, 0)

  const assertRefused = async () => {
    // At once, where something would be lost.
    assertFailure(await create(), 503, 'rest_unavailable')
    await until(async () => (await get('/v1/affiliates')).status === 503, NOTICED_WITHIN_MS)
    const ready = await get('/readyz')
    assertFailure(ready, 503, 'rest_unavailable')
    assert.match(ready.body.message, /^The file of the database was removed or replaced/)
    assert.equal((await get('/healthz')).status, 200)
    assert.deepEqual(await followed(1), [302, 'https://shop.example/?aff_click='])
    assert.deepEqual(await followed(2), [302, 'https://shop.example/'])
  }
  const elsewhere = join(folder.path, 'elsewhere')
  await rename(data, elsewhere)
  await assertRefused()
  await rename(elsewhere, data)
  await until(async () => (await get('/readyz')).status === 200, NOTICED_WITHIN_MS)
  assert.equal((await create()).status, 201)

  await rename(join(data, 'moved.db-wal'), join(folder.path, 'wal'))
  await assertRefused()
  await rename(join(folder.path, 'wal'), join(data, 'moved.db-wal'))
  await until(async () => (await get('/readyz')).status === 200, NOTICED_WITHIN_MS)

  for (const name of await readdir(data)) await rm(join(data, name))
  await assertRefused()
  assert.deepEqual(await readdir(data), [], 'nothing is made in its place')
  // Another is put into the place: the end of the service leaves it alone, and its write-ahead log.
  assert.equal((await affiliated(['restore', backup, '--database', url])).code, 0)
  const restored = await openDatabase(url)
  t.after(() => restored.close())
  await restored.transaction(tx => tx.updateTable('affiliates').set({ updated_at: 7 }).execute())
  await delay(1000)
  await assertRefused()
  assert.equal(await service.stop(), 0)
  assert.ok((await readdir(data)).includes('moved.db-wal'))
  assert.equal((await affiliated(['check', '--database', url])).code, 0)
  assert.match(service.stderr(), /the file of the database.*was removed or replaced: put it back/)
})

test('503 - the index of the write-ahead log is removed: nothing is written beside what another process writes', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const file = join(folder.path, 'indexed.db')
  const url = `sqlite:${file}`
  const { service, get, create } = await started(url)
  t.after(() => service.stop('SIGKILL'))
  assert.equal((await create()).status, 201)
  const refused = async () => {
    assertFailure(await create(), 503, 'rest_unavailable')
    await until(async () => (await get('/v1/affiliates')).status === 503, NOTICED_WITHIN_MS)
  }
  await rename(`${file}-shm`, join(folder.path, 'shm'))
  const first = await create()
  await refused()
  await rename(join(folder.path, 'shm'), `${file}-shm`)
  await until(async () => (await get('/readyz')).status === 200, NOTICED_WITHIN_MS)
  // Where it was committed before anybody had looked, nobody was told that nothing was changed.
  const isThere = (await get('/v1/affiliates')).body.length === 2
  assert.match(first.body.message, isThere ? /Look whether the change was made/ : /Nothing was changed/)

  await rename(`${file}-shm`, join(folder.path, 'shm'))
  const renamed = ['settings', 'set', 'payer_name', 'Somebody', '--database', url]
  assert.equal((await affiliated(renamed)).code, 0)
  await refused()
  const ready = await get('/readyz')
  assertFailure(ready, 503, 'rest_unavailable')
  assert.match(ready.body.message, /has to start the service again/)
  // What stands in it does not hold any more.
  await rename(join(folder.path, 'shm'), `${file}-shm`)
  await delay(1000)
  await refused()
  assert.equal(await service.stop(), 0)
  assert.match(service.stderr(), /\(-shm\), was removed, and another process has made another/)
  assert.equal((await affiliated(['check', '--database', url])).code, 0)
  const again = await started(url, service.announced.token)
  t.after(() => again.service.stop('SIGKILL'))
  assert.ok((await again.get('/v1/affiliates')).body.length >= 2)
  assert.equal((await again.create()).status, 201)
  const { stdout } = await affiliated(['settings', 'get', '--database', url])
  assert.match(stdout, /Somebody/)
})

test('0 - SIGTERM ends it in time while another process keeps the file', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const file = join(folder.path, 'kept.db')
  const url = `sqlite:${file}`
  const { service, get, create } = await started(url)
  t.after(() => service.stop('SIGKILL'))
  assert.equal((await create()).status, 201)
  const page = ['settings', 'set', 'programme_page', 'https://shop.example/', '--database', url]
  assert.equal((await affiliated(page)).code, 0)
  const follow = async () => {
    const headers = { 'user-agent': BROWSER }
    return fetch(`${service.announced.url}/r/1`, { redirect: 'manual', headers })
  }
  await until(async () => (await follow()).status === 302)
  const keeper = new DatabaseSync(file, { timeout: 5000 })
  keeper.exec('BEGIN IMMEDIATE')
  t.after(() => keeper.close())
  let isOver = false
  const writers = Array.from({ length: 8 }, async () => {
    while (!isOver) await create().catch(() => {})
  })
  assert.equal((await follow()).status, 302)
  assert.equal((await get('/v1/affiliates')).status, 200)
  await delay(500)
  const signalledAt = performance.now()
  const ended = service.stop('SIGTERM')
  await delay(500)
  isOver = true
  assert.equal(await ended, 0)
  const tookMs = performance.now() - signalledAt
  await Promise.all(writers)
  assert.ok(tookMs < ENDED_WITHIN_MS, `it took ${tookMs} ms`)
})

test('503 - PostgreSQL takes no writes: not ready, while reads are answered', async t => {
  const fresh = await engines.PostgreSQL!()
  t.after(fresh.remove)
  const { service, get, create } = await started(fresh.url)
  t.after(() => service.stop('SIGKILL'))
  assert.equal((await create()).status, 201)
  assert.equal((await get('/readyz')).status, 200)
  const client = new pg.Client(fresh.url)
  await client.connect()
  const name = client.escapeIdentifier(new URL(fresh.url).pathname.slice(1))
  const readOnly = (value: 'on' | 'off') =>
    client.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`)
  await readOnly('on')
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )
  await until(
    async () => (await get('/readyz')).body.message?.startsWith('The database can only be read'),
    NOTICED_WITHIN_MS,
  )
  assert.equal((await get('/readyz')).status, 503)
  assert.equal((await get('/v1/affiliates')).status, 200)
  const refused = await create()
  assertFailure(refused, 503, 'rest_unavailable')
  assert.match(refused.body.message, /can only be read.*Nothing was changed/)
  // All connections there can be: each has begun as one that can only read.
  await Promise.all(Array.from({ length: 30 }, () => get('/v1/affiliates?search=nobody')))
  // Nobody ends them: sessions keep what they may do from their beginning.
  await readOnly('off')
  await client.end()
  await until(async () => (await get('/readyz')).status === 200, NOTICED_WITHIN_MS)
  assert.equal((await create()).status, 201)
})

test('200 - a connection that was in use when the others were replaced writes as well, once PostgreSQL takes writes again', async t => {
  const fresh = await engines.PostgreSQL!()
  t.after(fresh.remove)
  const database = await openDatabase(fresh.url, { poolSize: 2 })
  t.after(() => database.close())
  const admin = new pg.Client(fresh.url)
  await admin.connect()
  const name = admin.escapeIdentifier(new URL(fresh.url).pathname.slice(1))
  const readOnly = (value: 'on' | 'off') =>
    admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`)
  const write = () => database.transaction(tx => sql`UPDATE schema_version SET version = version`.execute(tx))
  await readOnly('on')
  await admin.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )
  const wait = (seconds: number) => sql`SELECT pg_sleep(${seconds})`.execute(database.reader)
  await until(() =>
    wait(0).then(
      () => true,
      () => false,
    ),
  )
  // Both connections begin as ones that can only read, and one of them is in use for a while.
  const inUse = wait(0.4)
  await wait(0)
  await readOnly('off')
  await admin.end()
  await write()
  await inUse
  await Promise.all([write(), write()])
})

for (const engine of Object.keys(engines)) {
  test(`1 - another node has migrated the database to a newer version (${engine})`, async t => {
    const fresh = await engines[engine]!()
    t.after(fresh.remove)
    const { service, create } = await started(fresh.url)
    t.after(() => service.stop('SIGKILL'))
    assert.equal((await create()).status, 201)
    const database = await openDatabase(fresh.url)
    const exited = once(service.child, 'exit')
    await database.transaction(tx => sql`UPDATE schema_version SET version = version + 1`.execute(tx))
    await database.close()
    assert.deepEqual(await exited, [1, null])
    assert.match(service.stderr(), /another node has migrated.*made by a newer version/s)
  })
}
