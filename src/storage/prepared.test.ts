import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeService } from '../../test/harness.ts'
import type { Db } from './database.ts'
import { prepared } from './prepared.ts'

describeService('prepared queries', service => {
  const users = (db: Db) => db.selectFrom('users').select('id').orderBy('id')

  test('run with the values of the moment', async () => {
    const { reader } = service().database
    const some = prepared((db: Db, { ids }: { ids: readonly number[] }) => users(db).where('id', 'in', ids))
    assert.deepEqual(await some(reader, { ids: [1, 2] }), [{ id: 1 }])
    assert.deepEqual(await some(reader, { ids: [2, 3] }), [])
  })

  test('fail where the text depends on a value', async () => {
    const { reader } = service().database
    const first = prepared((db: Db, { all }: { all: boolean }) => (all ? users(db) : users(db).limit(1)))
    assert.deepEqual(await first(reader, { all: true }), [{ id: 1 }])
    await assert.rejects(first(reader, { all: false }), /depends on a value/)
  })

  test('fail where a value is computed with', async () => {
    const { reader } = service().database
    const next = prepared((db: Db, { id }: { id: number }) => users(db).where('id', '=', Number(id) + 1))
    await assert.rejects(next(reader, { id: 0 }), /depends on a value/)
  })
})
