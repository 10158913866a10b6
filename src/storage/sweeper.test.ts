/** What has expired is removed, unless it has only by a clock that somebody has set. */
import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { engines, openDatabase } from '../../test/harness.ts'
import { Sweeper } from './sweeper.ts'

const ROUND_MS = 60_000
const DAY_MS = 86_400_000
/** A round without work takes less. */
const SHORTLY_MS = 200

async function sweeping(t: TestContext) {
  const fresh = await engines.SQLite!()
  const database = await openDatabase(fresh.url)
  let rounds = 0
  const failures: unknown[] = []
  const clock = { aheadMs: 0, suspendedMs: 0 }
  const realNow = Date.now
  const realUptime = os.uptime
  t.mock.method(Date, 'now', () => realNow() + clock.aheadMs + clock.suspendedMs)
  const mocked = t.mock.method(os, 'uptime', () => realUptime() + clock.suspendedMs / 1000)
  syncBuiltinESMExports()
  t.mock.timers.enable({ apis: ['setInterval'] })
  const sweep = async () => {
    rounds += 1
    return false
  }
  const sweeper = new Sweeper(database, [sweep], error => failures.push(error))
  t.after(async () => {
    mocked.mock.restore()
    syncBuiltinESMExports()
    await sweeper.close()
    await database.close()
    await fresh.remove()
  })
  return { clock, failures, rounds: () => rounds }
}

test('a clock that is set ahead is not trusted, until it is set back', async t => {
  const { clock, failures, rounds } = await sweeping(t)
  const round = async () => {
    t.mock.timers.tick(ROUND_MS)
    await delay(SHORTLY_MS)
    return [rounds(), failures.length]
  }
  assert.deepEqual(await round(), [1, 0])
  clock.aheadMs = 100 * DAY_MS
  assert.deepEqual(await round(), [1, 1])
  assert.match(String(failures), /^Error: The clock was set ahead/)
  assert.deepEqual(await round(), [1, 1])
  clock.aheadMs = 0
  assert.deepEqual(await round(), [2, 1])
})

test('a machine that was suspended has a clock that is right', async t => {
  const { clock, failures, rounds } = await sweeping(t)
  clock.suspendedMs = DAY_MS
  t.mock.timers.tick(ROUND_MS)
  await delay(SHORTLY_MS)
  assert.deepEqual([rounds(), failures], [1, []])
})
