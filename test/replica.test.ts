/** Reads from a real replica that is always a little behind. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { listen, openDatabase, Service, serviceOn } from './harness.ts'
import { until } from './load.ts'
import { execute, freshDatabase, PostgresServer } from './postgres.ts'

const BEHIND_MS = 60
/** After this the replica is read from. */
const SETTLED_MS = 3000

describe('replica', () => {
  let primary: PostgresServer
  let standby: PostgresServer
  let one: Service
  let two: Service
  let readUrl: string
  /** Of the first node: why the replica was not used, and '' where it was. */
  const told: string[] = []
  before(async () => {
    primary = await PostgresServer.launch(['fsync=off'])
    standby = await primary.standby(BEHIND_MS)
    const fresh = await freshDatabase(primary.url)
    readUrl = fresh.url.replace(String(primary.port), String(standby.port))
    // The replica learns of the new database as of every other write.
    await delay(BEHIND_MS * 10)
    one = await serviceOn(fresh, {}, { readUrl, onReplica: (reason = '') => told.push(reason) })
    const database = await openDatabase(fresh.url, { readUrl })
    const node = await listen(database)
    two = new Service(node.url, fresh.url, database, one.key, node.close)
    await delay(SETTLED_MS)
  })
  after(async () => {
    await two.close()
    await one.close()
    await standby.remove()
    await primary.remove()
  })

  const seen = async (node: Service, id: number) => (await node.get(`/affiliates/${id}`)).status
  const replay = (what: 'pause' | 'resume') => execute(readUrl, `SELECT pg_wal_replay_${what}()`)

  test('lists and records are read from the replica', async () => {
    const affiliate = await one.newAffiliate('behind')
    await replay('pause')
    // Somebody who does not wait for the replica.
    await execute(one.databaseUrl, `UPDATE affiliates SET status = 'rejected' WHERE id = ${affiliate.id}`)
    const { body } = await one.get(`/affiliates/${affiliate.id}`)
    assert.equal(body.status, 'pending')
    const ofOneMoment = await one.database.snapshot(db =>
      db.selectFrom('affiliates').select('status').where('id', '=', affiliate.id).execute(),
    )
    assert.equal(ofOneMoment[0]?.status, 'pending')
    await until(async () => {
      const list = await one.get('/affiliates?search=behind')
      return list.body[0].status === 'rejected'
    })
    await replay('resume')
  })

  test('200 - a client reads what it has just written, on either node', async () => {
    await delay(SETTLED_MS)
    const durations: number[] = []
    const write = async (number: number) => {
      const startedAt = performance.now()
      const affiliate = await (number % 2 ? one : two).newAffiliate(`written.${number}`)
      durations.push(performance.now() - startedAt)
      assert.equal(await seen(number % 2 ? two : one, affiliate.id), 200)
      const edited = await one.patch(`/affiliates/${affiliate.id}`, { status: 'active' })
      assert.equal(edited.body.status, 'active')
      assert.equal((await two.get(`/affiliates/${affiliate.id}`)).body.status, 'active')
      assert.equal((await one.delete(`/affiliates/${affiliate.id}`)).status, 200)
      assert.equal(await seen(two, affiliate.id), 404)
    }
    await Promise.all(Array.from({ length: 40 }, (_, number) => write(number)))
    assert.ok(Math.min(...durations) >= BEHIND_MS, 'the writes did not wait for the replica')
  })

  test('200 - the replica goes away and comes back: reads and writes go on', async () => {
    await standby.stop()
    for (let number = 0; number < 20; number += 1) {
      const affiliate = await one.newAffiliate(`away.${number}`)
      assert.equal(await seen(two, affiliate.id), 200)
      assert.equal((await two.get(`/affiliates/${affiliate.id}/ledger`)).status, 200)
    }
    await standby.start()
    await delay(2000)
    const startedAt = performance.now()
    const affiliate = await one.newAffiliate('again')
    assert.ok(performance.now() - startedAt >= BEHIND_MS, 'the replica is not used again')
    assert.equal(await seen(two, affiliate.id), 200)
    // Neither of the two is said twice in a row, however many writes have asked.
    assert.deepEqual(
      told.map(reason => reason === ''),
      told.map((_, place) => place % 2 === (told[0] === '' ? 0 : 1)),
    )
    assert.match(told.at(-2)!, /./)
    assert.equal(told.at(-1), '')
  })

  /** Why a database to read from is not used. */
  async function refusalOf(readUrl: string): Promise<string> {
    const reason = Promise.withResolvers<string>()
    const database = await openDatabase(one.databaseUrl, {
      readUrl,
      onReplica: (why = '') => reason.resolve(why),
    })
    return reason.promise.finally(() => database.close())
  }

  test('a primary is told from a replica', async () => {
    assert.equal(await refusalOf(one.databaseUrl), 'it is no replica')
  })

  test('another database of the same replica, and a replica of another server, are not read from', async () => {
    const another = new URL(readUrl)
    another.pathname = '/postgres'
    assert.equal(await refusalOf(another.href), 'it has another database')
    const server = await PostgresServer.launch(['fsync=off'])
    const follower = await server.standby(0)
    try {
      const { pathname } = new URL(readUrl)
      const { url } = await freshDatabase(server.url)
      await execute(
        server.url,
        `ALTER DATABASE "${new URL(url).pathname.slice(1)}" RENAME TO "${pathname.slice(1)}"`,
      )
      const foreign = new URL(readUrl)
      foreign.port = String(follower.port)
      await until(async () => (await refusalOf(foreign.href)) === 'it has another database')
    } finally {
      await follower.remove()
      await server.remove()
    }
  })
})
