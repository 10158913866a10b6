/** Rows and identifiers that statements return. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Statements } from './statements.ts'

test('an insert of one row returns the identifier that the row has, and none where another row is in its place', () => {
  const database = new DatabaseSync(':memory:')
  database.exec(
    'CREATE TABLE names (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, at INTEGER) STRICT',
  )
  const statements = new Statements(database)
  const insert = (ending: string, ...values: unknown[]) =>
    statements.all(`insert into "names" ("name", "at") values (?, ?)${ending} returning "id"`, values)
  const unlessTaken = ' on conflict ("name") do nothing'
  assert.deepEqual(insert('', 'a', 1), [{ id: 1 }])
  assert.deepEqual(insert(unlessTaken, 'b', 2n ** 60n), [{ id: 2 }])
  assert.deepEqual(insert(unlessTaken, 'a', 3), [])
  assert.deepEqual(insert(' on conflict do nothing', 'a', 3), [])
  assert.throws(() => insert('', 'a', 3), /UNIQUE/)
  // Of a row that was there the identifier is not that of the last insert.
  assert.deepEqual(insert(' on conflict ("name") do update set "at" = excluded."at"', 'a', 4), [{ id: 1 }])
  assert.deepEqual(
    statements.all('insert into "names" ("id", "name") values (?, ?) returning "id"', [9, 'c']),
    [{ id: 9 }],
  )
  database.close()
})
