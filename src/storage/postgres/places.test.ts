import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import { FreezableWire } from '../../../test/freezable.ts'
import { engines, openDatabase, serviceOn } from '../../../test/harness.ts'
import { execute } from '../../../test/postgres.ts'
import { DatabaseUnavailable } from '../database.ts'
import { Places } from './places.ts'
import { PostgresPool } from './pool.ts'

/** Work that ends when it is told to. */
function held(places: Places, begun: string[], name: string) {
  const end = Promise.withResolvers<void>()
  const done = places.within(async () => {
    begun.push(name)
    await end.promise
  })
  return { ...end, done }
}

test('who comes first has a place first, also when work fails', async () => {
  const places = new Places(2, 60_000)
  const begun: string[] = []
  const a = held(places, begun, 'a')
  const b = held(places, begun, 'b')
  const c = held(places, begun, 'c')
  const d = held(places, begun, 'd')
  await turn()
  assert.deepEqual([begun, places.waiting], [['a', 'b'], 2])
  b.reject(new Error('failed'))
  await assert.rejects(b.done, /failed/)
  await turn()
  assert.deepEqual([begun, places.waiting], [['a', 'b', 'c'], 1])
  for (const { resolve } of [a, c, d]) resolve()
  await Promise.all([a.done, c.done, d.done])
  const e = held(places, begun, 'e')
  e.resolve()
  await e.done
  assert.deepEqual([begun, places.waiting], [['a', 'b', 'c', 'd', 'e'], 0])
})

test('who has waited for a place waits for a connection only for what is left', async t => {
  const fresh = await engines.PostgreSQL!()
  const pool = new PostgresPool({ connectionString: fresh.url }, { size: 1 })
  t.after(async () => {
    await pool.close()
    await fresh.remove()
  })
  const { client } = await pool.connect()
  const places = new Places(1, 200)
  const end = Promise.withResolvers<void>()
  const first = places.within(async leftMs => {
    assert.equal(leftMs, undefined)
    await end.promise
  })
  const second = places.within(async leftMs => {
    assert.ok(leftMs! < 200, `${leftMs}`)
    return pool.connect(leftMs)
  })
  await delay(20)
  end.resolve()
  await first
  await assert.rejects(second, DatabaseUnavailable)
  client.release()
  const again = await pool.connect()
  again.client.release()
})

test('who has waited for long waits no more, and takes no place', async () => {
  const places = new Places(1, 20)
  const begun: string[] = []
  const first = held(places, begun, 'first')
  const late = held(places, begun, 'late')
  await assert.rejects(late.done, DatabaseUnavailable)
  first.resolve()
  await first.done
  await places.within(async () => {})
  assert.deepEqual([begun, places.waiting], [['first'], 0])
})

test('who waits is sent away when the service ends, and so is who comes later', async () => {
  const places = new Places(1, 60_000)
  const begun: string[] = []
  const first = held(places, begun, 'first')
  const waiting = held(places, begun, 'waiting')
  places.close()
  await assert.rejects(waiting.done, DatabaseUnavailable)
  await assert.rejects(held(places, begun, 'late').done, DatabaseUnavailable)
  first.resolve()
  await first.done
  assert.deepEqual([begun, places.waiting], [['first'], 0])
})

test('a connection that is silent for longer than a statement may take is given up', async t => {
  const fresh = await engines.PostgreSQL!()
  const pool = new PostgresPool({ connectionString: fresh.url }, { size: 1, statementMs: 500 })
  const processId = async () =>
    (await pool.read<{ pid: number }>('SELECT pg_backend_pid() AS pid', [], false))[0]!.pid
  const pid = await processId()
  process.kill(pid, 'SIGSTOP')
  t.after(async () => {
    process.kill(pid, 'SIGCONT')
    await pool.close()
    await fresh.remove()
  })
  await assert.rejects(processId(), DatabaseUnavailable)
  assert.notEqual(await processId(), pid)
})

test('a transaction whose process sends nothing more ends before those who wait for its locks give up', {
  timeout: 30_000,
}, async t => {
  const fresh = await engines.PostgreSQL!()
  const statementMs = 60_000
  const pool = new PostgresPool({ connectionString: fresh.url }, { size: 1, statementMs })
  const waiting = await openDatabase(fresh.url, { poolSize: 1, statementMs })
  t.after(async () => {
    await Promise.all([pool.close(), waiting.close()])
    await fresh.remove()
  })
  const frozen = await pool.connect()
  const lock = 'LOCK TABLE settings IN EXCLUSIVE MODE'
  await frozen.client.query(`BEGIN; ${lock}`)
  await waiting.transaction(tx => sql.raw(lock).execute(tx))
  await assert.rejects(frozen.client.query('SELECT 1'))
  frozen.client.release(true)
})

test('idle connections that are handed out do not pass for answers', async t => {
  const fresh = await engines.PostgreSQL!()
  const url = new URL(fresh.url)
  const wire = await FreezableWire.to(Number(url.port))
  url.port = String(wire.port)
  const pool = new PostgresPool({ connectionString: url.href }, { size: 10 })
  t.after(async () => {
    wire.close()
    await pool.close()
    await fresh.remove()
  })
  const read = () => pool.read('SELECT 1', [], false)
  await Promise.all(Array.from({ length: 10 }, read))
  wire.freeze()
  const refusals = [assert.rejects(read(), DatabaseUnavailable)]
  // More often than the server is doubted.
  const others = setInterval(() => refusals.push(assert.rejects(read(), DatabaseUnavailable)), 250)
  await refusals[0]
  clearInterval(others)
  assert.ok(refusals.length < 10, 'the server was doubted before all connections were taken')
  await Promise.all(refusals)
})

test('where the server grants fewer connections than a pool may have, callers share those', async t => {
  const fresh = await engines.PostgreSQL!()
  const url = new URL(fresh.url)
  const role = `few_${url.pathname.slice(-8)}`
  await execute(fresh.url, `CREATE ROLE ${role} LOGIN PASSWORD 'few' CONNECTION LIMIT 3`)
  Object.assign(url, { username: role, password: 'few' })
  const pool = new PostgresPool({ connectionString: url.href }, { size: 10 })
  t.after(async () => {
    await pool.close()
    await execute(fresh.url, `DROP ROLE ${role}`)
    await fresh.remove()
  })
  const read = () => pool.read('SELECT pg_sleep(0.02)', [], false)
  await read()
  await Promise.all(Array.from({ length: 60 }, read))
  assert.equal(pool.pool.totalCount, 3)
})

test('a pool is closed although a connection is silent', { timeout: 30_000 }, async t => {
  const fresh = await engines.PostgreSQL!()
  const pool = new PostgresPool({ connectionString: fresh.url }, { size: 1 })
  const [row] = await pool.read<{ pid: number }>('SELECT pg_backend_pid() AS pid', [], false)
  process.kill(row!.pid, 'SIGSTOP')
  t.after(async () => {
    process.kill(row!.pid, 'SIGCONT')
    await fresh.remove()
  })
  const reading = assert.rejects(pool.read('SELECT 1', [], false), DatabaseUnavailable)
  await delay(50)
  await pool.close()
  await reading
})

test('reads are answered while as many write as may', { timeout: 60_000 }, async t => {
  const service = await serviceOn(await engines.PostgreSQL!(), {}, { poolSize: 5 })
  t.after(() => service.close())
  await service.newAffiliate('first')
  const end = Promise.withResolvers<void>()
  const writing = Array.from({ length: 8 }, () => service.database.transaction(() => end.promise))
  await turn()
  assert.equal((await service.get('/affiliates/1')).status, 200)
  end.resolve()
  await Promise.all(writing)
})
