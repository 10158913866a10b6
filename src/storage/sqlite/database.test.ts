/** What the embedded engine does when something goes wrong beside or below it. */
import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sql } from 'kysely'
import { engines, openDatabase, temporaryFolder } from '../../../test/harness.ts'
import { type Database, DatabaseUnavailable, type Tx } from '../database.ts'
import { backupDatabase } from './backup.ts'
import { openToRead } from './connect.ts'
import { inDoubt, isInDoubt, translate } from './errors.ts'

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

test('one that fails takes nothing from those that share its commit, and leaves nothing of itself', async t => {
  const fresh = await engines.SQLite!()
  t.after(fresh.remove)
  const database = await openDatabase(fresh.url)
  const failing = async (tx: Tx) => {
    await raise(tx)
    throw new Error('its own failure')
  }
  const name = (text: string) => async (tx: Tx) => {
    const { numAffectedRows } =
      await sql`INSERT INTO rate_types (name, position) VALUES (${text}, 9)`.execute(tx)
    return [text, numAffectedRows]
  }
  // The second batch is careful from its beginning.
  for (const round of ['a', 'b']) {
    const all = await Promise.allSettled([
      database.transaction(raise),
      database.transaction(name(`${round}1`)),
      database.transaction(failing),
      database.transaction(name(`${round}1`)),
      database.transaction(name(`${round}2`)),
      database.transaction(failing),
      database.transaction(raise),
    ])
    assert.deepEqual(
      all.map(({ status }) => status === 'fulfilled'),
      [true, true, false, false, true, false, true],
      round,
    )
    assert.deepEqual((all[4] as PromiseFulfilledResult<unknown[]>).value[0], `${round}2`)
  }
  assert.equal(await rateOf(database), '200000')
  const { rows } = await sql<{ name: string }>`SELECT name FROM rate_types WHERE length(name) = 2`.execute(
    database.reader,
  )
  assert.deepEqual(rows.map(row => row.name).sort(), ['a1', 'a2', 'b1', 'b2'])
  await database.close()
})

test('when a write cannot be undone, it and those of its commit are given up, and the next ones go on', async t => {
  const fresh = await engines.SQLite!()
  t.after(fresh.remove)
  const database = await openDatabase(fresh.url)
  const before = database.transaction(raise)
  // The transaction is over, as SQLite ends it when the disk fails.
  const broken = database.transaction(async tx => {
    await raise(tx)
    await sql`ROLLBACK`.execute(tx)
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

test('many writes that arrive together leave room for what arrives behind them', async t => {
  const fresh = await engines.SQLite!()
  t.after(fresh.remove)
  const database = await openDatabase(fresh.url)
  let done = 0
  const write = () =>
    database.transaction(async () => {
      const beganAt = performance.now()
      while (performance.now() - beganAt < 1);
      done += 1
    })
  const all = Promise.all(Array.from({ length: 100 }, write))
  // In the same turn as what arrives next.
  await new Promise(resolve => setImmediate(resolve))
  assert.ok(done > 0 && done < 100, `${done} were done first`)
  await all
  assert.equal(done, 100)
  await database.close()
})

test('a disk without room for the index of the log is full, and not broken', () => {
  const error = Object.assign(new Error('disk I/O error'), { errcode: 4874, errstr: 'disk I/O error' })
  const { reason, message } = translate(error) as DatabaseUnavailable
  assert.deepEqual([reason, message], ['full', 'SQLite: database or disk is full'])
  // Its commit record may be in the log.
  assert.ok(isInDoubt(error))
  assert.match(inDoubt(error).message, /^SQLite: database or disk is full, while/)
})

test('identifiers that are reserved at the same moment are different ones', async t => {
  const fresh = await engines.SQLite!()
  t.after(fresh.remove)
  const database = await openDatabase(fresh.url)
  t.after(() => database.close())
  const { engine } = database
  const reserved = await database.transaction(tx =>
    Promise.all([
      engine.reserveIdentity(tx, 'events'),
      engine.reserveIdentities(tx, 'events', 3),
      engine.reserveIdentity(tx, 'events'),
    ]),
  )
  const [first] = reserved.flat()
  assert.deepEqual(
    reserved.flat(),
    [0, 1, 2, 3, 4].map(more => first! + more),
  )
})

/** The account `nobody`, where this is run by root, who may write everywhere. */
const NOBODY = 65_534

test('a database is read and backed up from a folder in which the account may create no log', async t => {
  const [folder, other] = await Promise.all([temporaryFolder(), temporaryFolder()])
  t.after(async () => {
    chmodSync(folder.path, 0o700)
    await Promise.all([folder.remove(), other.remove()])
  })
  chmodSync(other.path, 0o777)
  const file = join(folder.path, 'a.db')
  await (await openDatabase(`sqlite:${file}`)).close()
  chmodSync(file, 0o444)
  chmodSync(folder.path, 0o555)
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid!(NOBODY)
  try {
    const database = openToRead(file)
    assert.equal(database.prepare('SELECT count(*) AS count FROM affiliates').get()!.count, 0)
    database.close()
    const options = { force: false, complete: async () => {} }
    assert.ok(await backupDatabase(`sqlite:${file}`, join(other.path, 'b.db'), options))
  } finally {
    if (isRoot) process.seteuid!(0)
  }
})
