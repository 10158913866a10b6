import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { assertFailure, describeService } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { DAY_SECONDS, dayOf, formatTime, now } from '../../base/time.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { pruneVisits } from './pruning.ts'
import { withoutAffiliate } from './url.ts'

const FIELDS = [
  'visit_id',
  'affiliate_id',
  'referral_id',
  'rest_id',
  'url',
  'referrer',
  'campaign',
  'context',
  'ip',
  'date',
  'id',
]

describeService('visits', service => {
  let affiliate: { id: number }
  before(async () => {
    affiliate = await service().newAffiliate('walker')
  })
  const create = (args: object) => service().post('/visits', { affiliate_id: affiliate.id, ...args })
  const visitsOf = async (id: number) => (await service().get(`/affiliates/${id}`)).body.visits
  const fresh = async (name: string) => (await service().newAffiliate(name)).id as number

  test('201 - everything in the query and an empty body, as client programs send it', async () => {
    const id = await fresh('query')
    const query = `affiliate_id=${id}&url=https://shop.test/?ref=${id}&ip=203.0.113.77&campaign=&referrer=`
    const reply = await service().post(`/visits?${query}`, '', {
      headers: { 'content-type': 'application/json' },
    })
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    assert.deepEqual(Object.keys(reply.body), FIELDS)
    const { visit_id, date, ...rest } = reply.body
    assert.deepEqual(rest, {
      affiliate_id: id,
      referral_id: 0,
      rest_id: '',
      url: 'https://shop.test/',
      referrer: '',
      campaign: '',
      context: '',
      ip: '203.0.113.0',
      id: visit_id,
    })
    assert.match(date, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    assert.deepEqual((await service().get(`/visits/${visit_id}`)).body, reply.body)
    assert.ok(reply.headers.get('location')!.endsWith(`/v1/visits/${visit_id}`))
  })

  test('200 - those of a day, in the order of identifiers, by cursor as well', async () => {
    const day = '2019-03-04'
    const dates = [`${day} 23:59:59`, '2019-03-05 00:00:00', day, '2019-03-03 23:59:59', `${day} 12:00:00`]
    const ids: number[] = []
    for (const date of dates) ids.push((await create({ date })).body.visit_id)
    const ofDay = ids.filter((_, place) => dates[place]!.startsWith(day))
    const listed = async (query: string) => {
      const { body, headers } = await service().get(`/visits?date=${day}&${query}`)
      return {
        ids: body.map((visit: { visit_id: number }) => visit.visit_id),
        link: headers.get('link') ?? '',
      }
    }
    assert.deepEqual((await listed('')).ids, ofDay)
    assert.deepEqual((await listed('order=desc')).ids, ofDay.toReversed())
    assert.deepEqual((await listed('orderby=date')).ids, [ids[2], ids[4], ids[0]])
    const first = await listed('number=2')
    assert.deepEqual(first.ids, ofDay.slice(0, 2))
    const [, cursor] = /[?&](cursor=[^&>]+)/.exec(first.link)!
    assert.deepEqual((await listed(`number=2&${cursor}`)).ids, ofDay.slice(2))
  })

  test('a visit that two referrals name counts for the other one when the first counts no more', async () => {
    const [id, other] = [await fresh('first'), await fresh('second')]
    const { visit_id } = (await create({ affiliate_id: id })).body
    const earned = async () =>
      (await service().post('/referrals', { affiliate_id: id, amount: 5, status: 'unpaid', visit_id })).body
        .id
    const [first, second] = [await earned(), await earned()]
    const creditedTo = async () => (await service().get(`/visits/${visit_id}`)).body.referral_id
    const change = (referral: number, change: object) => service().patch(`/referrals/${referral}`, change)
    assert.equal(await creditedTo(), first)
    await change(first, { status: 'rejected' })
    assert.equal(await creditedTo(), second)
    await change(first, { status: 'unpaid' })
    assert.equal(await creditedTo(), second)
    await change(second, { affiliate_id: other })
    assert.equal(await creditedTo(), first)
    await service().delete(`/referrals/${first}`)
    assert.equal(await creditedTo(), 0)
  })

  test('a visit that many lines of one request name is converted once', async () => {
    const id = await fresh('lines')
    await service().patch(`/affiliates/${id}`, { status: 'active' })
    const { visit_id } = (await create({ affiliate_id: id, campaign: 'of lines' })).body
    const lines = [1, 2, 3].map(number =>
      JSON.stringify({ kind: 'sale', amount: 5, visit_id, reference: `line${number}` }),
    )
    const headers = { 'content-type': 'application/x-ndjson' }
    const { status } = await service().post('/conversions', lines.join('\n'), { headers })
    assert.equal(status, 200)
    assert.equal((await service().get(`/referrals?visit_id=${visit_id}`)).body.length, 3)
    const { reader } = service().database
    for (const table of ['visit_days', 'visit_totals'] as const) {
      // Each connection to PostgreSQL adds to a row of its own.
      const rows = await reader
        .selectFrom(table)
        .select(['visits', 'converted'])
        .where('campaign', '=', 'of lines')
        .execute()
      const sumOf = (count: 'visits' | 'converted') => rows.reduce((sum, row) => sum + row[count], 0)
      assert.deepEqual([sumOf('visits'), sumOf('converted')], [1, 1], table)
    }
  })

  test('visits are removed once they are older than the setting says; what they add up to stays', async () => {
    const { database } = service()
    const admin = await service().admin()
    const id = await fresh('pruned')
    const onDay = async (daysAgo: number) => {
      const date = formatTime((dayOf(now()) - daysAgo) * DAY_SECONDS)
      return (await create({ affiliate_id: id, date })).body.id as number
    }
    await onDay(31)
    const [last, today] = [await onDay(30), await onDay(0)]
    assert.equal((await admin.patch('/settings', { visit_days: 30 })).status, 200)
    assert.equal(await database.transaction(pruneVisits), false)
    const { body: kept } = await service().get(`/visits?affiliate_id=${id}&orderby=id&order=asc`)
    assert.deepEqual(
      kept.map((visit: any) => visit.id),
      [last, today],
    )
    assert.equal(await visitsOf(id), 3)
    // Removed visits do not come back with a longer setting, and nothing is wrong with that.
    assert.equal((await admin.patch('/settings', { visit_days: 90 })).status, 200)
    assert.deepEqual((await checkDatabase(database, features)).problems, [])
  })

  test('two requests of many visits do not wait for each other', async () => {
    const ids = [await fresh('left'), await fresh('right')]
    const headers = { 'content-type': 'application/x-ndjson' }
    const send = (id: number) => {
      const lines = Array.from({ length: 500 }, (_, number) =>
        JSON.stringify({ affiliate_id: id, campaign: `c${number % 7}` }),
      )
      return service().post('/visits', lines.join('\n'), { headers })
    }
    const deadlocks = async () => {
      if (service().database.engine.name !== 'PostgreSQL') return 0
      const { rows } = await sql<{ deadlocks: number }>`
        SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`.execute(
        service().database.reader,
      )
      return Number(rows[0]!.deadlocks)
    }
    const before = await deadlocks()
    const replies = await Promise.all([...ids, ...ids].map(send))
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200, 200],
    )
    // What a backend has counted is told once it is idle.
    await delay(1500)
    assert.equal(await deadlocks(), before)
  })

  test('201 - with all that can be sent', async () => {
    const sent = {
      referral_id: 7,
      rest_id: '1:9',
      url: 'https://shop.test/a?x=1',
      referrer: 'https://blog.test/?ref=3',
      campaign: 'Spring',
      date: '2026-01-02 03:04:05',
    }
    const { status, body } = await create({ ...sent, context: 'EDD', ip: '2001:db8:1:2:3:4:5:6' })
    assert.equal(status, 201)
    const { visit_id: _visit, id: _id, ...rest } = body
    assert.deepEqual(rest, { affiliate_id: affiliate.id, ...sent, context: 'edd', ip: '2001:db8:1::' })
  })

  test('201 - no database ever holds the whole address', async () => {
    const { body } = await create({ ip: '::ffff:198.51.100.9' })
    assert.equal(body.ip, '198.51.100.0')
    const { body: edited } = await service().patch(`/visits/${body.id}`, { ip: '198.51.101.200' })
    assert.equal(edited.ip, '198.51.101.0')
    const row = await service()
      .database.reader.selectFrom('visits')
      .select('ip')
      .where('id', '=', body.id)
      .execute()
    assert.equal(row[0]!.ip, '198.51.101.0')
  })

  test('201 - an address as proxies pass it on, and long urls, which are cut', async () => {
    for (const [sent, kept] of [
      ['198.51.100.9, 10.0.0.1', '198.51.100.0'],
      ['unknown, 198.51.100.9', '198.51.100.0'],
      ['198.51.100.9:52044', '198.51.100.0'],
      ['[2001:db8:1:2::3]:52044', '2001:db8:1::'],
      ['[2001:db8:1:2::3]', '2001:db8:1::'],
      [`${'2001:db8:1111:2222:3333:4444:5555:6666, '.repeat(3)}::1`, '2001:db8:1111::'],
      ['unknown', ''],
      [' , ', ''],
    ] as const) {
      const { status, body } = await create({ ip: sent })
      assert.deepEqual([status, body.ip], [201, kept], sent)
    }
    const { body: visit } = await create({ ip: '198.51.100.9' })
    assert.equal((await service().patch(`/visits/${visit.id}`, { ip: 'unknown' })).body.ip, '')
    const page = `https://shop.test/?gclid=${'a'.repeat(2000)}`
    const long = `${page}${'😀'.repeat(2000)}`
    const { status, body } = await create({ url: `${long}&ref=1`, referrer: long })
    assert.equal(status, 201)
    for (const kept of [body.url, body.referrer]) {
      assert.ok(kept.startsWith(page) && kept.length === 2048 && kept.isWellFormed(), kept)
    }
    const query = `affiliate_id=${affiliate.id}&url=${'u'.repeat(6000)}&referrer=${'r'.repeat(6000)}`
    assert.equal((await service().post(`/visits?${query}`)).status, 201)
  })

  test('201 - a campaign that is escaped once more, or is too long, which is cut', async () => {
    const by = async (campaign: string) =>
      (await service().post(`/visits?affiliate_id=${affiliate.id}&campaign=${campaign}`)).body
    for (const [sent, kept] of [
      ['summer%2520sale', 'summer sale'],
      ['summer+sale', 'summer sale'],
      ['a%252Bb%20100%25', 'a+b 100%'],
      ['%25C3%25BC%25e2%2582%25ac%25F0%259F%2598%2580', 'ü€😀'],
      ['%25252520', '%2520'],
      ['a%2500b%250Ac%2580%25C3%25ZZ%25E2%2582%25ED%25A0%2580', 'a%00b%0Ac%80%C3%ZZ%E2%82%ED%A0%80'],
      [`${'%25C3%25BC'.repeat(200)}`, 'ü'.repeat(190)],
      ['%F0%9F%98%80'.repeat(200), '😀'.repeat(190)],
    ] as const) {
      assert.equal((await by(sent)).campaign, kept, sent)
    }
    const { visit_id } = await by('summer%2520sale')
    const listed = (await service().get('/visits?campaign=summer%20sale&fields=ids')).body
    assert.ok(listed.includes(visit_id))
    const { body } = await service().patch(`/visits/${visit_id}`, { campaign: 'a%20b' })
    assert.equal(body.campaign, 'a%20b')
    const long = await service().patch(`/visits/${visit_id}`, { campaign: 'x'.repeat(191) })
    assertFailure(long, 400, 'rest_invalid_param')
  })

  test('400 - an affiliate who is not there, an address that is none, a url that is too long: all are named', async () => {
    const { body } = await service().post('/visits', { affiliate_id: 999_999, ip: 'somewhere' })
    assert.deepEqual(body.data.params, {
      affiliate_id: 'must be the identifier of an existing affiliate.',
      ip: 'must be an IPv4 or IPv6 address, or empty.',
    })
    const long = await create({ url: `https://shop.test/${'a'.repeat(65_536)}` })
    assertFailure(long, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(long.body.data.params), ['url'])
    assertFailure(await service().post('/visits', {}), 400, 'rest_missing_callback_param')
  })

  test('each counts for its affiliate, who does not change by it', async () => {
    const [id, other] = [await fresh('counted'), await fresh('other')]
    const changed = async () =>
      (
        await service()
          .database.reader.selectFrom('affiliates')
          .select('updated_at')
          .where('id', '=', id)
          .execute()
      )[0]!
    const unchanged = await changed()
    const made = await Promise.all(Array.from({ length: 5 }, () => create({ affiliate_id: id })))
    assert.deepEqual([await visitsOf(id), await changed()], [5, unchanged])
    await service().delete(`/visits/${made[0]!.body.id}`)
    assert.equal(await visitsOf(id), 4)
    await service().patch(`/visits/${made[1]!.body.id}`, { affiliate_id: other })
    assert.deepEqual([await visitsOf(id), await visitsOf(other)], [3, 1])
    assertFailure(await create({ affiliate_id: id, ip: 'x' }), 400, 'rest_invalid_param')
    assert.equal(await visitsOf(id), 3)
  })

  test('a visit of an affiliate who was deleted can still be edited and deleted', async () => {
    const id = await fresh('leaver')
    const { body } = await create({ affiliate_id: id })
    await service().delete(`/affiliates/${id}`)
    assert.equal(
      (await service().patch(`/visits/${body.id}`, { affiliate_id: id, campaign: 'x' })).status,
      200,
    )
    assert.equal((await service().delete(`/visits/${body.id}`)).status, 200)
    assertFailure(await service().get(`/visits/${body.id}`), 404, 'invalid_visit_id')
  })

  test('programs read no events of visits, the log has those that were changed by hand', async () => {
    const { body } = await create({})
    await service().patch(`/visits/${body.id}`, { campaign: 'new' })
    await service().delete(`/visits/${body.id}`)
    const kept = await service()
      .database.reader.selectFrom('events')
      .select('action')
      .where('record_kind', '=', 'visit')
      .where('record_id', '=', body.id)
      .orderBy('id')
      .execute()
    assert.deepEqual(
      kept.map(({ action }) => action),
      ['visit.edit', 'visit.delete'],
    )
    const { body: events } = await service().get('/events?number=0')
    assert.equal(JSON.stringify(events).includes('visit.'), false)
  })

  test('a list is narrowed by what describes a visit', async () => {
    const id = await fresh('listed')
    const one = (args: object) => create({ affiliate_id: id, ...args }).then(({ body }) => body.id as number)
    const a = await one({ campaign: 'red', context: 'edd', ip: '192.0.2.9', date: '2026-02-01' })
    const b = await one({
      campaign: 'blue',
      url: 'https://Shop.test/Büro',
      referral_id: 5,
      date: '2026-02-02',
    })
    const c = await one({ referrer: 'https://blog.test/x', date: '2026-02-03' })
    for (const [query, expected] of [
      ['campaign=red', [a]],
      ['visit_context=edd', [a]],
      ['context=edd', [a]],
      ['referral_id=5', [b]],
      ['referral_status=converted', [b]],
      ['filter[referral_status]=unconverted', [a, c]],
      ['search=BLOG', [c]],
      [`search=${encodeURIComponent('BÜRO')}`, [b]],
      ['search=192.0.2.77', [a]],
      ['search=192.0.2', [a]],
      ['date[start]=2026-02-02', [b, c]],
      ['orderby=date&order=desc', [c, b, a]],
    ] as const) {
      const { body } = await service().get(`/visits?affiliate_id=${id}&fields=ids&${query}`)
      assert.deepEqual(body, expected, query)
    }
  })

  test('an unpaid referral makes its visit one that led to something, once', async () => {
    const { body: visit } = await create({})
    const refer = (args: object) =>
      service().post('/referrals', { affiliate_id: affiliate.id, visit_id: visit.id, ...args })
    const led = async () => (await service().get(`/visits/${visit.id}`)).body.referral_id
    const { body: pending } = await refer({})
    assert.equal(await led(), 0)
    await service().patch(`/referrals/${pending.id}`, { status: 'unpaid' })
    assert.equal(await led(), pending.id)
    assert.equal((await refer({ status: 'unpaid' })).status, 201)
    assert.equal(await led(), pending.id)
    const { body: foreign } = await create({ affiliate_id: await fresh('foreign') })
    await refer({ visit_id: foreign.id, status: 'unpaid' })
    assert.equal((await service().get(`/visits/${foreign.id}`)).body.referral_id, 0)
  })
})

test('what names the affiliate is cut off from a url, and nothing else', () => {
  for (const [url, expected] of [
    ['https://shop.test/?ref=5', 'https://shop.test/'],
    ['https://shop.test/a?x=1&ref=ada&y=ä b#top', 'https://shop.test/a?x=1&y=ä b#top'],
    ['https://shop.test/ref/5', 'https://shop.test'],
    ['https://shop.test/a/ref/ada/?x=1', 'https://shop.test/a/?x=1'],
    ['https://shop.test/a?href=1&xref=2&to=/ref/x', 'https://shop.test/a?href=1&xref=2&to=/ref/x'],
    ['https://shop.test/prefix/ref', 'https://shop.test/prefix/ref'],
    ['https://shop.test/?', 'https://shop.test/?'],
    ['', ''],
  ] as const) {
    assert.equal(withoutAffiliate(url), expected)
  }
})
