/** What is committed late. The embedded engine carries one transaction at a time: nothing can be late there. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { type KyselyPlugin, sql } from 'kysely'
import { engines, type FreshDatabase, openDatabase, operatorOf } from '../../test/harness.ts'
import { until } from '../../test/load.ts'
import { type Database, within } from '../storage/database.ts'
import { Sealer, sealEntries } from './seal.ts'
import { countAfter, entriesAfter, lockChain, readChain } from './store.ts'
import { verifyChain } from './verify.ts'
import { write } from './write.ts'

describe('events that are committed after later ones (PostgreSQL)', () => {
  let fresh: FreshDatabase
  let database: Database
  beforeEach(async () => {
    fresh = await engines.PostgreSQL!()
    database = await openDatabase(fresh.url)
  })
  afterEach(async () => {
    await database.close()
    await fresh.remove()
  })

  const add = (id: number) => write(operatorOf(database), async tx => tx.log('user.create', id))

  /** An event whose identifier is taken, and which is committed when one says so. */
  async function lateEvent(): Promise<() => Promise<void>> {
    const goOn = Promise.withResolvers<void>()
    const began = Promise.withResolvers<void>()
    const late = database.transaction(async tx => {
      await write(operatorOf(within(database, tx)), async inner => inner.log('settings.edit', null))
      // What nobody waits for is sent with the next statement.
      await sql`SELECT 1`.execute(tx)
      began.resolve()
      await goOn.promise
    })
    await began.promise
    return async () => {
      goOn.resolve()
      await late
    }
  }

  /** Leaves an identifier behind that nobody has. */
  const passOver = () =>
    database.transaction(tx => sql`SELECT nextval(pg_get_serial_sequence('events', 'id'))`.execute(tx))

  async function missing(): Promise<unknown[]> {
    await add(1)
    await sealEntries(database)
    const chain = await database.reader.selectFrom('audit_chain').selectAll().executeTakeFirstOrThrow()
    return JSON.parse(chain.missing)
  }

  test('each is sealed, and the chain is whole before and after', async () => {
    const end = await lateEvent()
    await add(1)
    await sealEntries(database)
    const before = await verifyChain(database.reader)
    assert.deepEqual([before.problem, before.entries, before.unsealed], [undefined, 1, 0])
    await end()
    assert.equal((await verifyChain(database.reader)).problem, undefined)
    await sealEntries(database)
    const after = await verifyChain(database.reader)
    assert.deepEqual([after.problem, after.entries], [undefined, 2])
  })

  test('each is sealed however late it is, and after however many others', async t => {
    const end = await lateEvent()
    for (let round = 0; round < 250; round += 1) {
      await passOver()
      await add(round)
    }
    await sealEntries(database)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 2 * 3_600_000 })
    await missing()
    t.mock.timers.reset()
    await end()
    await sealEntries(database)
    const verdict = await verifyChain(database.reader)
    assert.deepEqual([verdict.problem, verdict.entries], [undefined, 252])
  })

  test('an identifier is kept while somebody may commit it, and is given up when nobody can', async () => {
    await passOver()
    const end = await lateEvent()
    for (let round = 0; round < 3; round += 1) assert.ok((await missing()).length > 0)
    await end()
    // Transactions of other tests count as well, which is on the safe side.
    await until(async () => (await missing()).length === 0)
    assert.equal((await verifyChain(database.reader)).problem, undefined)
  })

  test('a transaction has its number before it has an identifier', async () => {
    const { rows } = await database.transaction(tx =>
      sql<{ number: string }>`
        INSERT INTO events (at, actor_kind, actor_name, address, action, record_kind, before_values, after_values,
          personal_hash, personal)
        VALUES (1, 'service', '', '', 'user.create', 'user',
          coalesce(pg_current_xact_id_if_assigned()::text, 'none'), '', '', '')
        RETURNING before_values AS number`.execute(tx),
    )
    assert.match(rows[0]!.number, /^\d+$/)
  })

  test('who stops waits for another who seals, and leaves nothing unsealed', async () => {
    await add(77)
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const other = database.transaction(async tx => {
      await lockChain(tx, database.engine, true)
      held.resolve()
      await released.promise
    })
    await held.promise
    const closed = new Sealer(database, error => assert.fail(String(error))).close()
    setTimeout(released.resolve, 50)
    await Promise.all([closed, other])
    const { last_entry } = (await readChain(database.reader))!
    assert.equal(await countAfter(database.reader, last_entry), 0)
  })

  test('of two changes, the second is never sealed before the first', async () => {
    await add(1)
    const end = await lateEvent()
    await add(2)
    await sealEntries(database)
    // While the sealer looks, the late one is committed, and then another that follows from it.
    let looks = 0
    const meddling: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        looks += 1
        if (looks === 2) {
          await end()
          await add(987)
        }
        return result
      },
    }
    await sealEntries({
      engine: database.engine,
      schema: database.schema,
      reader: database.reader.withPlugin(meddling),
      replica: database.reader,
      background: () => database,
      snapshot: work => database.snapshot(work),
      transaction: (work, options) => database.transaction(work, options),
      ready: () => database.ready(),
      close: () => database.close(),
    })
    assert.ok(looks >= 2)
    await sealEntries(database)
    const seals = await database.reader.selectFrom('audit_seals').selectAll().orderBy('number').execute()
    const order = seals.flatMap(({ entries }) => idsIn(entries))
    const entries = await entriesAfter(database.reader, 0, 1000)
    const first = entries.find(({ action }) => action === 'settings.edit')!.id
    const second = entries.find(({ record_id }) => record_id === 987)!.id
    assert.equal(order.length, 4)
    assert.ok(order.indexOf(first) < order.indexOf(second), order.join())
  })
})

function idsIn(entries: string): number[] {
  return entries.split(',').flatMap(range => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last! - first! + 1 }, (_, index) => first! + index)
  })
}
