import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { assertFailure, describeService, type Reply, type Service } from '../harness.ts'

const json = { 'content-type': 'application/json' }

describeService('arguments', service => {
  const create = (query: string, body?: unknown, headers?: Record<string, string>) =>
    service().post(`/affiliates${query}`, body, headers ? { headers } : {})

  test('201 - from the query', async () => {
    const { status, body } = await create('?create_user=yes&payment_email=query%2B1@example.com&rate=5')
    assert.equal(status, 201)
    assert.equal(body.payment_email, 'query+1@example.com')
    assert.equal(body.rate, '5')
  })

  test('201 - from a form', async () => {
    const form = new URLSearchParams({ create_user: 'on', payment_email: 'form@example.com', notes: 'ä + b' })
    assert.equal((await create('', form)).status, 201)
  })

  test('201 - from a multipart body', async () => {
    const form = new FormData()
    form.set('create_user', '1')
    form.set('payment_email', 'multipart@example.com')
    form.set('notes', 'two\r\nlines')
    assert.equal((await create('', form)).status, 201)
    const withFile = new FormData()
    withFile.set('create_user', '1')
    withFile.set('payment_email', new Blob(['by-file@example.com']), 'address.txt')
    assert.equal((await create('', withFile)).body.payment_email, 'by-file@example.com')
    const lists = new FormData()
    lists.set('affiliate_id', '1')
    lists.append('referrals[]', '4')
    lists.append('referrals[]', '2')
    assert.equal((await service().post('/payouts', lists)).body.referrals, '4,2')
  })

  test('400 - an identifier of a new record, by which an edit is meant', async () => {
    const { body: payout } = await service().post('/payouts', { affiliate_id: 1, amount: 3 })
    const { body: creative } = await service().post('/creatives', { name: 'Banner' })
    const post = (path: string) => service().post(path, undefined)
    const editing = `/payouts?payout_id=${payout.payout_id}&affiliate_id=1&status=failed`
    assertFailure(await post(editing), 400, 'affwp_rest_payout_exists')
    assertFailure(await post(`/creatives?id=${creative.id}&name=Two`), 400, 'affwp_rest_creative_exists')
    const sent = { creative_id: creative.id, name: 'Two' }
    assertFailure(await service().post('/creatives', sent), 400, 'affwp_rest_creative_exists')
    for (const none of ['', '0']) {
      assert.equal((await post(`/referrals?affiliate_id=1&amount=1&referral_id=${none}`)).status, 201)
    }
    assert.equal((await service().post('/creatives', { creative_id: '', id: 0, name: 'Two' })).status, 201)
    const rule = '/rules?name=New&rate_type=percentage&rate=5&affiliate_id=1&rule_id='
    assertFailure(await post(`${rule}{}`), 400, 'affwp_rest_rule_exists')
    for (const none of ['', '0']) assert.equal((await post(rule + none)).status, 201)
    const inside = { rule_id: { toString: '' }, name: 'New' }
    assertFailure(await service().post('/rules', inside), 400, 'affwp_rest_rule_exists')
    const lines = ['{"affiliate_id":1}', '{"affiliate_id":1,"id":5}'].join('\n')
    const headers = { 'content-type': 'application/x-ndjson' }
    assert.match(
      (await service().post('/visits', lines, { headers })).body,
      /^.*201.*\n.*affwp_rest_visit_exists/,
    )
  })

  test('201 - the body goes before the query', async () => {
    const reply = await create('?rate=1&status=active', {
      create_user: true,
      payment_email: 'before@example.com',
      rate: 2,
    })
    assert.equal(reply.body.rate, '2')
    assert.equal(reply.body.status, 'active')
  })

  test('200 - the path goes before both', async () => {
    const { id } = await service().newAffiliate('path')
    const reply = await service().patch(`/affiliates/${id}?affiliate_id=1`, { affiliate_id: 2, rate: 3 })
    assert.equal(reply.body.id, id)
    assert.equal(reply.headers.get('x-ignored-arguments'), null)
  })

  test('400 - a number where text belongs, and what to do about it', async () => {
    const sent = { kind: 'sale', context: 'shop', reference: 1001, amount: 1, customer: { id: 77 } }
    const reply = await service().post('/conversions', sent)
    assertFailure(reply, 400, 'rest_invalid_param')
    for (const name of ['reference', 'customer'])
      assert.match(reply.body.data.params[name], /Send it as text, in quotes\.$/)
    const other = await service().post('/affiliates', { create_user: 2, user_id: 1, status: 0, rate_type: 5 })
    assert.equal(other.body.data.params.create_user, 'must be true or false.')
    assert.equal(other.body.data.params.status, 'must be one of: active, inactive, pending, rejected.')
    const dated = await service().post('/payouts', { affiliate_id: 1, date: 1_767_225_600 })
    assert.match(dated.body.data.params.date, /in UTC\)\.$/)
  })

  test('400 - of an object or a list, what is wrong within', async () => {
    const sale = { kind: 'sale', context: 'shop', reference: 'within', amount: 10, affiliate_id: 1 }
    const sent = {
      ...sale,
      references: ['one', 2],
      customer: { email: 'nobody', country: 'de' },
      lines: [{ product: 'mug' }, { product: 'cup', amount: 'much' }],
    }
    const { params } = (await service().post('/conversions', sent)).body.data
    assert.match(params.references, /^item 2 must be .*Send it as text, in quotes\.$/)
    assert.equal(params.customer, 'email must be a valid e-mail address, or empty, at most 254 characters.')
    assert.match(params.lines, /^amount of item 2 must be a number/)
    const unknown = { ...sale, lines: [{ produkt: 'mug', Category: 'books' }, { produkt: 'cup' }] }
    const reply = await service().post('/conversions', unknown)
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    assert.equal(reply.headers.get('x-ignored-arguments'), 'lines[][produkt], lines[][Category]')
  })

  test('201 - what is ignored of an object or a list is not stored, and what has no value counts as not sent', async () => {
    const { id } = await service().newAffiliate('stored')
    const { status, body, headers } = await service().post('/conversions', {
      kind: 'sale',
      context: 'shop',
      reference: 'not stored',
      amount: 10,
      affiliate_id: id,
      customer: { email: 'known@example.com', unknown: 'Jane' },
      lines: [
        { product: 'mug', amount: 4, buyer: 'Jane' },
        { product: null, amount: 6, buyer: 'Jane' },
      ],
      metadata: { any: [{ name: 'kept' }] },
    })
    assert.equal(status, 201, JSON.stringify(body))
    const ignored = 'customer[unknown], lines[][buyer], lines[][product]'
    assert.equal(headers.get('x-ignored-arguments'), ignored)
    const stored = JSON.stringify([
      (await service().get('/conversions?number=-1')).body,
      (await service().get(`/referrals?affiliate_id=${id}`)).body,
      (await service().get('/events?number=10&order=desc')).body,
    ])
    assert.doesNotMatch(stored, /Jane/)
    assert.match(stored, /"product":"mug"/)
    assert.match(stored, /"metadata":\{"any":\[\{"name":"kept"\}\]\}/)
  })

  test('400 - a member that a condition of a rule does not have, since the rule would be for more sales', async () => {
    const reply = await service().post('/rules', {
      name: 'For all',
      rate: 5,
      conditions: [{ field: 'country', si: ['DE'] }],
    })
    assertFailure(reply, 400, 'rest_invalid_param')
  })

  test('200 - unknown arguments are ignored and named', async () => {
    const reply = await service().get('/affiliates?colour=red&size[x]=1&ünï=1&number=1&filter[hue]=2')
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('x-ignored-arguments'), 'colour, size, %C3%BCn%C3%AF, filter[hue]')
    const body = JSON.stringify({ __proto__: null, constructor: 1, toString: 2 }).replace(
      '{',
      '{"__proto__":{"status":"active"},',
    )
    const edited = await service().patch('/affiliates/1', body, { headers: json })
    assert.equal(edited.status, 200)
    assert.equal(edited.headers.get('x-ignored-arguments'), '__proto__, constructor, toString')
  })

  test('200 and 201 - what is left blank in a query or a form counts as not sent; in JSON it is refused', async () => {
    const list = await service().get('/affiliates?number&date=&status=active')
    assert.equal(list.status, 200, JSON.stringify(list.body))
    assert.equal(list.headers.get('x-ignored-arguments'), 'number, date')
    const spans =
      'date[start]=2020-01-01&date[end]=&amount[min]=&amount[max]=5&filter[updated_since]=&cursor='
    const narrowed = await service().get(`/payouts?${spans}`)
    assert.equal(narrowed.status, 200, JSON.stringify(narrowed.body))
    const unsent = 'date[end], amount[min], cursor, filter[updated_since]'
    assert.equal(narrowed.headers.get('x-ignored-arguments'), unsent)
    assertFailure(await service().get('/payouts?date[start]=&date[end]=soon'), 400, 'rest_invalid_param')
    assert.equal((await service().get('/payouts?date[start]=&date[end]=')).status, 200)
    const path = '/referrals?affiliate_id=1&amount=10&visit_id=&parent_id=&date='
    const created = await service().post(path)
    assert.equal(created.status, 201, JSON.stringify(created.body))
    assertFailure(await service().post('/payouts?affiliate_id=&amount='), 400, 'rest_missing_callback_param')
    const { body } = await service().post('/referrals', { affiliate_id: 1, amount: 10, visit_id: '' })
    assert.deepEqual(Object.keys(body.data.params), ['visit_id'])
  })

  test('400 - a value and an object under one name, in any order; a blank value beside an object is none', async () => {
    const [day, end] = ['date=2000-01-01', 'date[end]=2000-01-02']
    for (const query of [`${day}&${end}`, `${end}&${day}`, `${day}&date[end]=`]) {
      assertFailure(await service().get(`/payouts?${query}`), 400, 'rest_invalid_param')
    }
    for (const query of [`date=&${end}`, `${end}&date=`]) {
      const { status, body } = await service().get(`/payouts?${query}`)
      assert.deepEqual([status, body], [200, []], query)
    }
    assert.equal((await service().get('/payouts?size=1&size[x]=2')).status, 200)
  })

  test('400 - a value beside filter[x], whose records would be all', async () => {
    for (const query of ['filter=x&filter[status]=paid', 'filter[status]=paid&filter=x']) {
      const response = await service().get(`/payouts?${query}`)
      assertFailure(response, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(response.body.data.params), ['filter'])
    }
    for (const query of ['filter=x', 'filter=&filter[status]=paid', 'filter[status]=paid&filter=']) {
      assert.equal((await service().get(`/payouts?${query}`)).status, 200, query)
    }
  })

  test('200 - filter[x] is x, and takes precedence', async () => {
    const { body } = await service().get('/affiliates?fields=ids&affiliate_id=2&filter[affiliate_id]=1')
    assert.deepEqual(body, [1])
  })

  test('400 - a body that is not the JSON it says it is', async () => {
    const deep = '['.repeat(100_000)
    for (const body of [
      '{',
      '[1]',
      '[{}]',
      '"x"',
      '{"a":1}x',
      '\ufeff',
      deep,
      Buffer.from([0x7b, 0xff, 0x7d]),
    ]) {
      assertFailure(await create('', body, json), 400, 'rest_invalid_json')
    }
  })

  test('201 and 400 - JSON of 32 levels, and of more, in an argument that nobody asks for', async () => {
    const nested = (levels: number) =>
      `{"create_user":true,"payment_email":"deep@example.com","x":${'['.repeat(levels)}"]}\\"[[{"${']'.repeat(levels)}}`
    assertFailure(await create('', nested(32), json), 400, 'rest_invalid_json')
    assertFailure(await create('', nested(50_000), json), 400, 'rest_invalid_json')
    assert.equal((await create('', nested(31), json)).status, 201)
  })

  test('400 - escapes and bytes that are not UTF-8', async () => {
    for (const query of ['?status=%ff', '?%c3=1', '?status=%', '?status=%zz']) {
      assertFailure(await create(query), 400, 'rest_invalid_param')
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    assertFailure(await create('', 'notes=%C3%28', form), 400, 'rest_invalid_param')
    assertFailure(await create('', Buffer.from([0x61, 0x3d, 0xff]), form), 400, 'rest_invalid_param')
    assertFailure(
      await create('', 'x', { 'content-type': 'multipart/form-data; boundary=y' }),
      400,
      'rest_invalid_param',
    )
    assertFailure(await create('', 'x', { 'content-type': 'multipart/form-data' }), 400, 'rest_invalid_param')
  })

  test('400 - what is not UTF-8 is named together with all that is wrong', async () => {
    const { body } = await service().get('/payouts?search=%ff&number=abc&date[start]=%fe&referrals[]=%fd')
    assert.deepEqual(Object.keys(body.data.params).sort(), ['date', 'number', 'referrals', 'search'])
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const sent = Buffer.from('payment_email=\xff&rate=x&other=\xfe', 'latin1')
    const posted = await create('', sent, form)
    assert.deepEqual(Object.keys(posted.body.data.params).sort(), ['other', 'payment_email', 'rate'])
    const text = await create('', Buffer.from('create_user=1&payment_email=straße@example.com'), form)
    assert.equal(text.body.payment_email, 'straße@example.com')
  })

  test('200 - names within an argument that it does not have are named', async () => {
    const made = await create('?filter[status]=active&create_user=1&payment_email=unfiltered@example.com')
    assert.equal(made.headers.get('x-ignored-arguments'), 'filter')
    for (const [query, ignored] of [
      ['date[from]=2024-01-01&date[start]=2023-01-01', 'date[from]'],
      ['amount[mni]=5', 'amount[mni]'],
      ['filter[date][form]=1', 'filter[date][form]'],
      ['filter[filter][status]=failed', 'filter[filter]'],
      ['filter=failed', 'filter'],
      ['filter[]=failed', 'filter'],
    ] as const) {
      const { status, headers } = await service().get(`/payouts?${query}`)
      assert.equal(status, 200)
      assert.equal(headers.get('x-ignored-arguments'), ignored, query)
    }
  })

  test('200 - an item of a list is one value, whatever it holds', async () => {
    const { id } = await service().newAffiliate('commas')
    const payout = await service().newPayout(id, { payout_method: 'bank, wire' })
    for (const query of ['payout_method[]=bank%2C%20wire', 'filter[payout_method][]=bank, wire']) {
      assert.deepEqual((await service().get(`/payouts?${query}`)).body, [payout])
    }
    assert.deepEqual((await service().get('/payouts?payout_method=bank%2C%20wire')).body, [])
  })

  test('400 - control characters and lone surrogates', async () => {
    for (const username of ['a\u0000', 'a\u001b', 'a\u0085', '\ud800']) {
      const reply = await create('', { create_user: true, payment_email: 'control@example.com', username })
      assertFailure(reply, 400, 'rest_invalid_param')
    }
    assertFailure(await service().get('/affiliates?search=%00'), 400, 'rest_invalid_param')
  })

  test('201 - a body of null is none, and so is an empty array', async () => {
    for (const [name, body] of Object.entries({ nobody: 'null', none: ' [] ' })) {
      const reply = await create(`?create_user=true&payment_email=${name}@example.com`, body, json)
      assert.equal(reply.status, 201)
      assert.equal(reply.body.payment_email, `${name}@example.com`)
    }
  })

  test('200 - so is either under any other media type', async () => {
    const { id } = await service().newAffiliate('untyped')
    const form = 'application/x-www-form-urlencoded'
    const edit = async (body: string, type?: string) => {
      const headers = type ? { 'content-type': type } : {}
      const reply = await service().patch(`/affiliates/${id}?rate=6`, Buffer.from(body), { headers })
      return [reply.status, reply.headers.get('x-ignored-arguments')]
    }
    const malformed = ['json', 'application/json charset=utf-8', 'application/json, text/plain', ';', '/']
    for (const type of ['text/plain', form, 'multipart/form-data', 'text/xml', undefined, ...malformed]) {
      for (const body of ['', 'null', '[]', ' []\r\n'])
        assert.deepEqual(await edit(body, type), [200, null], type ?? '')
    }
    assert.deepEqual(await edit('null=1', form), [200, 'null'])
    assert.deepEqual(await edit('[null]', 'text/plain'), [415, null])
  })

  test('200 - a JSON null counts as not sent, and is named', async () => {
    const { id } = await service().newAffiliate('nulls', { rate: 5, notes: 'stays' })
    const { status, body, headers } = await service().patch(`/affiliates/${id}?status=inactive`, {
      rate: null,
      payment_email: null,
      status: null,
    })
    assert.equal(status, 200)
    assert.deepEqual([body.rate, body.payment_email, body.status], ['5', 'nulls@example.com', 'inactive'])
    assert.equal(headers.get('x-ignored-arguments'), 'rate, payment_email, status')
    const made = await create('', { create_user: true, payment_email: 'null@example.com', username: null })
    assert.equal(made.status, 201)
    const missing = await service().post('/payouts', { affiliate_id: null })
    assertFailure(missing, 400, 'rest_missing_callback_param')
    assert.deepEqual(missing.body.data.params, ['affiliate_id'])
  })

  test('200 - an edit leaves what a query or a form has no text for; empty text in JSON unsets', async () => {
    const { id } = await service().newAffiliate('blank', { rate: 5 })
    const empty = { payment_email: '', rate: '', status: 'inactive' }
    const multipart = new FormData()
    for (const [name, value] of Object.entries(empty)) multipart.set(name, value)
    const bodies = [new URLSearchParams(empty), multipart]
    const asked = [
      () => service().patch(`/affiliates/${id}?payment_email=&rate=&status=inactive`),
      ...bodies.map(body => () => service().patch(`/affiliates/${id}`, body)),
    ]
    for (const ask of asked) {
      const { status, body, headers } = await ask()
      assert.equal(status, 200)
      assert.deepEqual([body.rate, body.payment_email, body.status], ['5', 'blank@example.com', 'inactive'])
      assert.equal(headers.get('x-ignored-arguments'), 'payment_email, rate')
    }
    const { body } = await service().patch(`/affiliates/${id}`, { rate: '', payment_email: '' })
    assert.deepEqual([body.rate, body.payment_email], ['', ''])
  })

  test('200 - a whole record sent back with a change, although its affiliate is deleted by now', async () => {
    const { id } = await service().newAffiliate('left.the.programme')
    const made = await service().post('/coupons', { affiliate_id: id, code: 'LEFT10' })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    assert.equal((await service().send('DELETE', `/affiliates/${id}`)).status, 200)
    const change = (affiliate_id: number) =>
      service().send('PATCH', `/coupons/${made.body.coupon_id}`, {
        body: { ...made.body, affiliate_id, status: 'inactive' },
      })
    assert.equal((await change(id)).body.status, 'inactive')
    assertFailure(await change(id + 1), 400, 'rest_invalid_param')
  })

  test('400 - another method than the request has, which would be passed over', async () => {
    const { id } = await service().newAffiliate('override')
    const asked: [string, unknown, Record<string, string>, string][] = [
      [`/affiliates/${id}`, { rate: 1 }, { 'x-http-method-override': 'DELETE' }, 'X-HTTP-Method-Override'],
      [`/affiliates/${id}?_method=DELETE`, undefined, {}, '_method'],
      [`/affiliates/${id}`, new URLSearchParams({ _method: 'DELETE', rate: '1' }), {}, '_method'],
      ['/payouts', { _method: 'GET' }, {}, '_method'],
    ]
    for (const [path, body, headers, name] of asked) {
      const reply = await service().post(path, body, { headers })
      assertFailure(reply, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(reply.body.data.params), [name])
    }
    assert.equal((await service().get(`/affiliates/${id}`)).body.rate, '')
  })

  test('400 - numbers as people write them, with the reason', async () => {
    const { id } = await service().newAffiliate('numbers')
    for (const [amount, reason] of [
      ['1,234.50', /separates thousands.* 1234\.50/],
      ['12,50', /a point before the decimals/],
      ['$12', /the currency/],
      ['12 EUR', /the currency/],
    ] as const) {
      const { status, body } = await service().post('/payouts', { affiliate_id: id, amount })
      assert.equal(status, 400)
      assert.match(body.data.params.amount, reason)
    }
    const { body } = await service().get('/payouts?amount[min]=$5')
    assert.match(body.data.params.amount, /the currency/)
    for (const affiliate_id of ['anna12', '1 2']) {
      const { data } = (await service().post('/payouts', { affiliate_id })).body
      assert.match(data.params.affiliate_id, /^must be a whole number from 1 to \d+\.$/)
    }
  })

  test('200 - the header that names unknown arguments is at most 1 KiB', async () => {
    const names = Array.from({ length: 20 }, (_, number) => `${number}${'ü'.repeat(90)}`)
    const { status, headers } = await service().get(`/affiliates?${names.map(name => `${name}=1`).join('&')}`)
    assert.equal(status, 200)
    const header = headers.get('x-ignored-arguments')!
    assert.ok(header.startsWith('0%C3%BC') && header.length <= 1024, `${header.length}`)
  })

  test('400 - a form of a million bytes that are not UTF-8 takes no longer than another one', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const took = async (byte: number) => {
      const began = performance.now()
      await create('', Buffer.alloc(1_000_000, byte), form)
      return performance.now() - began
    }
    const ratios = []
    for (let round = 0; round < 5; round += 1) {
      const plain = await took(0x61)
      ratios.push((await took(0x80)) / plain)
    }
    // The least: a neighbour may disturb any of them.
    assert.ok(Math.min(...ratios) < 5, ratios.join(' '))
  })

  test('400 - characters that turn the direction of text; the marks that Arabic and Hebrew need are taken', async () => {
    const payment = { create_user: true, payment_email: 'turned@example.com' }
    for (const turned of ['\u202a', '\u202e', '\u2066', '\u2069']) {
      const reply = await create('', { ...payment, notes: `paid ${turned}txt.exe`, status: 'active' })
      assertFailure(reply, 400, 'rest_invalid_param')
      assert.match(reply.body.data.params.notes, /text without control characters/)
      const search = await service().get(`/affiliates?search=${encodeURIComponent(turned)}`)
      assertFailure(search, 400, 'rest_invalid_param')
    }
    const { status } = await create('', { ...payment, notes: 'שלום\u200f! \u061cمرحبا\u200e (12)' })
    assert.equal(status, 201)
  })

  test('413 - a body over one MiB', async () => {
    assertFailure(await create('', Buffer.alloc(1_048_577, 32), json), 413, 'rest_request_too_large')
  })

  test('415 - a compressed body', async () => {
    const body = JSON.stringify({ create_user: true, payment_email: 'compressed@example.com' })
    const refused = await create('', gzipSync(body), { ...json, 'content-encoding': 'gzip' })
    assertFailure(refused, 415, 'rest_unsupported_media_type')
    assert.match(refused.body.message, /Content-Encoding/)
    const plain = { ...json, 'content-encoding': 'identity' }
    assert.equal((await create('', body, plain)).status, 201)
  })

  test('415 - other media types', async () => {
    for (const type of ['text/plain', 'application/xml', 'application/octet-stream', '', 'json']) {
      assertFailure(
        await create('', Buffer.from('x'), { 'content-type': type }),
        415,
        'rest_unsupported_media_type',
      )
    }
  })

  test('404 - routes that do not exist', async () => {
    for (const path of [
      '/nothing',
      '/affiliates/x',
      '/affiliates/1/x',
      '/affiliates/-1',
      '/affiliates/%ff',
      '/affiliates/1.5',
      '//',
    ]) {
      assertFailure(await service().get(path), 404, 'rest_no_route')
    }
  })

  test('405 - methods that a route does not take, with Allow', async () => {
    const item = await service().send('PROPFIND', '/affiliates/1')
    assertFailure(item, 405, 'rest_no_route')
    assert.equal(item.headers.get('allow'), 'HEAD, GET, POST, PATCH, PUT, DELETE, OPTIONS')
    assertFailure(await service().delete('/payouts/'), 405, 'rest_no_route')
  })

  test('200 - a trailing slash changes nothing, and both base paths answer', async () => {
    const { body } = await service().get('/affiliates')
    assert.deepEqual((await service().get('/affiliates/')).body, body)
    assert.deepEqual((await service().get('/../wp-json/affwp/v1/affiliates')).body, body)
    assert.deepEqual((await service().get('/../wp-json/affwp/v1/affiliates/1/')).body, body[0])
  })

  test('200 - HEAD answers without a body', async () => {
    for (const path of ['/affiliates', '/affiliates?number=-1', '/affiliates/1']) {
      const { status, body, headers } = await service().send('HEAD', path)
      assert.equal(status, 200)
      assert.equal(body, undefined)
      // How long a list is that is sent in pieces, nobody knows before.
      assert.equal(headers.get('content-length') === null, path.endsWith('-1'))
    }
  })

  test('every answer says that it is what it says it is', async () => {
    const { url, key } = service()
    const authorization = `Bearer ${key.token}`
    for (const path of [
      '/healthz',
      '/readyz',
      '/v1',
      '/v1/openapi.json',
      '/v1/affiliates?number=-1',
      '/admin',
      '/admin/',
      '/none',
    ]) {
      const { headers } = await fetch(url + path, { headers: { authorization }, redirect: 'manual' })
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
    }
    const tag = (await service().get('/affiliates/1')).headers.get('etag')!
    const same = await service().get('/affiliates/1', { headers: { 'if-none-match': tag } })
    assert.deepEqual([same.status, same.headers.get('x-content-type-options')], [304, 'nosniff'])
  })

  test('400, 431 - what is not HTTP', async () => {
    assertFailure(await raw(service(), 'GARBAGE\r\n\r\n'), 400, 'rest_bad_request')
    const unescaped = await raw(service(), 'GET /v1/affiliates?search=\u00e9va HTTP/1.1\r\nHost: x\r\n\r\n')
    assertFailure(unescaped, 400, 'rest_bad_request')
    assert.match(unescaped.body.message, /percent-encode them, such as \u00e9 as %C3%A9/)
    const long = `GET /v1/affiliates?x=${'y'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`
    assertFailure(await raw(service(), long), 431, 'rest_request_too_large')
  })

  test('200 - a body of a GET is named as ignored, and an empty one is none', async () => {
    const ask = async (body: unknown) => {
      const reply = await service().send('GET', '/affiliates?number=1', { body })
      assert.equal(reply.status, 200)
      return reply.headers.get('x-ignored-arguments')
    }
    assert.deepEqual([await ask({ status: 'rejected' }), await ask(undefined)], ['body', null])
  })

  test('401 - HTTP without a Host', async () => {
    assertFailure(
      await raw(service(), 'GET /v1/affiliates HTTP/1.1\r\nConnection: close\r\n\r\n'),
      401,
      'rest_forbidden',
    )
  })

  test('200 - a connection is kept', async () => {
    const { port } = new URL(service().url)
    const kept = await new Promise(resolve => {
      request({ port, path: '/healthz', headers: { connection: 'keep-alive' } }, response => {
        response.resume().on('end', () => resolve(response.headers.connection))
      }).end()
    })
    assert.equal(kept, 'keep-alive')
  })
})

/** Sends bytes as they are. */
async function raw(service: Service, bytes: string): Promise<Reply> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  socket.write(bytes)
  const answer = await text(socket)
  const [head, body] = answer.split('\r\n\r\n')
  const [statusLine, ...lines] = head!.split('\r\n')
  const headers = new Headers(lines.map(line => line.split(': ', 2) as [string, string]))
  return { status: Number(statusLine!.split(' ')[1]), headers, body: JSON.parse(body!) }
}
