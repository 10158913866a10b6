import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sql } from 'kysely'
import { engines, openDatabase } from '../../../test/harness.ts'
import { until } from '../../../test/load.ts'
import { PAGES_IN_LOG } from './connect.ts'

test('pages are moved from the log into the file before SQLite would do it within a commit', async t => {
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
  const text = 'x'.repeat(1_000_000)
  for (let number = 0; log().written - log().moved <= PAGES_IN_LOG / 2; number += 1) {
    assert.ok(log().written < PAGES_IN_LOG, 'SQLite has not moved any by itself')
    await database.transaction(tx =>
      sql`INSERT INTO rate_types (name, position) VALUES (${number + text}, 9)`.execute(tx),
    )
  }
  await until(() => log().moved >= PAGES_IN_LOG / 2)
  assert.ok(log().written < PAGES_IN_LOG)
})
