/** What the embedded engine does when something goes wrong beside or below it. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sql } from 'kysely'
import { engines, openDatabase } from '../../../test/harness.ts'
import { type Database, DatabaseUnavailable, type Tx } from '../database.ts'

const raise = (tx: Tx) =>
  sql`UPDATE settings SET value = value || '0' WHERE name = 'default_rate'`.execute(tx)

async function rateOf({ reader }: Database): Promise<string | undefined> {
  const row = await reader.selectFrom('settings').select('value').where('name', '=', 'default_rate').execute()
  return row[0]?.value
}

test('writes that wait while another process writes all give up after the same five seconds', async t => {
  const fresh = await engines.SQLite!()
  t.after(fresh.remove)
  const database = await openDatabase(fresh.url)
  const other = new DatabaseSync(fresh.url.slice('sqlite:'.length))
  other.exec('BEGIN IMMEDIATE')
  const beganAt = performance.now()
  const writing = [1, 2, 3, 4].map(() => database.transaction(raise))
  // Somebody sets the clock back meanwhile.
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 3_600_000 })
  const writes = await Promise.allSettled(writing)
  assert.ok(performance.now() - beganAt < 8000, `${performance.now() - beganAt} ms`)
  assert.ok(
    writes.every(({ status, reason }: any) => status === 'rejected' && reason instanceof DatabaseUnavailable),
  )
  other.exec('ROLLBACK')
  other.close()
  await database.transaction(raise)
  assert.equal(await rateOf(database), '200')
  await database.close()
})

test('when a write can not be undone, it and those of its commit are given up, and the next ones go on', async t => {
  const fresh = await engines.SQLite!()
  t.after(fresh.remove)
  const database = await openDatabase(fresh.url)
  const before = database.transaction(raise)
  // Without its savepoint ROLLBACK TO fails, as it does when the disk does.
  const broken = database.transaction(async tx => {
    await raise(tx)
    await sql`RELEASE work`.execute(tx)
    throw new Error('its own failure')
  })
  const after = database.transaction(raise)
  const [first, second, third] = await Promise.allSettled([before, broken, after])
  assert.deepEqual([first?.status, second?.status, third?.status], ['rejected', 'rejected', 'fulfilled'])
  assert.match((second as PromiseRejectedResult).reason.message, /its own failure/)
  assert.equal(await rateOf(database), '200')
  await database.close()
})

test('a database that is closed carries out what was asked before, and refuses what is asked after', async t => {
  const fresh = await engines.SQLite!()
  t.after(fresh.remove)
  const database = await openDatabase(fresh.url)
  const before = [1, 2].map(() => database.transaction(raise))
  const closed = database.close()
  await assert.rejects(database.transaction(raise), DatabaseUnavailable)
  await Promise.all(before)
  await closed
  await assert.rejects(database.transaction(raise), DatabaseUnavailable)
  await database.close()
  const again = await openDatabase(fresh.url)
  assert.equal(await rateOf(again), '2000')
  await again.close()
})
