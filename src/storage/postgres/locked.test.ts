/** Somebody keeps a table locked: only what needs it waits, and not for long. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { engines, serviceOn } from '../../../test/harness.ts'

async function locking(t: TestContext, poolSize: number) {
  const service = await serviceOn(await engines.PostgreSQL!(), {}, { poolSize, statementMs: 20_000 })
  const holder = new pg.Client(service.databaseUrl)
  await holder.connect()
  t.after(async () => {
    await holder.end()
    await service.close()
  })
  await service.newAffiliate('first')
  assert.equal((await service.post('/groups', { name: 'first' })).status, 201)
  const lock = async () => {
    await holder.query('BEGIN')
    await holder.query('LOCK TABLE affiliates IN ACCESS EXCLUSIVE MODE')
  }
  return { service, lock, unlock: () => holder.query('ROLLBACK') }
}

test('others are answered, however many want the table', { timeout: 60_000 }, async t => {
  const { service, lock, unlock } = await locking(t, 5)
  await lock()
  let isLocked = true
  const answers: number[] = []
  const clients = Array.from({ length: 30 }, async (_, client) => {
    while (isLocked) {
      const path = '/affiliates/1'
      const asked = client < 20 ? service.get(path) : service.patch(path, { rate: client })
      const { status, headers } = await asked
      answers.push(status)
      if (isLocked) assert.deepEqual([status, headers.get('retry-after')], [503, '1'])
    }
  })
  await delay(2500)
  const times: number[] = []
  for (let number = 0; number < 20; number += 1) {
    const askedAt = performance.now()
    assert.equal((await service.get('/groups/1')).status, 200)
    times.push(performance.now() - askedAt)
    await delay(50)
  }
  isLocked = false
  await unlock()
  await Promise.all(clients)
  times.sort((a, b) => a - b)
  assert.ok(times[10]! < 250 && times.at(-1)! < 2000, `they took ${times.map(Math.round)} ms`)
  assert.equal((await service.get('/affiliates/1')).status, 200)
})

test('writes wait longer than reads, and are then done once', async t => {
  const { service, lock, unlock } = await locking(t, 5)
  const before = (await service.get('/events')).body.length
  await lock()
  const writing = Array.from({ length: 8 }, (_, rate) => service.patch('/affiliates/1', { rate: rate + 1 }))
  assert.equal((await service.get('/affiliates/1')).status, 503)
  await delay(2500)
  await unlock()
  const statuses = (await Promise.all(writing)).map(({ status }) => status)
  assert.deepEqual(statuses, Array(8).fill(200))
  assert.equal((await service.get('/events')).body.length, before + 8)
})
