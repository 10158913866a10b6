/** One request that makes many records, one on each line. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import { resources } from '../../src/app.ts'
import { assertFailure, describeService, type Send } from '../harness.ts'
import { until } from '../load.ts'

type Result = Record<string, any>

const lineOf = (value: object | string) => (typeof value === 'string' ? value : JSON.stringify(value))

describeService('lines', service => {
  let affiliate = 0

  const reply = (path: string, lines: readonly (object | string)[], { headers, ...rest }: Send = {}) =>
    service().post(path, lines.map(lineOf).join('\n'), {
      headers: { 'content-type': 'application/x-ndjson', ...headers },
      ...rest,
    })
  const send = async (path: string, lines: readonly (object | string)[], options?: Send) => {
    const { status, headers, body } = await reply(path, lines, options)
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(headers.get('content-type'), 'application/x-ndjson')
    return (body as string)
      .trimEnd()
      .split('\n')
      .map(text => JSON.parse(text)) as Result[]
  }
  const count = async (path: string) => Number((await service().get(`${path}count=1`)).body.count)
  const codes = (results: Result[]) => results.map(({ status, code = '' }) => `${status} ${code}`.trim())
  const check = async () => {
    for (const { checks, kind } of (await import('../../src/app.ts')).features) {
      for (const find of checks) {
        for await (const wrong of find(service().database.reader)) assert.fail(`${kind.name}: ${wrong}`)
      }
    }
  }

  /** A request whose body does not come. */
  const begin = async () => {
    const one = request(`${service().url}/v1/affiliates`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service().key.token}`,
        'content-type': 'application/x-ndjson',
        expect: '100-continue',
      },
    })
    one.on('error', () => {})
    one.flushHeaders()
    await once(one, 'continue')
    return one
  }

  before(async () => {
    affiliate = (await service().newAffiliate('lines')).id
  })

  test('200 - a byte order mark before the first line', async () => {
    const results = await send('/affiliates', [
      '\uFEFF{"create_user":true,"payment_email":"mark@example.com"}',
    ])
    assert.deepEqual(codes(results), ['201'])
  })

  test('200 - a result for each line, in order; what is wrong with one is named, and stops no other', async () => {
    const other = await service().newAffiliate('taken')
    const results = await send('/affiliates', [
      { create_user: true, payment_email: 'a@lines.example', rate: 12.5 },
      '',
      '{"create_user":',
      { create_user: true, payment_email: 'TAKEN@example.com' },
      { create_user: true, payment_email: 'A@lines.example' },
      { create_user: true, payment_email: 'b@lines.example', username: 'a@lines.example' },
      { create_user: true, payment_email: 'a!@lines.example' },
      { create_user: true, payment_email: 'c@lines.example', rate: 'much', rate_type: 'odd', nonsense: 1 },
      { create_user: true, payment_email: 'c@lines.example', rate_type: 'odd', group_id: 987 },
      { create_user: true },
      { user_id: 1, nonsense: 1 },
      { user_id: 1 },
      { user_id: 987_654 },
      { user_id: other.user_id },
      { user_id: 1, affiliate_id: 5 },
      {},
    ])
    assert.deepEqual(
      results.map(({ line }) => line),
      [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
    )
    assert.deepEqual(
      results.flatMap(({ line, status }) => (status === 201 ? [line] : [])),
      [1, 7, 11],
    )
    assert.equal(results[1]!.code, 'rest_invalid_json')
    // As the same by itself is answered.
    for (const [place, args] of [
      [2, { create_user: true, payment_email: 'TAKEN@example.com' }],
      [3, { create_user: true, payment_email: 'A@lines.example' }],
      [4, { create_user: true, payment_email: 'b@lines.example', username: 'a@lines.example' }],
      [
        6,
        { create_user: true, payment_email: 'c@lines.example', rate: 'much', rate_type: 'odd', nonsense: 1 },
      ],
      [7, { create_user: true, payment_email: 'c@lines.example', rate_type: 'odd', group_id: 987 }],
      [8, { create_user: true }],
      [10, { user_id: 1 }],
      [11, { user_id: 987_654 }],
      [13, { user_id: 1, affiliate_id: 5 }],
      [14, {}],
    ] as const) {
      const { status, body } = await service().post('/affiliates', args)
      const { line: _, ...result } = results[place]!
      assert.deepEqual(result, { status, ...body }, JSON.stringify(args))
    }
    assert.deepEqual(results[9]!.ignored, ['nonsense'])
    const made = results[0]!.affiliate
    assert.deepEqual((await service().get(`/affiliates/${made.id}`)).body, made)
    assert.equal(made.rate, '12.5')
    const login = async (id: number) => (await service().get(`/affiliates/${id}?user=1`)).body.user.user_login
    assert.deepEqual(
      [await login(made.id), await login(results[5]!.affiliate.id)],
      ['a@lines.example', 'a@lines.example-2'],
    )
    const events = (await service().get(`/events?record_kind=affiliate&record_id=${made.id}`)).body
    assert.ok(JSON.stringify(events).includes('affiliate.create'), JSON.stringify(events))
  })

  test('200 - payouts pay their referrals, each once, and the ledger agrees', async () => {
    const [first, second, third] = (
      await send(
        '/referrals',
        [10, 20, 30].map(amount => ({ affiliate_id: affiliate, amount, status: 'unpaid' })),
      )
    ).map(({ referral }) => referral.referral_id)
    const results = await send('/payouts', [
      { affiliate_id: affiliate, amount: 5, referrals: [900_000_000_001, 900_000_000_001] },
      { affiliate_id: affiliate, referrals: [first] },
      { affiliate_id: affiliate, referrals: [first, second] },
      { affiliate_id: affiliate, amount: 7.5, referrals: [second], status: 'failed' },
      { affiliate_id: 987_654, amount: 1 },
      { affiliate_id: affiliate, amount: -1, status: 'odd' },
      { affiliate_id: affiliate, amount: 1.001 },
      { affiliate_id: affiliate },
    ])
    assert.deepEqual(codes(results), [
      '201',
      '201',
      '409 rest_payout_conflict',
      '201',
      '400 rest_invalid_param',
      '400 rest_invalid_param',
      '400 rest_invalid_param',
      '201',
    ])
    assert.deepEqual(Object.keys(results[2]!.data.referrals), [String(first)])
    assert.deepEqual(Object.keys(results[4]!.data.params), ['affiliate_id'])
    assert.deepEqual(Object.keys(results[5]!.data.params), ['amount', 'status'])
    for (const place of [0, 1, 3, 7]) {
      const { payout } = results[place]!
      assert.deepEqual((await service().get(`/payouts/${payout.id}`)).body, payout)
    }
    assert.deepEqual([results[0]!.payout.referrals, results[1]!.payout.amount], ['900000000001', 10])
    const { body } = await service().get(`/affiliates/${affiliate}/balances`)
    assert.deepEqual([body.unpaid, body.paid_out], [50, 15])
    assert.equal((await service().get(`/referrals/${third}`)).body.status, 'unpaid')
    await check()
  })

  test('200 - under its key each line is done once, and answered alike, also when the first was cut off', async () => {
    const lines = Array.from({ length: 600 }, (_, number) => ({
      affiliate_id: number === 300 ? 987_654 : affiliate,
      amount: 1,
      reference: `key ${number}`,
    }))
    const headers = { 'idempotency-key': 'cut off' }
    const before = await count('/payouts?')
    const response = await fetch(`${service().url}/v1/payouts`, {
      method: 'POST',
      headers: {
        ...headers,
        authorization: `Bearer ${service().key.token}`,
        'content-type': 'application/x-ndjson',
      },
      body: lines.map(lineOf).join('\n'),
    })
    const reader = response.body!.getReader()
    const { value } = await reader.read()
    await reader.cancel()
    const heard = new TextDecoder().decode(value).split('\n').slice(0, -1)
    const results = await send('/payouts', lines, { headers })
    assert.equal(results.length, lines.length)
    assert.deepEqual(
      results.slice(0, heard.length),
      heard.map(text => JSON.parse(text)),
    )
    assert.equal(results[300]!.status, 400)
    const again = await reply('/payouts', lines, { headers })
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(
      (again.body as string)
        .trimEnd()
        .split('\n')
        .map(text => JSON.parse(text)),
      results,
    )
    assert.equal(await count('/payouts?'), before + 599)
    assertFailure(await reply('/payouts', lines.slice(1), { headers }), 409, 'rest_idempotency_mismatch')
    const one = { affiliate_id: affiliate, amount: 1 }
    const single = await service().post('/payouts', one, { headers })
    assert.equal(single.status, 409)
  })

  test('500 - a defect that one line meets is the result of that line alone', async () => {
    const { database } = service()
    // Nobody expects that it refuses a row.
    await database.transaction(tx =>
      sql`CREATE UNIQUE INDEX unexpected ON conversions (coupon) WHERE coupon = 'unexpected'`.execute(tx),
    )
    const lines = Array.from({ length: 120 }, (_, number) => ({
      kind: 'sale',
      reference: `defect ${number}`,
      amount: 10,
      affiliate_id: affiliate,
      ...([20, 50, 110].includes(number) && { coupon: 'unexpected' }),
    }))
    const headers = { 'idempotency-key': 'defect' }
    const results = await send('/conversions', lines, { headers })
    const expected = lines.map((_, number) =>
      [50, 110].includes(number) ? '500 rest_internal_error' : '201',
    )
    assert.deepEqual(codes(results), expected)
    assert.ok(!JSON.stringify(results[50]).includes('unexpected'), 'what is wrong inside is for the log')
    assert.deepEqual(codes(await send('/conversions', lines, { headers })), expected)
    assert.deepEqual(
      codes(await send('/conversions', lines)),
      expected.map(code => (code === '201' ? '200' : code)),
    )
    await database.transaction(tx => sql`DROP INDEX unexpected`.execute(tx))
    // An unexpected failure is not an answer to keep: under the same key, what met one is done.
    const mended = await send('/conversions', lines, { headers })
    assert.deepEqual(
      codes(mended),
      expected.map(() => '201'),
    )
    assert.deepEqual(mended[20], results[20])
    assert.deepEqual(await send('/conversions', lines, { headers }), mended)
    await check()
  })

  test('409 - a line beyond what the ledger holds stops no other', async () => {
    const { id } = await service().newAffiliate('vast')
    const { database } = service()
    const line = { affiliate_id: id, amount: 5, status: 'unpaid' }
    await send('/referrals', [line])
    const set = (amount: string) =>
      database.transaction(tx =>
        sql`UPDATE balances SET amount = ${sql.raw(amount)} WHERE affiliate_id = ${id} AND account = 'unpaid'`.execute(
          tx,
        ),
      )
    await set('3999999999999999000')
    const lines = [
      line,
      { ...line, amount: 7 },
      { affiliate_id: affiliate, amount: 1 },
      { ...line, amount: 4 },
    ]
    assert.deepEqual(codes(await send('/referrals', lines)), [
      '201',
      '409 rest_balance_exceeded',
      '201',
      '201',
    ])
    await set('1400')
    await check()
  })

  test('every kind that is created takes lines', async () => {
    const creating = resources.flatMap(({ endpoints }) =>
      endpoints.filter(({ answer }) => answer.status === 201),
    )
    for (const { path, methods, arguments: args, lines } of creating) {
      if (!methods.includes('POST') || path.includes('{') || !lines) continue
      const [empty, wrong] = await send(path, ['{}', '[1]'])
      const { status, body } = await service().post(path, {})
      assert.equal(wrong!.code, 'rest_invalid_json', path)
      if (args.required) {
        const { line: _, ...result } = empty!
        assert.deepEqual(result, { status, ...body }, path)
      }
    }
    const rates = await send('/exchange-rates', [
      { from_currency: 'EUR', rate: 1.1, date: '2026-01-01' },
      { from_currency: 'EUR', rate: 1.2, date: '2026-01-01' },
      { from_currency: 'USD', rate: 1.2, date: '2026-01-01' },
      { from_currency: 'GBP', rate: 1.3, date: '2026-01-01' },
    ])
    assert.deepEqual(
      rates.map(({ status }) => status),
      [201, 409, 400, 201],
    )
  })

  test('400, 415, 429 - no lines, too many, arguments beside them, where one is meant, many at once', async t => {
    assertFailure(await reply('/affiliates', ['', ' ']), 400, 'rest_invalid_param')
    assertFailure(
      await reply(
        '/affiliates',
        Array.from({ length: 10_001 }, () => '{}'),
      ),
      400,
      'rest_invalid_param',
    )
    // However many are empty, they are not taken apart.
    assertFailure(
      await service().post('/affiliates', `${'\n'.repeat(20_001)}{}`, {
        headers: { 'content-type': 'application/x-ndjson' },
      }),
      400,
      'rest_invalid_param',
    )
    const beside = await reply('/affiliates?status=active', [{ user_id: 1 }])
    assert.deepEqual(Object.keys(beside.body.data.params), ['status'])
    assertFailure(
      await service().patch(`/affiliates/${affiliate}`, '{"rate":1}', {
        headers: { 'content-type': 'application/x-ndjson' },
      }),
      415,
      'rest_unsupported_media_type',
    )
    assertFailure(
      await service().post('/conversions/bulk', { reference: 'x' }),
      415,
      'rest_unsupported_media_type',
    )
    assertFailure(
      await reply('/affiliates', ['x'.repeat(8 * 1024 * 1024 + 1)]),
      413,
      'rest_request_too_large',
    )
    const key = await service().newKey(['payouts.read'])
    assert.equal((await reply('/payouts', ['{}'], { key })).status, 403)
    // They are told to go on before they are counted.
    for (const one of await Promise.all(Array.from({ length: 4 }, begin))) t.after(() => one.destroy())
    await until(async () => (await reply('/affiliates', ['{}'])).status === 429)
    assertFailure(await reply('/affiliates', ['{}']), 429, 'rest_too_many_requests')
  })

  test('many records are written by one request at a time, and single ones meanwhile', async t => {
    const { database } = service()
    // The embedded engine has one writer.
    if (database.engine.name === 'SQLite') return t.skip()
    const { id: affiliate_id } = await service().newAffiliate('one.at.a.time')
    const make = async () =>
      (await service().post('/referrals', { affiliate_id, amount: 1 })).body.referral_id
    const [first, second] = [await make(), await make()]
    const released = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    t.after(() => released.resolve())
    const holding = database.transaction(async tx => {
      await sql`SELECT 1`.execute(tx)
      held.resolve()
      await released.promise
    }, 'many')
    await held.promise
    const ended: string[] = []
    const many = [
      send('/referrals', [{ affiliate_id, amount: 1 }]).then(() => ended.push('lines')),
      service()
        .post('/referrals/bulk', { action: 'approve', referral_id: [first, second] })
        .then(({ body }) => ended.push(`bulk ${body.done.length}`)),
    ]
    for (let count = 0; count < 10; count += 1) await make()
    assert.deepEqual(ended, [])
    released.resolve()
    await Promise.all([holding, ...many])
    assert.deepEqual(ended.sort(), ['bulk 2', 'lines'])
  })
})
