import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertFailure, describeService, type Visitor } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { formatDay, now } from '../../base/time.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { pruneVisits } from '../../programme/visits/pruning.ts'

type Row = Record<string, any>

const DAY = 86_400

const dayAgo = (days: number) => formatDay(now() - days * DAY)

describeService('reports: earning', service => {
  let admin: Visitor
  const affiliates: number[] = []

  const report = async (path: string) => {
    const reply = await admin.get(`/reports/${path}`)
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return reply.body
  }
  const add = async (affiliate: number, args: object) => {
    const reply = await service().post('/referrals', { affiliate_id: affiliates[affiliate], ...args })
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return reply.body
  }

  before(async () => {
    admin = await service().admin()
    for (const name of ['ada', 'bo', 'cy']) affiliates.push((await service().newAffiliate(name)).id)
    for (let number = 0; number < 6; number += 1) {
      const { visit_id } = (
        await service().post('/visits', {
          affiliate_id: affiliates[number % 2],
          campaign: number % 2 === 0 ? 'spring' : 'autumn',
          date: `${dayAgo(number)} 08:00:00`,
        })
      ).body
      if (number > 3) continue
      await add(number % 2, {
        amount: 10 + number,
        status: 'unpaid',
        visit_id,
        campaign: number % 2 === 0 ? 'spring' : 'autumn',
        date: `${dayAgo(number)} 23:59:59`,
      })
    }
    await add(0, { amount: 5, date: dayAgo(2) })
    await add(0, { amount: 7, status: 'rejected', date: dayAgo(2) })
    await add(1, { amount: -3, type: 'refund', status: 'unpaid', date: dayAgo(1) })
    await add(2, { amount: -2.5, type: 'write_off', date: dayAgo(1) })
    // What was earned in the ten days before the last ten.
    const old = await add(1, { amount: 100, status: 'unpaid', date: dayAgo(12) })
    await service().newPayout(affiliates[1]!, { referrals: [old.referral_id] })
  })

  test('earnings-by-month - as the lists say, with totals, and the time before', async () => {
    const body = await report(`earnings-by-month?from=${dayAgo(9)}&to=${dayAgo(0)}`)
    assert.deepEqual([body.span, body.from, body.to], ['days', dayAgo(9), dayAgo(0)])
    assert.equal(body.rows.length, 10)
    const owed = 10 + 11 + 12 + 13 - 3 - 2.5
    assert.deepEqual(body.rows.at(-3), {
      period: dayAgo(2),
      referrals: 1,
      earned: 12,
      pending: 5,
      refused: 7,
      written_off: 0,
      paid: 0,
      // The ledger has it from the moment that it was posted.
      owed: 0,
    })
    assert.deepEqual(body.rows.at(-1).owed, owed)
    assert.deepEqual(body.totals, {
      referrals: 4,
      earned: 43,
      pending: 5,
      refused: 7,
      written_off: 2.5,
      paid: 100,
      owed,
    })
    assert.deepEqual(body.before, {
      from: dayAgo(19),
      to: dayAgo(10),
      referrals: 1,
      earned: 100,
      pending: 0,
      refused: 0,
      written_off: 0,
      paid: 0,
      owed: 0,
    })
    const all = await report('earnings-by-month?span=all')
    assert.equal(all.before, undefined)
    assert.equal(all.totals.earned, 143)
    const { unpaid_earnings } = (await service().get(`/affiliates/${affiliates[1]}`)).body
    const own = await report(`earnings-by-month?span=30d&affiliate_id=${affiliates[1]}`)
    assert.equal(own.rows.at(-1).owed, unpaid_earnings)
    assert.equal(own.totals.earned, 11 + 13 - 3 + 100)
  })

  test('conversion-by-month - visits, and those that led to a referral', async () => {
    const body = await report(`conversion-by-month?from=${dayAgo(9)}`)
    assert.deepEqual(body.rows.at(-1), { period: dayAgo(0), visits: 1, converted: 1, rate: 100 })
    assert.deepEqual(body.rows.at(-6), { period: dayAgo(5), visits: 1, converted: 0, rate: 0 })
    assert.deepEqual(body.totals, { visits: 6, converted: 4, rate: 66.67 })
    assert.deepEqual(body.before, { from: dayAgo(19), to: dayAgo(10), visits: 0, converted: 0, rate: 0 })
    const { totals } = await report(`conversion-by-month?span=all&affiliate_id=${affiliates[0]}`)
    assert.deepEqual(totals, { visits: 3, converted: 2, rate: 66.67 })
  })

  test('best-affiliates, best-campaigns - who earned most, in all time and in a span', async () => {
    const login = (name: string) => `${name}@example.com`
    for (const choice of ['span=all', 'span=30d']) {
      const { rows } = await report(`best-affiliates?${choice}`)
      assert.deepEqual(
        rows.map((row: Row) => [
          row.affiliate_id,
          row.login,
          row.referrals,
          row.earned,
          row.visits,
          row.rate,
        ]),
        [
          [affiliates[1], login('bo'), 3, 121, 3, 66.67],
          [affiliates[0], login('ada'), 2, 22, 3, 66.67],
        ],
      )
      const campaigns = (await report(`best-campaigns?${choice}`)).rows
      assert.deepEqual(campaigns, [
        { campaign: 'autumn', referrals: 2, earned: 24, visits: 3, converted: 2, rate: 66.67 },
        { campaign: 'spring', referrals: 2, earned: 22, visits: 3, converted: 2, rate: 66.67 },
      ])
    }
    const { rows } = await report(`best-affiliates?from=${dayAgo(0)}&to=${dayAgo(0)}`)
    assert.deepEqual(
      rows.map((row: Row) => row.affiliate_id),
      [affiliates[0]],
    )
  })

  test('visits that are edited or deleted, or whose referrals come and go - the reports follow', async () => {
    const counts = async (choice = '') => {
      const { totals } = await report(`conversion-by-month?span=all${choice}`)
      return [totals.visits, totals.converted]
    }
    const [visits, converted] = await counts()
    const others = await counts(`&affiliate_id=${affiliates[1]}`)
    const sent = { affiliate_id: affiliates[0], campaign: 'moved' }
    const { id } = (await service().post('/visits', { ...sent, date: `${dayAgo(4)} 23:59:59` })).body
    assert.deepEqual(await counts(), [visits + 1, converted])
    const named = ['one', 'two'].map(reference =>
      service().post('/referrals', {
        affiliate_id: affiliates[0],
        amount: 1,
        visit_id: id,
        status: 'unpaid',
        reference,
      }),
    )
    const [first, second] = (await Promise.all(named)).map(({ body }) => body.referral_id)
    assert.deepEqual(await counts(), [visits + 1, converted + 1])
    await service().patch(`/visits/${id}`, { affiliate_id: affiliates[1], date: `${dayAgo(3)} 00:00:00` })
    assert.deepEqual(await counts(`&affiliate_id=${affiliates[1]}`), [others[0] + 1, others[1] + 1])
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
    for (const referral of [first, second]) await service().delete(`/referrals/${referral}`)
    assert.deepEqual(await counts(), [visits + 1, converted])
    await service().delete(`/visits/${id}`)
    assert.deepEqual(await counts(), [visits, converted])
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })

  test('visits that are no longer kept one by one - the same reports and figures', async () => {
    const reports = async () =>
      Promise.all(
        ['conversion-by-month?span=all', 'best-affiliates?span=30d', 'best-campaigns?span=all'].map(report),
      )
    const figures = async () => (await service().get('/affiliates?fields=visits,affiliate_id')).body
    const before = [await reports(), await figures()]
    const oldest = (await service().get('/visits?orderby=date&number=1')).body[0].visit_id
    await service().patch(`/visits/${oldest}`, { context: 'edited' })
    await admin.patch('/settings', { visit_days: 3 })
    while (await service().database.transaction(pruneVisits));
    const kept = (await service().get('/visits')).body
    assert.deepEqual(kept.map((visit: Row) => visit.date.slice(0, 10)).toSorted(), [
      dayAgo(3),
      dayAgo(2),
      dayAgo(1),
      dayAgo(0),
    ])
    assert.deepEqual([await reports(), await figures()], before)
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
    // One that is recorded afterwards, with a date before those that are kept.
    const late = { affiliate_id: affiliates[0], date: `${dayAgo(40)} 00:00:00` }
    const { body: visit } = await service().post('/visits', late)
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
    await service().delete(`/visits/${visit.visit_id}`)
    // What was removed is not expected back when visits are kept for longer again.
    await admin.patch('/settings', { visit_days: 90 })
    const { body: later } = await service().post('/visits', late)
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
    await service().delete(`/visits/${later.visit_id}`)
  })

  test('any days - by day up to 92, else by month, whose ends may be parts', async () => {
    const days = await report('earnings-by-month?from=2024-01-31&to=2024-05-01')
    assert.equal(days.rows.length, 92)
    const months = await report('earnings-by-month?from=2024-01-31&to=2024-05-02')
    assert.deepEqual(
      months.rows.map((row: Row) => row.period),
      ['2024-01', '2024-02', '2024-03', '2024-04', '2024-05'],
    )
    assert.deepEqual([months.before.from, months.before.to], ['2023-10-30', '2024-01-30'])
    const { before: year } = await report('earnings-by-month?from=2024-01-01&to=2024-12-31')
    assert.deepEqual([year.from, year.to], ['2023-01-01', '2023-12-31'])
    const { from } = await report(`payouts-by-month?to=${dayAgo(0)}`)
    assert.equal(from, dayAgo(0))
  })

  test('all time - what is dated a thousand years ahead takes no month from the rest', async () => {
    const path = 'conversion-by-month?span=all'
    const { totals, rows } = await report(path)
    const { visit_id } = (
      await service().post('/visits', { affiliate_id: affiliates[0], date: '3026-01-01' })
    ).body
    const after = await report(path)
    assert.deepEqual([after.totals, after.rows[0]], [totals, rows[0]])
    await service().delete(`/visits/${visit_id}`)
  })

  test('as CSV - amounts with every decimal', async () => {
    const { body, headers } = await admin.get(`/reports/best-campaigns?from=${dayAgo(9)}&format=csv`)
    assert.match(headers.get('content-disposition')!, /best-campaigns-\d{4}-\d\d-\d\d-/)
    assert.ok(body.includes('autumn,2,24.00,3,2,66.67\r\n'), body)
  })

  test('400 - what are no days', async () => {
    for (const [query, name] of [
      ['from=2024-02-30', 'from'],
      ['from=2024-02-02&to=2024-02-01', 'to'],
      ['from=1900-01-01&to=2024-02-01', 'to'],
    ] as const) {
      const wrong = await admin.get(`/reports/earnings-by-month?${query}`)
      assertFailure(wrong, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(wrong.body.data.params), [name])
    }
  })
})

describeService('reports: while others write', service => {
  test('earnings-by-month - each row is of the moment that all others are of', async () => {
    const admin = await service().admin()
    const { id } = await service().newAffiliate('busy')
    let isOver = false
    const write = async () => {
      while (!isOver) {
        const reply = await service().post('/referrals', { affiliate_id: id, amount: 5, status: 'unpaid' })
        assert.equal(reply.status, 201, JSON.stringify(reply.body))
      }
    }
    const read = async () => {
      for (let number = 0; number < 40; number += 1) {
        const { rows, totals } = (await admin.get('/reports/earnings-by-month?span=30d')).body
        const today = rows.pop()
        assert.ok(
          rows.every(({ owed }: Row) => owed === 0),
          JSON.stringify(rows.at(-1)),
        )
        assert.deepEqual(
          [today.owed, today.referrals, totals.owed],
          [today.earned, today.earned / 5, today.earned],
        )
      }
    }
    const writing = Promise.all([write(), write(), write()])
    try {
      await read()
    } finally {
      isOver = true
      await writing
    }
  })
})
