import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { engines, type FreshDatabase, openDatabase, operatorOf } from '../../test/harness.ts'
import { service } from '../base/actor.ts'
import { onBehalfOf } from '../settings/rules.ts'
import { type Database, type Tx, within } from '../storage/database.ts'
import { entriesAfter } from './store.ts'
import { type WriteTx, write } from './write.ts'

for (const engine of Object.keys(engines)) {
  describe(`write (${engine})`, () => {
    let fresh: FreshDatabase
    let database: Database
    beforeEach(async () => {
      fresh = await engines[engine]!()
      database = await openDatabase(fresh.url)
    })
    afterEach(async () => {
      await database.close()
      await fresh.remove()
    })

    const events = async () => {
      const entries = await entriesAfter(database.reader, 0, 1000)
      return entries.map(({ actor_kind, action, record_id }) => [actor_kind, action, record_id])
    }
    const setting = (tx: Tx, value: string) =>
      tx.updateTable('settings').set({ value }).where('name', '=', 'default_rate').execute()

    test('what was logged is there with its change, in order, and is not where the change is not', async () => {
      await write(operatorOf(database), async tx => {
        for (let id = 1; id <= 3; id += 1) tx.log('user.create', id, { after: { role: '' } })
      })
      const failed = write(operatorOf(database), async tx => {
        tx.log('user.create', 4)
        throw new Error('undone')
      })
      await assert.rejects(failed, /undone/)
      await write(operatorOf(database), async tx => {
        tx.log('settings.edit', null, { before: { default_rate: '1' }, after: { default_rate: '1' } })
      })
      assert.deepEqual(
        await events(),
        [1, 2, 3].map(id => ['command line', 'user.create', id]),
      )
    })

    test('thousands of events of one transaction', async () => {
      await write(operatorOf(database), async tx => {
        for (let id = 1; id <= 2500; id += 1) tx.log('user.create', id)
      })
      const { rows } = await sql<{ count: number; last: number }>`
        SELECT count(*) AS count, max(record_id) AS last FROM events`.execute(database.reader)
      assert.deepEqual(rows, [{ count: 2500, last: 2500 }])
    })

    test('inside of a transaction that is open: logs there, on behalf of whom it is', async () => {
      await write(operatorOf(database), async tx => {
        tx.log('user.create', 1)
        await write(onBehalfOf(service, within(database, tx)), async inner => inner.log('user.create', 2))
        tx.log('user.create', 3)
      })
      const undone = database.transaction(async tx => {
        await write(operatorOf(within(database, tx)), async inner => inner.log('user.create', 4))
        throw new Error('undone')
      })
      await assert.rejects(undone, /undone/)
      assert.deepEqual(await events(), [
        ['service', 'user.create', 2],
        ['command line', 'user.create', 1],
        ['command line', 'user.create', 3],
      ])
    })

    test('many at once: each logs for itself', async () => {
      const origins = [operatorOf(database), onBehalfOf(service, database)]
      await Promise.all(
        Array.from({ length: 20 }, (_, number) =>
          write(origins[number % 2]!, async tx => {
            await setting(tx, String(number))
            tx.log('user.create', number)
          }),
        ),
      )
      const expected = Array.from({ length: 20 }, (_, number) => [
        number % 2 === 0 ? 'command line' : 'service',
        'user.create',
        number,
      ])
      const byNumber = (a: unknown[], b: unknown[]) => Number(a[2]) - Number(b[2])
      assert.deepEqual((await events()).sort(byNumber), expected)
    })

    test('what comes after the end is refused', async () => {
      let late: WriteTx | undefined
      await write(operatorOf(database), async tx => {
        late = tx
      })
      assert.throws(() => late!.log('user.create', 1), /The transaction has ended/)
    })
  })
}

// The embedded engine carries one transaction at a time: there is no race to lose.
test('work that lost a race and is done again logs once (PostgreSQL)', async t => {
  const fresh = await engines.PostgreSQL!()
  t.after(fresh.remove)
  const database = await openDatabase(fresh.url)
  t.after(() => database.close())
  let attempts = 0
  await write(
    operatorOf(database),
    async tx => {
      attempts += 1
      await sql`SELECT * FROM settings`.execute(tx)
      tx.log('user.create', attempts)
      if (attempts === 1)
        await database.transaction(other => other.updateTable('settings').set({ value: '7' }).execute())
      await tx.updateTable('settings').set({ value: '8' }).execute()
    },
    'steady',
  )
  assert.equal(attempts, 2)
  const entries = await entriesAfter(database.reader, 0, 10)
  assert.deepEqual(
    entries.map(({ record_id }) => record_id),
    [2],
  )
})
