/** Lists know their length from the log, and are never wrong by what is not sealed yet. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { describeService, operatorOf } from '../../test/harness.ts'
import { features } from '../app.ts'
import { checkDatabase, repair } from '../operations/check/rules.ts'
import { fillWithDemo } from '../operations/demo/demo.ts'
import { type Database, within } from '../storage/database.ts'
import type { Schema } from '../storage/table.ts'
import { countAnew, countedRecords, recount, whileUncounted } from './counts.ts'
import { sealAll, sealEntries } from './seal.ts'
import * as store from './store.ts'
import { readChain } from './store.ts'
import { verifyChain } from './verify.ts'
import { write } from './write.ts'

/** Whether lists know their length without counting rows, of every kind that can. */
async function areCounted({ reader }: Database): Promise<boolean> {
  const { rows } = await sql`
    SELECT record_kind FROM counted_kinds JOIN audit_chain ON as_of = number`.execute(reader)
  return rows.length === features.filter(({ kind }) => kind.table.logged.counted).length
}

/** The same database, but for some of it. */
const databaseLike = (database: Database, { schema, transaction }: Partial<Database>): Database => ({
  engine: database.engine,
  schema: schema ?? database.schema,
  reader: database.reader,
  replica: database.replica,
  ready: () => database.ready(),
  close: () => database.close(),
  background: () => database.background(),
  snapshot: work => database.snapshot(work),
  transaction: transaction ?? ((work, options) => database.transaction(work, options)),
})

describeService('the number of records', service => {
  const run = (statement: string) => service().database.transaction(tx => sql.raw(statement).execute(tx))

  const totalOf = async (list: string): Promise<number> => {
    const { headers, status } = await service().get(list)
    assert.equal(status, 200)
    return Number(headers.get('x-total-count'))
  }

  /** By the interface, and of the tables: of all, of each value that there is, and of two. */
  async function totals(): Promise<[stated: number[], actual: number[]]> {
    const stated: number[] = []
    const actual: number[] = []
    for (const { kind } of features) {
      const { counted } = kind.table.logged
      if (counted === undefined) continue
      const { rows } = await sql<{ value: string; count: number }>`
        SELECT ${sql.ref(counted)} AS value, count(*) AS count FROM ${sql.table(kind.table.name)} GROUP BY 1 ORDER BY 1`.execute(
        service().database.reader,
      )
      const values = rows.map(({ value }) => value)
      for (const wanted of [values, ...values.map(value => [value]), values.slice(0, 2)]) {
        const filter = wanted === values ? '' : `&${counted}=${wanted}`
        stated.push(await totalOf(`/${kind.table.name}?count=1&number=1${filter}`))
        const those = rows.filter(({ value }) => wanted.includes(value))
        actual.push(those.reduce((sum, { count }) => sum + Number(count), 0))
      }
    }
    return [stated, actual]
  }

  async function assertRight(): Promise<void> {
    const [stated, actual] = await totals()
    assert.deepEqual(stated, actual)
  }

  const isCounted = () => areCounted(service().database)

  /** Creates, edits and deletes some of each kind. */
  async function change(name: string): Promise<void> {
    const [first, second] = [
      await service().newAffiliate(`${name}-1`),
      await service().newAffiliate(`${name}-2`, { status: 'pending' }),
    ]
    const payout = await service().newPayout(first.id, { amount: 5 })
    await service().newPayout(first.id, { amount: 7 })
    await service().patch(`/affiliates/${first.id}`, { status: 'inactive', rate: 12 })
    await service().patch(`/affiliates/${first.id}`, { rate: 13 })
    await service().patch(`/payouts/${payout.id}`, { status: 'failed' })
    await service().delete(`/affiliates/${second.id}`)
  }

  test('is right before it is kept, with what is sealed, and with what is not', async () => {
    await change('unknown')
    await run('DELETE FROM counted_kinds')
    await assertRight()
    await countAnew(service().database)
    assert.ok(await isCounted())
    await assertRight()
    await change('unsealed')
    await assertRight()
    await sealAll(service().database)
    assert.ok(await isCounted())
    await assertRight()
  })

  test('is not counted by looking at the rows', async () => {
    await sealAll(service().database)
    const before = await totalOf('/payouts?count=1&status=paid')
    await run(
      `UPDATE record_counts SET records = records + 1000 WHERE record_kind = 'payout' AND value = 'paid'`,
    )
    assert.equal(await totalOf('/payouts?count=1&status=paid'), before + 1000)
    // Another condition is one that is looked at.
    assert.equal(await totalOf('/payouts?count=1&status=paid&exclude=999999'), before)
    const { problems } = await checkDatabase(service().database, features)
    assert.deepEqual(problems, [
      'record_counts: payout, paid: 1000 too many; run `affiliated check --repair`.',
    ])
    await repair(service().database)
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
    await assertRight()
  })

  test('is counted again when a program has sealed that does not count', async () => {
    await sealAll(service().database)
    assert.ok(await isCounted())
    const { number } = (await readChain(service().database.reader))!
    await change('older')
    await sealAll(service().database)
    await run(`UPDATE counted_kinds SET as_of = ${number}`)
    await run('UPDATE record_counts SET records = records + 1')
    await assertRight()
    await change('newer')
    await sealAll(service().database)
    await assertRight()
    await countAnew(service().database)
    assert.ok(await isCounted())
    await assertRight()
  })

  test('is right when rows are counted while others write and seal', async () => {
    let isDone = false
    const sealing = async () => {
      while (!isDone) {
        await sealEntries(service().database)
        await setImmediate()
      }
    }
    const counting = async () => {
      while (!isDone) {
        await run('DELETE FROM counted_kinds')
        await countAnew(service().database)
        await setImmediate()
      }
    }
    const others = Promise.all([sealing(), counting()])
    try {
      for (let round = 0; round < 8; round += 1) {
        await Promise.all([change(`beside-${round}-a`), change(`beside-${round}-b`)])
      }
    } finally {
      isDone = true
      await others
    }
    assert.ok(await isCounted())
    await assertRight()
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })

  test('never is less than what was answered before, nor more than what was asked for', async () => {
    const before = await totalOf('/affiliates?count=1')
    let asked = 0
    let answered = 0
    const create = async (client: number) => {
      for (let number = 0; number < 10; number += 1) {
        asked += 1
        await service().newAffiliate(`many-${client}-${number}`)
        answered += 1
      }
    }
    const creating = Promise.all([0, 1, 2, 3, 4].map(create)).then(() => 'done')
    while (answered < 50) {
      const least = before + answered
      const total = await totalOf('/affiliates?count=1')
      assert.ok(total >= least && total <= before + asked, `${least} <= ${total} <= ${before + asked}`)
    }
    assert.equal(await creating, 'done')
  })

  test('of what is committed after later events', async t => {
    const { database } = service()
    if (!database.engine.concurrent) return t.skip('one transaction at a time')
    const { id } = await service().newAffiliate('late', { status: 'active' })
    await sealAll(database)
    const [goOn, began] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const late = database.transaction(async tx => {
      await write(operatorOf(within(database, tx)), async inner => {
        await sql`UPDATE affiliates SET status = 'rejected' WHERE id = ${id}`.execute(inner)
        inner.log('affiliate.edit', id, { before: { status: 'active' }, after: { status: 'rejected' } })
      })
      await sql`SELECT 1`.execute(tx)
      began.resolve()
      await goOn.promise
    })
    await began.promise
    await service().newAffiliate('later')
    await sealAll(database)
    assert.match((await readChain(database.reader))!.missing, /\d/)
    await assertRight()
    goOn.resolve()
    await late
    await assertRight()
    await sealAll(database)
    assert.ok(await isCounted())
    await assertRight()
  })
})

describeService('the number of records, when it is counted', service => {
  const totalOf = async (list: string) => Number((await service().get(list)).headers.get('x-total-count'))
  const run = (statement: string) => service().database.transaction(tx => sql.raw(statement).execute(tx))
  before(async () => {
    for (const name of ['one', 'two', 'three']) await service().newAffiliate(name)
    await sealAll(service().database)
    await countAnew(service().database)
  })

  test('is never that of a moment in between', async () => {
    let isDone = false
    const looking = async () => {
      while (!isDone) assert.equal(await totalOf('/affiliates?count=1'), 3)
    }
    const looks = Promise.all([looking(), looking()])
    try {
      for (let round = 0; round < 50; round += 1) {
        await recount(service().database)
        await setImmediate()
      }
    } finally {
      isDone = true
    }
    await looks
  })

  test('is not what somebody counted before rows were changed without events', async () => {
    const { database } = service()
    await run('DELETE FROM counted_kinds')
    const [counted, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    // Another process, between its count and what it writes down of it.
    let isFirst = true
    const slow = databaseLike(database, {
      transaction: async (work, options) => {
        const isCount = database.engine.concurrent && isFirst
        isFirst = false
        if (isCount) return database.transaction(work, options)
        counted.resolve()
        await goOn.promise
        return database.transaction(work, options)
      },
    })
    const counting = countAnew(slow)
    await Promise.race([counted.promise, counting])
    await run(`UPDATE affiliates SET status = 'rejected'`)
    await recount(database)
    goOn.resolve()
    await counting
    assert.ok(await areCounted(database))
    assert.equal(await totalOf('/affiliates?count=1&status=rejected'), 3)
    await run(`UPDATE affiliates SET status = 'pending'`)
    await recount(database)
  })

  test('waits for work that writes rows without events, and for its repair when that fails', async () => {
    const { database } = service()
    const work = async () => {
      await run(`UPDATE affiliates SET status = 'inactive' WHERE id = 1`)
      await countAnew(database)
      assert.equal(await totalOf('/affiliates?count=1&status=inactive'), 1)
      throw new Error('the process was killed')
    }
    await assert.rejects(whileUncounted(database, work), /killed/)
    await run(`UPDATE affiliates SET status = 'inactive' WHERE id = 2`)
    await countAnew(database)
    assert.ok(!(await areCounted(database)))
    assert.equal(await totalOf('/affiliates?count=1&status=inactive'), 2)
    await repair(database)
    assert.ok(await areCounted(database))
    assert.equal(await totalOf('/affiliates?count=1&status=inactive'), 2)
  })

  test('is counted of a kind that another version of the program does not count', async () => {
    const { database } = service()
    const uncounted = database.schema.map(table => {
      const { counted: _, ...logged } = table.logged ?? {}
      return table.name === 'affiliates' ? { ...table, logged } : table
    }) as unknown as Schema
    const older = databaseLike(database, { schema: uncounted })
    await countAnew(database)
    // Until the older one was the first to seal.
    let total = 3
    for (; await areCounted(database); total += 1) {
      const { id } = await service().newAffiliate(`affiliate-${total}`)
      await service().newPayout(id, { amount: 1 })
      await sealAll(older)
    }
    assert.equal(await totalOf('/affiliates?count=1'), total)
    assert.equal(await totalOf('/payouts?count=1'), total - 3)
    await countAnew(database)
    assert.equal(await totalOf('/affiliates?count=1'), total)
  })

  test('does not change by what has the same name inside of another value', async () => {
    const { database } = service()
    const total = await totalOf('/affiliates?count=1&exclude=999')
    await run(`INSERT INTO events (at, actor_kind, actor_name, address, action, record_kind, record_id, before_values, after_values, personal_hash, personal)
      VALUES (1, 'service', '', '', 'affiliate.edit', 'affiliate', 1, '', '{"custom":{"status":"active"}}', '', '')`)
    assert.equal(await totalOf('/affiliates?count=1'), total)
    await sealAll(database)
    await countAnew(database)
    assert.equal(await totalOf('/affiliates?count=1'), total)
  })

  test('is counted when an event cannot be read, which is sealed all the same', async () => {
    const { database } = service()
    await sealAll(database)
    const total = await totalOf('/affiliates?count=1&exclude=999')
    await run(`INSERT INTO events (at, actor_kind, actor_name, address, action, record_kind, record_id, before_values, after_values, personal_hash, personal)
      VALUES (1, 'service', '', '', 'affiliate.edit', 'affiliate', 1, '', '{"status":', '', '')`)
    assert.equal(await totalOf('/affiliates?count=1'), total)
    await sealAll(database)
    assert.equal(await store.countAfter(database.reader, (await readChain(database.reader))!.last_entry), 0)
    assert.equal(await totalOf('/affiliates?count=1'), total)
    await countAnew(database)
    assert.equal(await totalOf('/affiliates?count=1'), total)
  })

  test('is counted when the end of the chain is damaged', async () => {
    const total = await totalOf('/affiliates?count=1&exclude=999')
    const { missing } = (await readChain(service().database.reader))!
    for (const damaged of ['x', '{}', '[[1]]', '[["x", 2, 3]]']) {
      await run(`UPDATE audit_chain SET missing = '${damaged}'`)
      assert.equal(await totalOf('/affiliates?count=1'), total)
      await assert.rejects(sealAll(service().database), /The end of the chain was changed/)
      assert.match(
        (await verifyChain(service().database.reader)).problem ?? '',
        /The end of the chain was changed/,
      )
    }
    await run(`UPDATE audit_chain SET missing = '${missing}'`)
    await sealAll(service().database)
  })

  test('is counted when too much waits for its seal', async () => {
    const { database } = service()
    await sealAll(database)
    const statuses = ['active', 'inactive']
    const context = operatorOf(database)
    // Nobody else seals meanwhile.
    await database.transaction(async tx => {
      await write({ ...context, database: within(database, tx) }, async inner => {
        for (let number = 0; number < 6001; number += 1) {
          const [before, after] = [statuses[number % 2], statuses[(number + 1) % 2]]
          inner.log('affiliate.edit', 1, { before: { status: before }, after: { status: after } })
        }
      })
      assert.equal(await countedRecords(tx, schemaOf('affiliates')), undefined)
    })
  })

  const schemaOf = (name: string) => service().database.schema.find(table => table.name === name)!
})

describeService('the number of records of a demo', service => {
  test('is kept when it is made', async () => {
    await fillWithDemo(service().database, features)
    assert.ok(await areCounted(service().database))
    assert.equal((await service().get('/affiliates?count=1')).headers.get('x-total-count'), '200')
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })
})
