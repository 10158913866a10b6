import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { RunDirectly } from '../prepared.ts'
import { rowsOf } from '../rows.ts'
import { Statements } from './statements.ts'
import { WaitingRows } from './waiting.ts'

function open() {
  const database = new DatabaseSync(':memory:')
  database.exec('CREATE TABLE sales (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE)')
  const statements = new Statements(database)
  const run: RunDirectly = (text, parameters) => rowsOf(statements.all(text, parameters))
  return { waiting: new WaitingRows(run), count: () => run('SELECT id FROM sales', []).length }
}

test('rows that wait are there for a statement that names their table, under the identifiers that were given', async () => {
  const { waiting, count } = open()
  const all = Array.from({ length: 40 }, (_, place) => ({ name: `sale ${place}` }))
  assert.equal(waiting.add('sales', all[0]!), undefined)
  await waiting.during(async () => {
    const ids = all.map(row => waiting.add('sales', row)!.id)
    waiting.run('SELECT 1', [])
    assert.deepEqual([ids.at(-1), count()], [40, 0])
    assert.equal(
      waiting.pass(() => waiting.run('SELECT id FROM sales', []).length),
      0,
    )
    assert.deepEqual(waiting.run('SELECT id, name FROM sales WHERE id = ?', [ids[39]]), [
      { id: 40, name: 'sale 39' },
    ])
    waiting.run("INSERT INTO sales (name) VALUES ('another')", [])
    assert.equal(waiting.add('sales', { name: 'last' })!.id, 42)
    assert.equal(count(), 41)
  })
  assert.equal(count(), 42)
})

test('rows that wait go with work that fails, and fail the work that waited for them', async () => {
  const { waiting, count } = open()
  const failing = waiting.during(async () => {
    waiting.add('sales', { name: 'lost' })
    throw new Error('failed')
  })
  await assert.rejects(failing, /failed/)
  assert.deepEqual(waiting.run('SELECT id FROM sales', []), [])
  await assert.rejects(
    waiting.during(async () => {
      for (const name of ['same', 'same']) waiting.add('sales', { name })
    }),
    /UNIQUE/,
  )
  assert.equal(waiting.add('sales', { name: 'outside' }), undefined)
  assert.equal(count(), 1)
  // Also when somebody has caught the error.
  await assert.rejects(
    waiting.during(async () => {
      for (const name of ['twice', 'twice']) waiting.add('sales', { name })
      assert.throws(() => waiting.run('SELECT id FROM sales', []), /UNIQUE/)
    }),
    /UNIQUE/,
  )
  await waiting.during(async () => {
    await waiting.during(async () => waiting.add('sales', { name: 'within' }))
    waiting.add('sales', { name: 'around' })
  })
  assert.equal(count(), 4)
})
