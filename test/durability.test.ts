/**
 * What was answered is kept: when the process is killed at any moment, and when the disk is full. LONG=1
 * makes the rounds many.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { features } from '../src/app.ts'
import { sealEntries } from '../src/events/seal.ts'
import { checkDatabase } from '../src/operations/check/rules.ts'
import type { Database } from '../src/storage/database.ts'
import { engines, openDatabase, serveProcess, temporaryFolder } from './harness.ts'
import { type Answered, load, until } from './load.ts'

const ROUNDS = process.env.LONG ? 100 : 3
const WRITERS = 16

/** Accounts with their affiliates, and payouts to the first of them: each write is several rows. */
const writes = (base: string, round: number) => (number: number) =>
  number % 2 === 0
    ? {
        method: 'POST',
        url: `${base}/v1/affiliates`,
        body: { create_user: true, payment_email: `r${round}n${number}@example.com`, notes: 'x'.repeat(200) },
      }
    : {
        method: 'POST',
        url: `${base}/v1/payouts`,
        body: { affiliate_id: 1, amount: number / 100, referrals: [number, number + 1, number + 2] },
      }

async function count(database: Database, from: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM ${sql.raw(from)}`.execute(
    database.reader,
  )
  return rows[0]!.count
}

/** Every write that was answered is there, with all of its parts, and whatever else is there is whole. */
async function assertKept(url: string, answers: readonly Answered[]): Promise<void> {
  const database = await openDatabase(url)
  try {
    for (const table of ['affiliates', 'payouts'] as const) {
      const { rows } = await sql<{ id: number }>`SELECT id FROM ${sql.table(table)}`.execute(database.reader)
      const there = new Set(rows.map(({ id }) => id))
      const acknowledged = answers
        .filter(({ status }) => status === 201)
        .map(({ body }) => JSON.parse(body) as Record<string, number>)
        .filter(record => (record.payout_id === undefined) === (table === 'affiliates'))
      const lost = acknowledged.filter(({ id }) => !there.has(id!))
      assert.deepEqual(
        lost,
        [],
        `${table}: ${lost.length} of ${acknowledged.length} that were answered are lost`,
      )
      const entries = `events WHERE action = '${table.slice(0, -1)}.create'`
      assert.equal(await count(database, entries), there.size, 'each has its entry in the audit log')
    }
    assert.equal(await count(database, 'users'), (await count(database, 'affiliates')) + 1)
    assert.equal(await count(database, 'payout_referrals'), 3 * (await count(database, 'payouts')))
    // As the command does: services may have been killed for long before they came to seal what appeared late.
    await sealEntries(database)
    assert.deepEqual((await checkDatabase(database, features)).problems, [])
  } finally {
    await database.close()
  }
}

describe(`kill -9 under ${WRITERS} writers, ${ROUNDS} rounds`, () => {
  for (const [engine, fresh] of Object.entries(engines)) {
    test(engine, { timeout: ROUNDS * 30_000 }, async t => {
      const { url, remove } = await fresh()
      t.after(remove)
      const answers: Answered[] = []
      let token = ''
      for (let round = 0; round < ROUNDS; round += 1) {
        const service = await serveProcess(['--database', url, '--log-level', 'fatal'])
        t.after(() => service.stop('SIGKILL'))
        token ||= service.announced.token
        const base = service.announced.url
        if (round === 0) {
          const first = load(token, 1, () => writes(base, -1)(0))
          await until(() => first.answers.length > 0)
          await first.stop()
          answers.push(first.answers[0]!)
        }
        const writers = load(token, WRITERS, writes(base, round))
        t.after(writers.stop)
        await until(() => writers.answers.length > 20)
        await delay(randomInt(10, 400))
        await service.stop('SIGKILL')
        await writers.stop()
        assert.ok(writers.lost.length > 0, 'it was killed while requests were under way')
        answers.push(...writers.answers)
        await assertKept(url, answers)
      }
      t.diagnostic(`${answers.filter(({ status }) => status === 201).length} acknowledged writes, none lost`)
    })
  }
})

const canLimit = spawnSync('prlimit', ['--version']).status === 0

test('a full disk: writes are refused, reads go on, nothing is lost, and it goes on when there is room', {
  skip: !canLimit && 'prlimit is not here',
  timeout: 120_000,
}, async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const url = `sqlite:${join(folder.path, 'full.db')}`
  const service = await serveProcess(['--database', url, '--log-level', 'fatal'])
  t.after(() => service.stop('SIGKILL'))
  const { url: base, token } = service.announced
  const limit = (bytes: number | string) =>
    promisify(execFile)('prlimit', ['--pid', String(service.child.pid), `--fsize=${bytes}:unlimited`])
  const first = load(token, 1, () => writes(base, -1)(0))
  await until(() => first.answers.length > 0)
  await first.stop()
  const answers = [first.answers[0]!]
  const list = (what: string) =>
    fetch(`${base}/v1/${what}?number=20`, { headers: { authorization: `Bearer ${token}` } })
  assert.equal((await list('events')).status, 200)

  for (let round = 0; round < 2; round += 1) {
    // No file of the process may grow beyond this.
    await limit(1_500_000 * (round + 1))
    const writers = load(token, WRITERS, writes(base, round))
    t.after(writers.stop)
    const refused = () => writers.answers.filter(({ status }) => status !== 201)
    await until(() => refused().length > 100)
    for (let read = 0; read < 20; read += 1) {
      // Whoever reads the log seals it first, which has to wait.
      const reply = await list(read % 2 ? 'affiliates' : 'events')
      assert.equal(reply.status, 200)
      assert.ok(((await reply.json()) as unknown[]).length > 0)
    }
    await until(async () => (await fetch(`${base}/readyz`)).status === 503)
    // Small writes may find room that others do not: as long as these are refused, the service is not ready.
    for (let poll = 0; poll < 6; poll += 1) {
      await delay(500)
      assert.equal((await fetch(`${base}/readyz`)).status, 503)
    }
    const full = writers.answers.length
    await limit('unlimited')
    const written = () => writers.answers.slice(full).filter(({ status }) => status === 201)
    await until(() => written().length >= 25)
    await writers.stop()
    assert.deepEqual(writers.lost, [])
    for (const { status } of refused()) assert.ok(status === 503 || status === 507, String(status))
    assert.ok(written().length >= 25, 'it writes again')
    await until(async () => (await fetch(`${base}/readyz`)).status === 200)
    answers.push(...writers.answers)
  }
  assert.equal(await service.stop(), 0)
  await assertKept(url, answers)
})

test('a process that may open no more files: what needs a thread is refused, and answered when it may', {
  skip: !canLimit && 'prlimit is not here',
  timeout: 120_000,
}, async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const service = await serveProcess(['--database', `sqlite:${join(folder.path, 'files.db')}`])
  t.after(() => service.stop('SIGKILL'))
  const { url: base, token } = service.announced
  const limit = (files: number) =>
    promisify(execFile)('prlimit', ['--pid', String(service.child.pid), `--nofile=${files}:`])
  // Nobody has asked for a thread yet, and all of them come by this connection.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const headers = { authorization: `Bearer ${token}` }
  const status = async (path: string) => {
    const [reply] = await once(get(base + path, { agent, headers }), 'response')
    reply.resume()
    await once(reply, 'end')
    return reply.statusCode
  }
  assert.equal(await status('/v1/affiliates'), 200)
  const files = await readdir(`/proc/${service.child.pid}/fd`)
  await limit(files.length)
  assert.equal(await status('/v1/affiliates?search=somebody'), 503)
  assert.equal(await status('/v1/affiliates'), 200)
  await limit(files.length + 100)
  assert.equal(await status('/v1/affiliates?search=somebody'), 200)
  assert.equal(await service.stop(), 0)
})

test('a stolen database file lets nobody in', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const url = `sqlite:${join(folder.path, 'stolen.db')}`
  const service = await serveProcess(['--database', url, '--log-level', 'fatal'])
  t.after(() => service.stop('SIGKILL'))
  const { url: base, token, login, password } = service.announced
  const area = `${base}/admin/api/session`
  const logIn = (secret: string) =>
    fetch(area, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-admin-request': '1' },
      body: JSON.stringify({ login, password: secret }),
    })
  const cookies = (await logIn(password)).headers.getSetCookie().map(one => one.split(';')[0]!)
  const cookie = cookies.join('; ')
  assert.equal((await fetch(area, { headers: { cookie } })).status, 200)
  await fetch(`${base}/v1/affiliates?create_user=1&payment_email=a@example.com`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  // Whatever the folder holds, write-ahead log included, is what a thief has.
  const loot = Buffer.concat(
    await Promise.all((await readdir(folder.path)).map(name => readFile(join(folder.path, name)))),
  )
  const inCookies = cookies.map(one => one.split('=')[1]!)
  for (const secret of [token, token.replace('affiliated_sk_', ''), password, ...inCookies]) {
    assert.equal(loot.includes(secret), false)
    assert.equal(loot.includes(Buffer.from(secret, 'base64url')), false)
  }
  const database = await openDatabase(url)
  t.after(() => database.close())
  const { rows } = await sql<{ hash: string }>`
    SELECT token_hash AS hash FROM api_keys UNION ALL SELECT token_hash FROM sessions
    UNION ALL SELECT token_hash FROM devices
    UNION ALL SELECT password_hash FROM users WHERE password_hash <> ''`.execute(database.reader)
  assert.equal(rows.length, 4)
  for (const { hash } of rows) {
    for (const tried of [hash, `affiliated_sk_${hash}`, Buffer.from(hash, 'hex').toString('base64url')]) {
      const byKey = await fetch(`${base}/v1/affiliates`, { headers: { authorization: `Bearer ${tried}` } })
      assert.equal(byKey.status, 401)
      const name = cookies[0]!.split('=')[0]!
      assert.equal(
        (await fetch(area, { headers: { cookie: `${name}=${encodeURIComponent(tried)}` } })).status,
        401,
      )
    }
    assert.equal((await logIn(hash)).status, 401)
  }
})
