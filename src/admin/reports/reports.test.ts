import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertFailure, describeService, type Visitor } from '../../../test/harness.ts'
import { formatDay, formatTime, now } from '../../base/time.ts'

const DAY = 86_400

type Row = Record<string, any>

/** The month that was so many months ago. */
function monthAgo(months: number): string {
  const date = new Date()
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, 1)).toISOString().slice(0, 7)
}

describeService('reports', service => {
  let admin: Visitor
  const affiliates: number[] = []

  before(async () => {
    admin = await service().admin()
    for (let number = 0; number < 12; number += 1) {
      const status = ['active', 'inactive', 'pending', 'rejected'][number % 4]
      affiliates.push((await service().newAffiliate(`reported${number}`, { status })).id)
    }
    const add = async (affiliate: number, args: object, daysAgo: number) => {
      const { id } = await service().newPayout(affiliates[affiliate]!, { ...args })
      const created_at = now() - daysAgo * DAY
      await service().database.transaction(tx =>
        tx.updateTable('payouts').set({ created_at }).where('id', '=', id).execute(),
      )
    }
    for (let number = 0; number < 12; number += 1) {
      await add(number, { amount: 10 + number + 0.1, payout_method: 'paypal' }, 1)
      await add(number, { amount: 0.2, payout_method: '=bank, "old"' }, 40 * number)
    }
    await add(0, { amount: 5, status: 'failed', payout_method: 'never' }, 2)
    await add(0, { amount: 999_999_999_999.99, payout_method: 'paypal' }, 800)
    await service().database.transaction(tx =>
      tx
        .updateTable('affiliates')
        .set({ registered_at: now() - 400 * DAY })
        .where('id', '=', affiliates[3]!)
        .execute(),
    )
  })

  const report = async (path: string) => {
    const reply = await admin.get(`/reports/${path}`)
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return reply.body
  }
  /** What the lists say of the same days. */
  const totals = async (resource: string, { from, to }: { from: string; to: string }, more = '') =>
    (await admin.get(`/${resource}/totals?date[start]=${from}&date[end]=${to}${more}`)).body
  const sum = (rows: Row[], name: string) =>
    Math.round(rows.reduce((total, row) => total + row[name], 0) * 100) / 100

  test('payouts-by-month - twelve months, the empty ones too, and the sums of the lists', async () => {
    const body = await report('payouts-by-month')
    assert.deepEqual([body.span, body.currency], ['12m', 'USD'])
    assert.deepEqual(
      body.rows.map((row: Row) => row.period),
      Array.from({ length: 12 }, (_, index) => monthAgo(11 - index)),
    )
    assert.equal(body.from, `${monthAgo(11)}-01`)
    const all = await totals('payouts', body)
    assert.equal(sum(body.rows, 'count'), all.paid.count)
    assert.equal(sum(body.rows, 'sum'), all.paid.sum)
    assert.equal(sum(body.rows, 'failed_count'), all.failed.count)
    assert.equal(sum(body.rows, 'failed_sum'), all.failed.sum)
    for (const row of body.rows as Row[]) {
      const last = new Date(Date.UTC(+row.period.slice(0, 4), +row.period.slice(5), 0)).toISOString()
      const month = await totals('payouts', { from: `${row.period}-01`, to: last.slice(0, 10) })
      assert.deepEqual([row.count, row.sum], [month.paid.count, month.paid.sum], row.period)
    }
  })

  test('payouts-by-month - thirty days, by day', async () => {
    const body = await report('payouts-by-month?span=30d')
    assert.equal(body.rows.length, 30)
    assert.equal(body.to, formatDay(now()))
    assert.equal(body.rows.at(-1).period, body.to)
    const yesterday = body.rows.at(-2)
    assert.equal(yesterday.count, 12)
    assert.equal(yesterday.sum, 187.2)
    assert.deepEqual([body.rows.at(-3).failed_count, body.rows.at(-3).failed_sum], [1, 5])
  })

  test('payouts-by-month - all time begins with the first, and large sums are exact', async () => {
    const body = await report('payouts-by-month?span=all')
    assert.equal(body.rows[0].period, formatTime(now() - 800 * DAY).slice(0, 7))
    assert.equal(body.rows.at(-1).period, monthAgo(0))
    assert.equal(body.rows[0].sum, 999_999_999_999.99)
    const all = await totals('payouts', body)
    assert.equal(all.sum, (await admin.get('/payouts/totals')).body.sum)
    assert.equal(sum(body.rows, 'count'), all.paid.count)
  })

  test('payouts-by-month - of one affiliate', async () => {
    const id = affiliates[11]!
    const body = await report(`payouts-by-month?span=all&affiliate_id=${id}`)
    assert.equal(body.rows[0].period, formatTime(now() - 440 * DAY).slice(0, 7))
    const { paid } = await totals('payouts', body, `&affiliate_id=${id}`)
    assert.deepEqual([sum(body.rows, 'count'), sum(body.rows, 'sum')], [paid.count, paid.sum])
    const nobody = await report('payouts-by-month?span=all&affiliate_id=987654')
    assert.deepEqual(nobody.rows, [{ period: monthAgo(0), count: 0, sum: 0, failed_count: 0, failed_sum: 0 }])
  })

  test('affiliates-by-month - by the status that they have now', async () => {
    const body = await report('affiliates-by-month?span=all')
    assert.deepEqual(body.rows[0], {
      period: formatTime(now() - 400 * DAY).slice(0, 7),
      active: 0,
      inactive: 0,
      pending: 0,
      rejected: 1,
      total: 1,
    })
    assert.deepEqual(body.rows.at(-1), {
      period: monthAgo(0),
      active: 3,
      inactive: 3,
      pending: 3,
      rejected: 2,
      total: 11,
    })
    const { count, by_status } = await totals('affiliates', body)
    assert.equal(sum(body.rows, 'total'), count)
    assert.equal(sum(body.rows, 'pending'), by_status.pending)
  })

  test('as CSV - the same, with every decimal, and no formulas', async () => {
    const reply = await admin.get('/reports/payouts-by-method?span=30d&format=csv')
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.match(
      reply.headers.get('content-disposition')!,
      /^attachment; filename="payouts-by-method-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv"$/,
    )
    const lines = reply.body.split('\r\n')
    assert.equal(lines[0].replace('\uFEFF', ''), 'payout_method,count,sum')
    assert.ok(lines.includes('"\'=bank, ""old""",1,0.20'), reply.body)
    assert.ok(lines.includes('paypal,12,187.20'), reply.body)
    assert.equal(lines.at(-1), '')
  })

  test('top-affiliates - ten, by what they were paid; one that was deleted is still there', async () => {
    const deleted = affiliates[1]!
    await admin.delete(`/affiliates/${deleted}`)
    for (const [span, first] of [
      ['all', affiliates[0]],
      ['12m', affiliates[11]],
      ['30d', affiliates[11]],
    ] as const) {
      const body = await report(`top-affiliates?span=${span}`)
      assert.equal(body.rows.length, 10)
      assert.equal(body.rows[0].affiliate_id, first)
      const sums = body.rows.map((row: Row) => row.sum)
      assert.deepEqual(
        sums,
        [...sums].sort((a, b) => b - a),
      )
      for (const row of body.rows as Row[]) {
        const { paid } = await totals('payouts', body, `&affiliate_id=${row.affiliate_id}`)
        assert.deepEqual([row.count, row.sum], [paid.count, paid.sum])
      }
    }
    const { rows } = await report('top-affiliates?span=all')
    assert.equal(rows[0].login, 'reported0@example.com')
    await service().database.transaction(tx =>
      tx.updateTable('payouts').set({ amount: 500_000 }).where('affiliate_id', '=', deleted).execute(),
    )
    const [gone] = (await report('top-affiliates?span=30d')).rows
    assert.deepEqual(gone, { affiliate_id: deleted, login: null, display_name: null, count: 1, sum: 5000 })
  })

  test('payouts-by-method - what was paid, in alphabetical order', async () => {
    for (const span of ['30d', '12m', 'all']) {
      const body = await report(`payouts-by-method?span=${span}`)
      assert.deepEqual(
        body.rows.map((row: Row) => row.payout_method),
        ['=bank, "old"', 'paypal'],
      )
      const { paid } = await totals('payouts', body)
      assert.equal(sum(body.rows, 'count'), paid.count)
      assert.equal(sum(body.rows, 'sum'), paid.sum)
    }
  })

  test('400, 404 - what is no span, no format, no report', async () => {
    const wrong = await admin.get('/reports/top-affiliates?span=week&format=xml')
    assertFailure(wrong, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(wrong.body.data.params).sort(), ['format', 'span'])
    assertFailure(await admin.get('/reports/nothing'), 404, 'rest_no_route')
  })
})

describeService('reports: more than an integer of the database holds', service => {
  test('200 - sums are exact', async () => {
    const admin = await service().admin()
    const { id } = await service().newAffiliate('rich')
    await service().newPayout(id, { amount: 1 })
    const { reader } = service().database
    const { id: _, ...payout } = await reader.selectFrom('payouts').selectAll().executeTakeFirstOrThrow()
    const more = Array.from({ length: 99 }, () => ({ ...payout, amount: Number.MAX_SAFE_INTEGER }))
    for (let batch = 0; batch < 11; batch += 1) {
      await service().database.transaction(tx => tx.insertInto('payouts').values(more).execute())
    }
    const units = BigInt(Number.MAX_SAFE_INTEGER) * 1089n + 100n
    const exact = `${units / 100n}.${units % 100n}`
    assert.equal((await admin.get('/payouts/totals')).body.paid.sum, Number(exact))
    for (const name of ['payouts-by-month', 'top-affiliates', 'payouts-by-method']) {
      const { status, body } = await admin.get(`/reports/${name}?format=csv`)
      assert.equal(status, 200, name)
      assert.ok(body.includes(exact), `${name}: ${body}`)
    }
  })
})

describeService('reports: an empty database', service => {
  test('200 - every report has its rows, and nothing in them', async () => {
    const admin = await service().admin()
    for (const span of ['30d', '12m', 'all']) {
      const months = { '30d': 30, '12m': 12, all: 1 }[span]
      const get = async (name: string) => (await admin.get(`/reports/${name}?span=${span}`)).body.rows
      assert.equal((await get('payouts-by-month')).length, months)
      assert.equal((await get('affiliates-by-month')).length, months)
      assert.deepEqual(await get('top-affiliates'), [])
      assert.deepEqual(await get('payouts-by-method'), [])
    }
  })
})
