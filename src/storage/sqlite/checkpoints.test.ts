import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { engines, openDatabase } from '../../../test/harness.ts'
import { until } from '../../../test/load.ts'
import { PAGES_IN_LOG } from './connect.ts'

/** A machine that is busy moves them late. */
const LONGEST_MS = 10_000

async function start(t: TestContext) {
  const fresh = await engines.SQLite!()
  t.after(fresh.remove)
  const database = await openDatabase(fresh.url)
  t.after(() => database.close())
  const other = new DatabaseSync(fresh.url.slice('sqlite:'.length))
  t.after(() => other.close())
  const log = () => {
    const pages = other.prepare('PRAGMA wal_checkpoint(NOOP)').get()!
    return { written: Number(pages.log), moved: Number(pages.checkpointed) }
  }
  const write = (name: string) =>
    database.transaction(tx => sql`INSERT INTO rate_types (name, position) VALUES (${name}, 9)`.execute(tx))
  return { log, write }
}

test('pages are moved from the log into the file before SQLite would do it within a commit', async t => {
  const { log, write } = await start(t)
  const text = 'x'.repeat(1_000_000)
  for (let number = 0; log().written - log().moved <= PAGES_IN_LOG / 2; number += 1) {
    assert.ok(log().written < PAGES_IN_LOG, 'SQLite has not moved any by itself')
    await write(number + text)
  }
  await until(() => log().moved >= PAGES_IN_LOG / 2)
  assert.ok(log().written < PAGES_IN_LOG)
})

test('the log begins anew while commits follow one another without a pause', async t => {
  const { log, write } = await start(t)
  const text = 'x'.repeat(5000)
  const endsAt = performance.now() + LONGEST_MS
  let before = 0
  let isAnew = false
  const writer = async (name: string) => {
    for (let number = 0; !isAnew && performance.now() < endsAt; number += 1) {
      await write(`${name} ${number} ${text}`)
      const { written } = log()
      isAnew ||= written < before
      before = written
    }
  }
  await Promise.all(['a', 'b', 'c', 'd'].map(writer))
  assert.ok(isAnew, `${before} pages`)
})
