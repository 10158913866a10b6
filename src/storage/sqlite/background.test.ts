import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { describeService, startService } from '../../../test/harness.ts'
import { memberOf } from '../../base/unknown.ts'
import { ReadBudget } from '../budget.ts'
import { DatabaseUnavailable, type Db } from '../database.ts'

/** Takes a second or more, on every engine. */
const countFar = (db: Db) =>
  sql<{ count: number }>`
    WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 4000000)
    SELECT count(*) AS count FROM numbers`.execute(db)

describeService('reading in the background', service => {
  test('what takes long keeps no request waiting, nor another reader', async () => {
    const background = service().database.background()
    let ended = 0
    const long = [countFar(background.reader), countFar(background.reader)].map(async query => {
      const { rows } = await query
      ended += 1
      return rows[0]!.count
    })
    assert.equal((await service().get('/affiliates')).status, 200)
    assert.ok(await background.reader.selectFrom('settings').selectAll().execute())
    assert.equal(ended, 0)
    assert.deepEqual(await Promise.all(long), [4_000_000, 4_000_000])
  })

  test('sees what was committed, at once', async () => {
    const background = service().database.background()
    for (let number = 0; number < 20; number += 1) {
      const { id } = await service().newAffiliate(`seen${number}`)
      const seen = await background.reader
        .selectFrom('affiliates')
        .select('id')
        .where('id', '=', id)
        .execute()
      assert.equal(seen.length, 1)
    }
  })

  test('a snapshot stays as it is while others write, and the next one has what they wrote', async () => {
    const background = service().database.background()
    const count = async (db: Db) => (await db.selectFrom('affiliates').select('id').execute()).length
    const [first, second] = await background.snapshot(async db => {
      const first = await count(db)
      await service().newAffiliate('meanwhile')
      return [first, ...(await Promise.all([count(db), count(db)]))]
    })
    assert.equal(second, first)
    assert.equal(await service().database.snapshot(count), first! + 1)
    assert.equal(await count(background.reader), first! + 1)
  })

  test('a snapshot ends when its work fails, and reads nothing more for who has left', async () => {
    const background = service().database.background()
    await assert.rejects(
      background.snapshot(db => sql`SELECT * FROM nothing`.execute(db)),
      /nothing/,
    )
    const leaving = new AbortController()
    const went = Promise.withResolvers<unknown>()
    const reading = service()
      .database.background(new ReadBudget('leaver', 60_000, leaving.signal))
      .snapshot(async db => {
        await db.selectFrom('settings').selectAll().execute()
        leaving.abort()
        await delay(10)
        await db.selectFrom('settings').selectAll().execute().catch(went.resolve)
      })
    await assert.rejects(reading, { reason: 'not wanted' })
    assert.equal(memberOf(await went.promise, 'reason'), 'not wanted')
    assert.ok(await background.reader.selectFrom('settings').selectAll().execute())
  })

  test('an error is that of the query, and the next query is answered', async () => {
    const background = service().database.background()
    await assert.rejects(sql`SELECT * FROM nothing`.execute(background.reader), /nothing/)
    assert.ok(await background.reader.selectFrom('settings').selectAll().execute())
  })
})

test('reading in the background (SQLite): it only reads, and ends with the database', async () => {
  const service = await startService('SQLite')
  const background = service.database.background()
  await assert.rejects(background.reader.deleteFrom('settings').execute())
  const cut = countFar(background.reader).catch(error => error)
  const snapshot = background.snapshot(countFar).catch(error => error)
  await service.close()
  assert.ok((await cut) instanceof DatabaseUnavailable)
  assert.ok((await snapshot) instanceof DatabaseUnavailable)
  const ports = () => process.getActiveResourcesInfo().filter(name => name === 'MessagePort').length
  const before = ports()
  await assert.rejects(countFar(background.reader), DatabaseUnavailable)
  await assert.rejects(background.snapshot(countFar), DatabaseUnavailable)
  // A thread that had been started for them would keep the process alive.
  assert.equal(ports(), before)
})
