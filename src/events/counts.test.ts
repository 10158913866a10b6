/** Lists know their length from the log, and are never wrong by what is not sealed yet. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { describeService, operatorOf } from '../../test/harness.ts'
import { features } from '../app.ts'
import { checkDatabase, repairKeys } from '../operations/check/rules.ts'
import { fillWithDemo } from '../operations/demo/demo.ts'
import { within } from '../storage/database.ts'
import { countAnew, isKnown } from './counts.ts'
import { sealAll, sealEntries } from './seal.ts'
import { readChain } from './store.ts'
import { write } from './write.ts'

describeService('the number of records', service => {
  const run = (statement: string) => service().database.transaction(tx => sql.raw(statement).execute(tx))

  const totalOf = async (list: string): Promise<number> => {
    const { headers, status } = await service().get(list)
    assert.equal(status, 200)
    return Number(headers.get('x-total-count'))
  }

  const statuses = {
    affiliates: ['active', 'inactive', 'pending', 'rejected'],
    payouts: ['paid', 'failed'],
  }

  /** By the interface, and of the tables: of all, of each status and of two. */
  async function totals(): Promise<[stated: number[], actual: number[]]> {
    const stated: number[] = []
    const actual: number[] = []
    for (const [table, values] of Object.entries(statuses)) {
      for (const wanted of [values, ...values.map(value => [value]), values.slice(0, 2)]) {
        const filter = wanted === values ? '' : `&status=${wanted}`
        stated.push(await totalOf(`/${table}?count=1&number=1${filter}`))
        const list = sql.join(wanted)
        const { rows } = await sql<{ count: number }>`
          SELECT count(*) AS count FROM ${sql.table(table)} WHERE status IN (${list})`.execute(
          service().database.reader,
        )
        actual.push(Number(rows[0]!.count))
      }
    }
    return [stated, actual]
  }

  async function assertRight(): Promise<void> {
    const [stated, actual] = await totals()
    assert.deepEqual(stated, actual)
  }

  const isCounted = async () => isKnown((await readChain(service().database.reader))!)

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
    await run('UPDATE audit_chain SET counted = -1')
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
    await repairKeys(service().database)
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
    await assertRight()
  })

  test('is counted again when a program has sealed that does not count', async () => {
    await sealAll(service().database)
    const { number, counted } = (await readChain(service().database.reader))!
    assert.equal(counted, number)
    await change('older')
    await sealAll(service().database)
    await run(`UPDATE audit_chain SET counted = ${number}`)
    await run('UPDATE record_counts SET records = records + 1')
    await assertRight()
    await change('newer')
    await sealAll(service().database)
    assert.ok(!(await isCounted()))
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
        await run('UPDATE audit_chain SET counted = -1')
        await countAnew(service().database)
        await setImmediate()
      }
    }
    const others = Promise.all([sealing(), counting()])
    for (let round = 0; round < 8; round += 1) {
      await Promise.all([change(`beside-${round}-a`), change(`beside-${round}-b`)])
    }
    isDone = true
    await others
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

describeService('the number of records of a demo', service => {
  test('is kept when it is made', async () => {
    await fillWithDemo(service().database, features)
    assert.ok(isKnown((await readChain(service().database.reader))!))
    assert.equal((await service().get('/affiliates?count=1')).headers.get('x-total-count'), '200')
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })
})
