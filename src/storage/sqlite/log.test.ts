/** What is seen, and what goes on, while the disk is slow: something else keeps all threads that could flush. */
import assert from 'node:assert/strict'
import { rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { engines, openDatabase, temporaryFolder } from '../../../test/harness.ts'
import { slowDisk } from '../../../test/load.ts'
import type { Database } from '../database.ts'

async function start(t: TestContext) {
  const fresh = await engines.SQLite!()
  t.after(fresh.remove)
  const database = await openDatabase(fresh.url)
  const other = new DatabaseSync(fresh.url.slice('sqlite:'.length), { timeout: 5000 })
  const committed = () =>
    other
      .prepare('SELECT name FROM rate_types WHERE length(name) = 1 ORDER BY name')
      .all()
      .map(row => row.name)
  /** @param work writes 'a', which is committed and not on the disk then */
  const whileSlow = async <T>(work: () => Promise<T>) => {
    const isSlow = slowDisk()
    const first = work()
    while (!committed().includes('a')) await setImmediate()
    return { isSlow, first }
  }
  return { database, other, committed, whileSlow }
}

const write = (database: Database, name: string, mode?: 'relaxed') =>
  database.transaction(
    tx => sql`INSERT INTO rate_types (name, position) VALUES (${name}, 9)`.execute(tx),
    mode,
  )

async function seen(database: Database): Promise<string[]> {
  // What each request does first.
  database.refresh!()
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM rate_types WHERE length(name) = 1 ORDER BY name`.execute(database.reader)
  return rows.map(({ name }) => name)
}

test('what is committed is neither answered nor read before it is on the disk, and reads and writes go on meanwhile', async t => {
  const { database, other, committed, whileSlow } = await start(t)
  const answered: string[] = []
  const writing = (name: string) => write(database, name).then(() => answered.push(name))
  const { isSlow, first } = await whileSlow(() => writing('a'))
  const second = writing('b')
  for (let turn = 0; turn < 20; turn += 1) {
    assert.deepEqual(await seen(database), [])
    await setImmediate()
  }
  // The second has run and waits to be committed.
  assert.throws(() => other.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE'), /locked/)
  assert.deepEqual([answered, committed()], [[], ['a']])
  await isSlow
  await first
  assert.equal((await seen(database))[0], 'a')
  await second
  assert.deepEqual(
    [answered, await seen(database)],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  )
  other.close()
  await database.close()
})

test('what nobody waits for is answered and read before it is on the disk, and the next commit once both are', async t => {
  const { database, other, committed, whileSlow } = await start(t)
  const answered: string[] = []
  const writing = (name: string, mode?: 'relaxed') =>
    write(database, name, mode).then(() => answered.push(name))
  const { isSlow, first } = await whileSlow(() => writing('a', 'relaxed'))
  await first
  const second = writing('b')
  while (!committed().includes('b')) await setImmediate()
  const third = writing('c', 'relaxed')
  for (let turn = 0; turn < 20; turn += 1) {
    assert.deepEqual(await seen(database), ['a'])
    await setImmediate()
  }
  assert.deepEqual([answered, committed()], [['a'], ['a', 'b']])
  await Promise.all([isSlow, second, third])
  assert.deepEqual(
    [answered, await seen(database)],
    [
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ],
  )
  other.close()
  await database.close()
})

test('what shares a commit with something that somebody waits for is on the disk when it is answered', async t => {
  const { database, other, whileSlow } = await start(t)
  const answered: string[] = []
  const writing = (name: string, mode?: 'relaxed') =>
    write(database, name, mode).then(() => answered.push(name))
  let second: Promise<unknown> | undefined
  const { isSlow, first } = await whileSlow(() => {
    const writes = writing('a', 'relaxed')
    second = writing('b')
    return writes
  })
  for (let turn = 0; turn < 20; turn += 1) await setImmediate()
  assert.deepEqual([answered, await seen(database)], [[], []])
  await Promise.all([isSlow, first, second])
  assert.deepEqual(answered, ['a', 'b'])
  other.close()
  await database.close()
})

test('a failure that tells what is not on the disk yet waits for it', async t => {
  const { database, other, whileSlow } = await start(t)
  const answered: string[] = []
  const { isSlow, first } = await whileSlow(() => write(database, 'a').then(() => answered.push('made')))
  const again = () =>
    assert.rejects(write(database, 'a'), /not unique/).then(() => answered.push('there already'))
  const both = [again(), again()]
  for (let turn = 0; turn < 20; turn += 1) await setImmediate()
  assert.deepEqual([answered, await seen(database)], [[], []])
  await Promise.all([isSlow, first, ...both])
  assert.deepEqual(answered, ['made', 'there already', 'there already'])
  other.close()
  await database.close()
})

test('no more transactions than share a commit run while the disk is slow', async t => {
  const { database, other, whileSlow } = await start(t)
  let ran = 0
  const run = () =>
    database.transaction(async tx => {
      await sql`UPDATE rate_types SET position = position`.execute(tx)
      ran += 1
    })
  const { isSlow, first } = await whileSlow(() => write(database, 'a'))
  const further = Array.from({ length: 300 }, run)
  for (let turn = 0; turn < 100; turn += 1) await setImmediate()
  assert.equal(ran, 128)
  await Promise.all([isSlow, first, ...further])
  assert.equal(ran, 300)
  other.close()
  await database.close()
})

test('what another process has written and answered meanwhile is read', async t => {
  const { database, other, whileSlow } = await start(t)
  const { isSlow, first } = await whileSlow(() => write(database, 'a'))
  assert.deepEqual(await seen(database), [])
  other.exec(`INSERT INTO rate_types (name, position) VALUES ('z', 9)`)
  await setImmediate()
  assert.ok((await seen(database)).includes('z'))
  await Promise.all([isSlow, first])
  assert.deepEqual(await seen(database), ['a', 'z'])
  other.close()
  await database.close()
})

test('a database that a link names is written, and its log is watched beside the file itself', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const file = join(folder.path, 'data', 'a.db')
  await (await openDatabase(`sqlite:${file}`)).close()
  const link = join(folder.path, 'link.db')
  await symlink(file, link)
  const database = await openDatabase(`sqlite:${link}`)
  await write(database, 'a')
  assert.deepEqual(await seen(database), ['a'])
  await rename(`${file}-wal`, `${file}-away`)
  await assert.rejects(write(database, 'b'), /removed or replaced/)
  await rename(`${file}-away`, `${file}-wal`)
  await database.ready()
  await database.close()
})

for (const mode of [undefined, 'relaxed'] as const)
  test(`a database that is closed first puts on the disk what was committed${mode ? ' and nobody waits for' : ''}`, async t => {
    const { database, other, committed, whileSlow } = await start(t)
    const { isSlow, first } = await whileSlow(() => write(database, 'a', mode))
    const second = write(database, 'b', mode)
    let isClosed = false
    const closed = database.close().then(() => {
      isClosed = true
    })
    await setImmediate()
    assert.ok(!isClosed)
    await Promise.all([isSlow, first, second, closed])
    assert.deepEqual(committed(), ['a', 'b'])
    other.close()
  })
