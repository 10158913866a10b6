import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { describeService, operatorOf } from '../../../test/harness.ts'
import { DAY_SECONDS, dayOf, now } from '../../base/time.ts'
import { changeSettings } from '../../settings/rules.ts'
import { type Database, DatabaseUnavailable } from '../../storage/database.ts'
import { GuardedDatabase } from '../../storage/guarded.ts'
import { type AnsweredVisit, VisitBatch } from './batch.ts'
import { newNonce } from './token.ts'
import { Tracking } from './tracking.ts'

const VISITS = 2000
/** More than wait at most. */
const COME = 18_000

const answered = (affiliateId: number, args: Partial<AnsweredVisit> = {}): AnsweredVisit => ({
  affiliateId,
  linkId: 0,
  campaign: '',
  url: '',
  referrer: '',
  network: '10.0.0.0',
  userAgent: '',
  nonce: newNonce(now()),
  time: now(),
  ...args,
})

describeService('visits that wait', service => {
  const written = () =>
    service().database.transaction(async tx => {
      const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM visits`.execute(tx)
      return Number(rows[0]!.count)
    })

  test('are written in parts, and other writes come in between', async () => {
    const { id } = await service().newAffiliate('busy', { status: 'active' })
    const failures: unknown[] = []
    const batch = new VisitBatch(operatorOf(service().database), {
      failed: error => failures.push(error),
      dropped: visits => failures.push(visits),
    })
    for (let number = 0; number < VISITS; number++) {
      batch.add(answered(id, { network: `10.0.${number % 250}.0`, userAgent: `${number % 3}` }))
    }
    let seen = 0
    while (seen === 0) seen = await written()
    assert.ok(seen < VISITS, `${seen} visits in one transaction`)
    await batch.close()
    assert.equal(await written(), VISITS)
    assert.deepEqual(failures, [])
    const { body } = await service().get(`/affiliates/${id}`)
    assert.equal(body.visits, VISITS)
  })

  test('none is lost while more come than the usual number for each transaction', async () => {
    const { database } = service()
    const { id } = await service().newAffiliate('popular', { status: 'active' })
    const lost: unknown[] = []
    let answeredCount = 0
    const visited: Database = {
      ...database,
      async transaction(work, options) {
        const result = await database.transaction(work, options)
        // The disk is slow: meanwhile so many are answered.
        for (let number = 0; number < 300 && answeredCount < COME; number++) {
          batch.add(answered(id, { network: `10.1.${number % 250}.0` }))
          answeredCount += 1
        }
        return result
      },
    }
    const batch = new VisitBatch(
      { ...operatorOf(database), database: visited },
      { failed: error => lost.push(error), dropped: visits => lost.push(visits) },
    )
    batch.add(answered(id))
    while (answeredCount < COME && lost.length === 0) await delay(10)
    await batch.close()
    assert.deepEqual(lost, [])
    assert.equal((await service().get(`/affiliates/${id}`)).body.visits, COME + 1)
  })

  test('a visit is counted once when nobody knows whether it was committed', async () => {
    const { database } = service()
    const { id } = await service().newAffiliate('doubtful', { status: 'active' })
    // The connection is lost while the first commit is under way, which stands, and then before the second, which does not.
    const lost = () => new DatabaseUnavailable('the connection was lost', undefined, 'in doubt')
    let commits = 0
    const losing: Database = {
      ...database,
      async transaction(work, options) {
        commits += 1
        if (commits === 2) throw lost()
        const result = await database.transaction(work, options)
        if (commits === 1) throw lost()
        return result
      },
    }
    const failures: unknown[] = []
    const failed = Promise.withResolvers<void>()
    const batch = new VisitBatch(
      { ...operatorOf(database), database: losing },
      { failed: failed.resolve, dropped: visits => failures.push(visits) },
    )
    batch.add(answered(id, { network: '10.0.1.0' }))
    await failed.promise
    batch.add(answered(id, { network: '10.0.2.0' }))
    await batch.close()
    assert.equal(commits, 3)
    assert.deepEqual(failures, [])
    const { visits } = (await service().get(`/affiliates/${id}`)).body
    const days = database.reader.selectFrom('visit_days').select(['visits', 'unique_visits'])
    const rows = await days.where('affiliate_id', '=', id).execute()
    const list = await service().get(`/visits?affiliate_id=${id}`)
    assert.deepEqual(
      [list.body.length, visits, rows.map(row => ({ ...row }))],
      [2, 2, [{ visits: 2, unique_visits: 2 }]],
    )
  })

  test('a visitor is judged by the day of the visit, however late it is written', async () => {
    const { database } = service()
    const { id } = await service().newAffiliate('midnight', { status: 'active' })
    const today = dayOf(now())
    const newBatch = () =>
      new VisitBatch(operatorOf(database), { failed: assert.ifError, dropped: assert.ifError })
    const batch = newBatch()
    const [before, after] = [today * DAY_SECONDS - 1, today * DAY_SECONDS]
    for (const time of [before, before, after, after]) batch.add(answered(id, { time }))
    await batch.close()
    const late = newBatch()
    for (const time of [before, after]) late.add(answered(id, { time }))
    await late.close()
    const days = database.reader.selectFrom('visit_days').select(['day', 'visits', 'unique_visits'])
    const rows = await days.where('affiliate_id', '=', id).orderBy('day').execute()
    assert.deepEqual(
      rows.map(row => ({ ...row })),
      [today - 1, today].map(day => ({ day, visits: 3, unique_visits: 1 })),
    )
  })

  test('a report of the script is kept when a batch cannot be written', async () => {
    let isFull = true
    const refuse = () => {
      if (!isFull) return undefined
      refused += 1
      throw new DatabaseUnavailable('SQLite: database or disk is full', undefined, 'full')
    }
    const failed = Promise.withResolvers<void>()
    let refused = 0
    const reports: unknown[] = []
    const database = new GuardedDatabase(service().database, { before: refuse })
    const batch = new VisitBatch(
      { ...operatorOf(service().database), database },
      {
        failed: error => {
          reports.push(error)
          failed.resolve()
        },
        dropped: visits => reports.push(visits),
      },
    )
    const place = 'kept.test'
    batch.saw({ place, url: 'https://kept.test/', outcome: 'counted', affiliateId: 1, time: 7 })
    batch.loaded(place, 8)
    await failed.promise
    const closing = batch.close()
    // It is tried again and again at the end, with pauses, and reported once.
    await delay(100)
    assert.ok(refused < 5, `${refused} attempts`)
    isFull = false
    await closing
    assert.equal(reports.length, 1)
    const pages = service().database.reader.selectFrom('script_pages').where('place', '=', place)
    const [page] = await pages.select(['outcome', 'counted_at', 'loaded_at']).execute()
    assert.deepEqual({ ...page }, { outcome: 'counted', counted_at: 7, loaded_at: 8 })
  })

  test('the salt of a day that a wrong clock has brought is replaced at once', async t => {
    const { database } = service()
    const { id } = await service().newAffiliate('tomorrow', { status: 'active' })
    const saltAfter = async (daysAhead: number) => {
      const realNow = Date.now
      const clock = t.mock.method(Date, 'now', () => realNow() + daysAhead * DAY_SECONDS * 1000)
      const batch = new VisitBatch(operatorOf(database), { failed: () => {}, dropped: () => {} })
      batch.add(answered(id))
      await batch.close()
      const [row] = await database.reader.selectFrom('visitor_salt').selectAll().execute()
      const today = dayOf(now())
      clock.mock.restore()
      return { salt: row!.salt, ahead: row!.day - today }
    }
    const before = await saltAfter(0)
    assert.deepEqual(await saltAfter(0), before)
    const wrong = await saltAfter(400)
    assert.equal(wrong.ahead, 0)
    const after = await saltAfter(0)
    assert.equal(after.ahead, 0)
    assert.notEqual(after.salt, wrong.salt)
    // Another node may be in the next day.
    const next = await saltAfter(1)
    assert.deepEqual(await saltAfter(0), { ...next, ahead: 1 })
  })

  test('a visitor gets to the page while the disk is full and no click was ever signed', async () => {
    const { database } = service()
    await changeSettings(operatorOf(database), { programme_page: 'https://shop.test/' })
    const { id } = await service().newAffiliate('first', { status: 'active' })
    const isFull = () => {
      throw new DatabaseUnavailable('SQLite: database or disk is full', undefined, 'full')
    }
    const full = new GuardedDatabase(database, { before: isFull })
    const tracking = new Tracking({ ...operatorOf(database), database: full }, () => true, {
      failed: () => {},
      dropped: () => {},
    })
    const visitor = { method: 'GET', headers: {}, address: '203.0.113.7' }
    const followed = await tracking.links.byCode(String(id))
    const page = await tracking.lead(visitor, { followed, to: null, campaign: null })
    assert.equal(page, 'https://shop.test/')
    await tracking.close()
  })
})
