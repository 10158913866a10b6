import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import { assertFailure, describeService, operatorOf } from '../../../test/harness.ts'
import { erasePerson } from '../../operations/privacy/rules.ts'

describeService('conversions', service => {
  let affiliate: { id: number; user_id: number }
  let number = 0
  const fresh = (name = 'order') => `${name}-${++number}`
  const active = async (name: string, args: object = {}) =>
    service().newAffiliate(name, { status: 'active', rate: 10, rate_type: 'percentage', ...args })
  before(async () => {
    affiliate = await active('seller')
  })
  const report = (args: object) => service().post('/conversions', { kind: 'sale', context: 'shop', ...args })
  const owed = async (id: number) => (await service().get(`/affiliates/${id}/balances`)).body

  test('201 - a sale credits the affiliate who is named, in one transaction with what they earn', async () => {
    const reference = fresh()
    const { status, body, headers } = await report({
      reference,
      references: ['pi_3Nx'],
      amount: 120,
      tax: 20,
      currency: 'usd',
      affiliate_id: affiliate.id,
      metadata: { note: 'first' },
    })
    assert.equal(status, 201, JSON.stringify(body))
    assert.deepEqual(Object.keys(body), ['conversion', 'referrals', 'explanation'])
    const { conversion, referrals, explanation } = body
    assert.ok(headers.get('location')!.endsWith(`/conversions/${conversion.id}`))
    assert.deepEqual(
      [conversion.amount, conversion.tax, conversion.currency, conversion.affiliate_id, conversion.metadata],
      [120, 20, 'USD', affiliate.id, { note: 'first' }],
    )
    assert.deepEqual(
      referrals.map((one: any) => [one.amount, one.status, one.type, one.reference, one.affiliate_id]),
      [['10.00', 'unpaid', 'sale', reference, affiliate.id]],
    )
    assert.deepEqual(
      explanation.candidates.map((one: any) => [one.by, one.affiliate_id, one.credited, one.reason]),
      [['affiliate', affiliate.id, true, '']],
    )
    assert.equal((await owed(affiliate.id)).unpaid, 10)
    const { body: found } = await service().get(`/conversions/${conversion.id}`)
    assert.deepEqual(found, conversion)
    const { body: explained } = await service().get(`/conversions/${conversion.id}/explanation`)
    assert.deepEqual(explained, explanation)
    for (const search of [reference, 'pi_3Nx', 'PI_3', '"', '[']) {
      const { body: ids } = await service().get(
        `/conversions?fields=ids&search=${encodeURIComponent(search)}`,
      )
      assert.deepEqual(ids, search.length === 1 ? [] : [conversion.id], search)
    }
  })

  test('400 - everything that is wrong is named', async () => {
    const { body } = await report({
      kind: 'refund',
      reference: '',
      amount: 1.234,
      references: [''],
      customer: { country: 'Germany' },
      country: '49',
      metadata: 'text',
    })
    assert.deepEqual(Object.keys(body.data.params).sort(), [
      'amount',
      'country',
      'customer',
      'metadata',
      'part',
      'reference',
      'references',
    ])
    assertFailure(await report({ reference: fresh(), currency: 'XXY', amount: 1 }), 400, 'rest_invalid_param')
    const beyond = await report({ reference: fresh(), amount: 1e15, occurred_at: '9999-12-31' })
    assert.deepEqual(Object.keys(beyond.body.data.params).sort(), ['amount', 'occurred_at'])
    assert.match(beyond.body.data.params.amount, /^must be a number from 0 to/)
  })

  test('400 - what this kind of conversion needs is missing, and nothing else is wrong', async () => {
    for (const [args, ...names] of [
      [{}, 'amount'],
      [{ kind: 'refund', amount: 1 }, 'part'],
      [{ kind: 'dispute', cumulative: false }, 'amount', 'part'],
      [{ kind: 'attribution' }, 'affiliate_id'],
    ] as const) {
      const reply = await report({ reference: fresh(), ...args })
      assertFailure(reply, 400, 'rest_missing_callback_param')
      assert.deepEqual(reply.body.data.params, names)
      const line = JSON.stringify({ kind: 'sale', reference: fresh(), ...args })
      const many = await service().post('/conversions', line, {
        headers: { 'content-type': 'application/x-ndjson' },
      })
      assert.match(JSON.stringify(many.body), /rest_missing_callback_param/)
    }
    const { body } = await report({ kind: 'refund', reference: fresh(), amount: 1 })
    assert.match(body.message, /^Missing argument: part\. Send part, or cumulative: /)
  })

  test('400 - what cannot have been: a date before there were shops, shares larger than the whole', async () => {
    const wrong: [args: object, named: string[]][] = [
      [{ occurred_at: '0001-01-01' }, ['occurred_at']],
      [{ occurred_at: '1970-01-01 00:00:00' }, ['occurred_at']],
      [{ tax: 100.01 }, ['tax']],
      [{ tax: 60, shipping: 60 }, ['tax', 'shipping']],
    ]
    for (const [args, named] of wrong) {
      const { status, body } = await report({ reference: fresh(), amount: 100, ...args })
      assert.deepEqual([status, Object.keys(body.data.params)], [400, named], JSON.stringify(args))
    }
    const sale = {
      reference: fresh(),
      amount: 100,
      tax: 60,
      shipping: 40,
      discount: 900,
      occurred_at: '1990-01-01',
    }
    assert.equal((await report(sale)).status, 201)
  })

  test('a refund that names no currency is in that of the sale', async () => {
    const { id } = await active('yen')
    await service().post('/exchange-rates', {
      from_currency: 'JPY',
      to_currency: 'USD',
      rate: '0.01',
      date: '2020-01-01',
    })
    const reference = fresh()
    await report({ reference, amount: 10_000, currency: 'JPY', affiliate_id: id })
    assert.equal((await owed(id)).unpaid, 10)
    const refund = { kind: 'refund', reference, part: '1', amount: 2500 }
    const { body } = await report(refund)
    assert.equal(body.conversion.currency, 'JPY')
    assert.equal((await owed(id)).unpaid, 7.5)
    assert.equal((await report(refund)).status, 200)
    // Blanks around its name are none of it, and what stands for a total is not taken for a part.
    assert.equal((await report({ ...refund, part: ' 1 ' })).status, 200)
    assert.equal((await report({ ...refund, part: ' ' })).status, 400)
    for (const part of ['total:2500', 'c1 total:2500']) {
      const { status, body } = await report({ ...refund, part })
      assert.deepEqual([status, Object.keys(body.data.params)], [400, ['part']])
    }
    assertFailure(await report({ ...refund, part: '2', amount: 0.5 }), 400, 'rest_invalid_param')
    const early = { kind: 'refund', reference: fresh(), part: '1', amount: 5, currency: 'USD' }
    await report(early)
    const late = await report({
      reference: early.reference,
      amount: 10_000,
      currency: 'JPY',
      affiliate_id: id,
    })
    assert.equal(late.body.referrals[0].amount, '10.00')
    assert.match(late.body.explanation.sentences.join(' '), /A refund of 5.00 USD takes nothing back/)
    const { referral_id } = late.body.explanation.referrals[0]
    const { body: told } = await service().get(`/referrals/${referral_id}/explanation`)
    assert.match(
      told.sentences.join(' '),
      /A refund of 5.00 USD takes nothing back, because the sale is in JPY/,
    )
    assert.equal((await report(early)).status, 200)
    // As the sentence says, also of what was reported as a total.
    for (const named of [{ part: '1' }, { cumulative: true }]) {
      const said = { kind: 'refund', reference: fresh(), amount: 5, ...named }
      await report({ ...said, currency: 'USD' })
      await report({ reference: said.reference, amount: 10, currency: 'EUR', affiliate_id: id })
      const refused = await report({ ...said, currency: 'EUR' })
      assertFailure(refused, 409, 'rest_conversion_exists')
      assert.match(
        refused.body.message,
        /It takes nothing back, because the sale is in EUR: report it once more in EUR, with a part of its own\.$/,
      )
      const { status, body } = await report({ ...said, currency: 'EUR', part: 'own' })
      assert.deepEqual([status, body.explanation.payment.left], [201, 5], JSON.stringify(body))
    }
  })

  test('a refund that names no currency, reported before its sale - is in that of the sale all the same', async () => {
    const { id } = await active('unsaid')
    for (const [from_currency, rate] of [
      ['JPY', '0.01'],
      ['KWD', '3'],
    ]) {
      await service().post('/exchange-rates', { from_currency, to_currency: 'USD', rate, date: '2020-01-01' })
    }
    const history = async (currency: string, ...reversals: object[]) => {
      const reference = fresh()
      for (const reversal of reversals) assert.equal((await report({ reference, ...reversal })).status, 201)
      const { body } = await report({ reference, amount: 100, currency, affiliate_id: id })
      // Once more, as after it, and in the currency that is meant.
      for (const reversal of reversals) {
        assert.equal((await report({ reference, ...reversal })).status, 200)
        assert.equal((await report({ reference, currency, ...reversal })).status, 200)
      }
      return body
    }
    const refund = { kind: 'refund', part: '1', amount: 25 }
    const total = { kind: 'refund', cumulative: true, amount: 25 }
    const dispute = { kind: 'dispute', part: 'd', amount: 25 }
    for (const [currency, reversal] of [
      ['EUR', refund],
      ['EUR', total],
      ['EUR', dispute],
      ['JPY', refund],
      ['KWD', refund],
    ] as const) {
      const { explanation, referrals } = await history(currency, reversal)
      assert.deepEqual(
        [explanation.payment.left, explanation.payment.currency],
        [75, currency],
        JSON.stringify([reversal, explanation]),
      )
      const { body } = await service().get(`/referrals/${referrals[0].referral_id}/explanation`)
      assert.match(body.sentences.join(' '), new RegExp(`25(?:\\.0+)? ${currency}`))
      assert.doesNotMatch(body.sentences.join(' '), /takes nothing back/)
    }
    // What a lead says of it is not what the sale says.
    const reference = fresh()
    await report({ kind: 'lead', reference, affiliate_id: id })
    const early = await report({ ...refund, reference })
    const { body } = await report({ reference, amount: 100, currency: 'EUR', affiliate_id: id })
    assert.equal(body.explanation.payment.left, 75)
    const of = await service().get(`/conversions/${early.body.conversion.conversion_id}/explanation`)
    assert.ok(of.body.sentences.includes('It named no currency, so it is in that of the sale, EUR.'))
    // There are no parts of a yen.
    const half = await history('CHF', { ...refund, amount: 0.5 })
    assert.equal(half.explanation.payment.left, 99.5)
    const yen = fresh()
    await report({ ...refund, amount: 0.5, reference: yen })
    const none = await report({ reference: yen, amount: 100, currency: 'JPY', affiliate_id: id })
    assert.match(none.body.explanation.sentences.join(' '), /A refund of 0.50 USD takes nothing back/)
  })

  test('a rule that pays for no more orders: rejected at nothing, and no rule after it is tried', async () => {
    const { id } = await service().newAffiliate('first-orders', { status: 'active' })
    const sale = () => ({ reference: fresh(), amount: 100, affiliate_id: id, customer: { id: 'once' } })
    const rule = { name: 'First orders', affiliate_id: id, rate: 30, max_payments: 1 }
    const { body: made } = await service().post('/rules', rule)
    const { body: first } = await report(sale())
    assert.deepEqual([first.referrals[0].status, first.referrals[0].amount], ['unpaid', '30.00'])
    const { body: second } = await report(sale())
    assert.deepEqual([second.referrals[0].status, second.referrals[0].amount], ['rejected', '0.00'])
    const { body: why } = await service().get(`/referrals/${second.referrals[0].referral_id}/explanation`)
    assert.equal(why.reason, 'ended')
    assert.equal(
      why.sentences.at(-1),
      'It was rejected, because the rule pays for no more orders of this customer.',
    )
    assert.equal((await service().get(`/affiliates/${id}`)).body.referrals, 1)
    await report({ kind: 'refund', reference: second.conversion.reference, part: '1', amount: 50 })
    assert.equal((await owed(id)).unpaid, 30)
    await service().delete(`/rules/${made.rule_id}`)
  })

  /** Who waits too long on a busy machine is asked to come again. */
  const persistently = async (args: object) => {
    for (;;) {
      const reply = await report(args)
      if (reply.status !== 503) return reply
      assert.ok(reply.headers.get('retry-after'), JSON.stringify(reply.body))
    }
  }

  test('200 - two hundred equal ones at once are one, under whichever name', async () => {
    const names = [fresh('order'), fresh('session'), fresh('charge')]
    const { id } = await active('raced')
    const sent = { amount: 50, affiliate_id: id }
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, index) => {
        const [reference, ...references] = [0, 1, 2].map(place => names[(index + place) % 3]!)
        return persistently({ ...sent, reference, references })
      }),
    )
    assert.deepEqual(
      new Set(replies.map(({ status }) => status)),
      new Set([200, 201]),
      JSON.stringify(replies.find(({ status }) => status > 201)?.body),
    )
    assert.equal(replies.filter(({ status }) => status === 201).length, 1)
    assert.equal(new Set(replies.map(({ body }) => body.conversion.id)).size, 1)
    assert.equal((await owed(id)).unpaid, 5)
    assertFailure(await report({ ...sent, amount: 51, reference: names[2] }), 409, 'rest_conversion_exists')
    assertFailure(
      await report({ ...sent, currency: 'EUR', reference: names[0] }),
      409,
      'rest_conversion_exists',
    )
  })

  test('200 - many at once, where a bad line stops no other', async () => {
    const { id } = await active('many')
    const line = (args: object) =>
      JSON.stringify({ kind: 'sale', context: 'bulk', amount: 10, affiliate_id: id, ...args })
    const lines = [
      line({ reference: 'b1' }),
      '{"kind":',
      line({ reference: 'b1' }),
      line({ reference: 'b2', amount: -1 }),
    ]
    for (let count = 3; count < 99; count += 1) lines.push(line({ reference: `b${count}` }))
    lines.push(line({ reference: 'not UTF-8: \xff' }))
    const reply = await service().post('/conversions/bulk', Buffer.from(lines.join('\n'), 'latin1'), {
      headers: { 'content-type': 'application/x-ndjson' },
    })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    const results = (reply.body as string)
      .trim()
      .split('\n')
      .map(text => JSON.parse(text))
    assert.deepEqual(
      results.map(({ line }) => line),
      lines.map((_line, index) => index + 1),
    )
    assert.deepEqual(
      results.slice(0, 5).map(({ status }) => status),
      [201, 400, 200, 400, 201],
    )
    assert.deepEqual([results.at(-1).status, results.at(-1).code], [400, 'rest_invalid_json'])
    assert.match(results[3].data.params.amount, /^must be a number from 0/)
    assert.equal(results[4].referrals[0].amount, '1.00')
    assert.equal((await owed(id)).unpaid, 97)
  })

  test('the database refuses to change, remove or credit anew; only what is personal can be emptied', async () => {
    const { body } = await report({
      reference: fresh(),
      amount: 1,
      affiliate_id: affiliate.id,
      customer: { email: 'buyer@example.org' },
      country: 'de',
    })
    const { id } = body.conversion
    const run = (statement: string) => service().database.transaction(tx => sql.raw(statement).execute(tx))
    for (const change of [
      'amount = 2',
      `reference = 'x'`,
      'affiliate_id = 0',
      `customer = '{}'`,
      `candidates = ''`,
      `candidates = '[]'`,
      `candidates = replace(candidates, '}]', '},{}]')`,
    ]) {
      await assert.rejects(run(`UPDATE conversions SET ${change} WHERE id = ${id}`), change)
    }
    const unread = await report({ reference: fresh(), amount: 1, click: { last: 'foreign' } })
    const candidatesOf = (set: string) =>
      run(`UPDATE conversions SET candidates = ${set} WHERE id = ${unread.body.conversion.id}`)
    const added = (more: string) => candidatesOf(`replace(candidates, '}]', '},${more}]')`)
    for (const set of ["''", "'[]'", 'candidates', `replace(candidates, 'foreign', 'forged and more')`])
      await assert.rejects(candidatesOf(set), set)
    await added('{"by":"coupon","affiliate_id":0,"reason":"unknown_coupon"}')
    await assert.rejects(added('{}'))
    await assert.rejects(run(`DELETE FROM conversions WHERE id = ${id}`))
    await run(`UPDATE conversions SET customer = '', metadata = '' WHERE id = ${id}`)
    const { body: erased } = await service().get(`/conversions/${id}`)
    assert.deepEqual([erased.customer, erased.country], [{}, 'DE'])
  })

  test('who is erased is erased as the customer of what they bought; what it was worth stays', async () => {
    const { user_id } = await service().newAffiliate('buyer')
    const email = 'buyer@shop.example'
    const sent = { email, first_name: 'Bea' }
    const reference = fresh()
    const { body } = await report({ reference, amount: 10, affiliate_id: affiliate.id, customer: sent })
    const { id, customer_id } = body.conversion
    await service().patch(`/customers/${customer_id}`, { user_id })
    await erasePerson(operatorOf(service().database), user_id)
    const { body: erased } = await service().get(`/conversions/${id}`)
    assert.deepEqual([erased.customer, erased.amount, erased.affiliate_id], [{}, 10, affiliate.id])
    const rows = await service().database.reader.selectFrom('events').selectAll().execute()
    assert.ok(!JSON.stringify(rows).includes(email))
  })

  test('credited is the first of: named, owner of the customer, coupon, click; and only who is active', async () => {
    const [owner, clicked, away] = await Promise.all([
      active('owner'),
      active('clicked'),
      active('away', { status: 'inactive' }),
    ])
    const visit = async (affiliate_id: number, args: object = {}) =>
      (await service().post('/visits', { affiliate_id, url: 'https://shop.test/', ...args })).body.id
    const claims = async (args: object) => {
      const { status, body } = await report({ reference: fresh(), amount: 10, ...args })
      assert.equal(status, 201, JSON.stringify(body))
      return {
        credited: body.conversion.affiliate_id,
        why: body.explanation.candidates.map((one: any) => [one.by, one.affiliate_id, one.reason]),
      }
    }
    const customer = { id: 'c-1', email: 'Owned@example.org' }
    assert.deepEqual(await claims({ customer, visit_id: await visit(owner.id) }), {
      credited: owner.id,
      why: [['visit', owner.id, '']],
    })
    // By e-mail address, then by what the shop calls them, whatever address they have by then.
    for (const known of [{ email: 'owned@EXAMPLE.org' }, { id: 'c-1', email: 'other@example.org' }]) {
      assert.deepEqual(await claims({ customer: known, visit_id: await visit(clicked.id) }), {
        credited: owner.id,
        why: [
          ['customer', owner.id, ''],
          ['visit', clicked.id, 'earlier_claim'],
        ],
      })
    }
    assert.deepEqual(await claims({ affiliate_id: away.id, visit_id: await visit(clicked.id) }), {
      credited: clicked.id,
      why: [
        ['affiliate', away.id, 'inactive'],
        ['visit', clicked.id, ''],
      ],
    })
    assert.deepEqual(await claims({ affiliate_id: 999_999, visit_id: 999_999, coupon: 'NONE' }), {
      credited: 0,
      why: [
        ['affiliate', 999_999, 'unknown_affiliate'],
        ['coupon', 0, 'unknown_coupon'],
        ['visit', 0, 'unknown_visit'],
      ],
    })
    const old = await visit(clicked.id, { date: '2020-01-01 00:00:00' })
    assert.deepEqual(await claims({ visit_id: old, click: { last: 'forged' } }), {
      credited: 0,
      why: [
        ['click', 0, 'foreign_click'],
        ['visit', clicked.id, 'expired'],
      ],
    })
    const own = [
      'CLICKED@example.com',
      'clicked+shop@example.com',
      'ｃlicked@example.com',
      'clicked@EXAMPLE.com',
    ]
    for (const email of own) {
      assert.deepEqual(
        await claims({ affiliate_id: clicked.id, customer: { email } }),
        { credited: 0, why: [['affiliate', clicked.id, 'self_referral']] },
        email,
      )
    }
    const { credited } = await claims({ affiliate_id: clicked.id, customer: { email: '+x@example.com' } })
    assert.equal(credited, clicked.id)
  })

  test('a coupon credits without a click, and a rule says how much; another currency waits for its rate', async () => {
    const { id } = await service().newAffiliate('coupons', { status: 'active' })
    await service().post('/coupons', { code: 'SPRING', affiliate_id: id, campaign: 'spring' })
    const rule = { name: 'Half of A', type: 'percentage', rate: 50, affiliate_id: id, priority: 1 }
    const conditions = [{ field: 'product', is: ['A'] }]
    const made = await service().post('/rules', { ...rule, conditions })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const lines = [{ product: 'A', quantity: 1, amount: 10 }]
    const { body } = await report({ reference: fresh(), amount: 10, coupon: 'spring', lines })
    assert.deepEqual(
      [body.referrals[0].affiliate_id, body.referrals[0].amount, body.conversion.campaign],
      [id, '5.00', 'spring'],
    )
    const { id: other } = await service().newAffiliate('coupons.other', { status: 'active' })
    const named = await report({ reference: fresh(), amount: 10, affiliate_id: other, coupon: 'SPRING' })
    const { affiliate_id, campaign } = named.body.conversion
    assert.deepEqual([affiliate_id, campaign], [other, ''], 'a campaign is of whom it credits')
    const foreign = { reference: fresh(), currency: 'CHF' }
    const sold = await report({ ...foreign, amount: 20, coupon: 'SPRING', lines })
    assert.deepEqual([sold.body.referrals[0].status, sold.body.referrals[0].amount], ['draft', '0.00'])
    await report({ ...foreign, kind: 'refund', part: '1', amount: 5 })
    const rate = await service().post('/exchange-rates', {
      from_currency: 'CHF',
      rate: '1.1',
      date: '2020-01-01',
    })
    assert.equal(rate.status, 201, JSON.stringify(rate.body))
    const referral = async () => (await service().get(`/referrals/${sold.body.referrals[0].id}`)).body
    for (let tries = 0; tries < 100 && (await referral()).status === 'draft'; tries += 1) {
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    assert.equal((await referral()).amount, '8.25')
    const { body: back } = await report({ ...foreign, kind: 'refund', part: '2', amount: 15 })
    assert.deepEqual([back.referrals[0].status, back.referrals[0].amount], ['rejected', '0.00'])
  })

  test('what nobody is credited for is listed, and credited later', async () => {
    const { id } = await active('late')
    const reference = fresh()
    const { body: sale } = await report({ reference, amount: 80, customer: { id: reference } })
    assert.deepEqual([sale.conversion.affiliate_id, sale.referrals], [0, []])
    const listed = async () =>
      (await service().get('/conversions?unattributed=1&fields=ids&number=0')).body as number[]
    assert.ok((await listed()).includes(sale.conversion.id))
    await report({ kind: 'refund', reference, part: 'r1', amount: 20 })
    const { status, body } = await report({ kind: 'attribution', reference, affiliate_id: id })
    assert.equal(status, 201, JSON.stringify(body))
    assert.deepEqual(
      body.referrals.map((one: any) => [one.affiliate_id, one.amount, one.status]),
      [[id, '6.00', 'unpaid']],
    )
    assert.ok(!(await listed()).includes(sale.conversion.id))
    assert.equal((await service().get(`/conversions/${sale.conversion.id}`)).body.affiliate_id, id)
    const again = await report({ kind: 'attribution', reference, affiliate_id: affiliate.id })
    assertFailure(again, 409, 'rest_conversion_exists')
    assert.match(again.body.message, new RegExp(`credits affiliate ${id} for this payment already`))
    // They own the customer from now on.
    const { body: next } = await report({ reference: fresh(), amount: 10, customer: { id: reference } })
    assert.equal(next.conversion.affiliate_id, id)
    const other = fresh()
    await report({ reference: other, amount: 1, affiliate_id: id })
    const taken = await report({ kind: 'attribution', reference: other, affiliate_id: affiliate.id })
    assertFailure(taken, 409, 'rest_conversion_conflict')
  })

  test('200 - a sale that was reported without a claim is credited by the claim of the next report', async () => {
    const { id } = await active('claiming')
    const reference = fresh()
    const customer = { id: reference }
    const { body: sale } = await report({ reference, amount: 80, customer })
    assert.equal(sale.conversion.affiliate_id, 0)
    // Without one, it stays so; and another shop's blanks are no other payment.
    assert.equal((await report({ reference, amount: 80 })).body.conversion.affiliate_id, 0)
    const claimed = await report({ reference: ` ${reference} `, amount: 80, affiliate_id: id })
    assert.equal(claimed.status, 200, JSON.stringify(claimed.body))
    assert.deepEqual(
      [claimed.body.conversion.id, claimed.body.conversion.affiliate_id],
      [sale.conversion.id, id],
    )
    assert.deepEqual(
      claimed.body.referrals.map((one: any) => [one.affiliate_id, one.amount, one.status]),
      [[id, '8.00', 'unpaid']],
    )
    // Whoever was credited stays so.
    const late = await report({ reference, amount: 80, affiliate_id: affiliate.id })
    assert.deepEqual([late.status, late.body.conversion.affiliate_id], [200, id])
    assert.equal(late.body.referrals.length, 1)
    const other = await report({ reference, amount: 81 })
    assertFailure(other, 409, 'rest_conversion_exists')
    assert.match(other.body.message, /it is of 80\.00 USD, and 81\.00 USD was sent/)
    // The customer is theirs.
    const { body: next } = await report({ reference: fresh(), amount: 10, customer })
    assert.equal(next.conversion.affiliate_id, id)
  })

  test('a refund finds its sale by any name, before or after it, and ends where the rule does', async () => {
    const { id } = await active('refunded')
    const [order, charge, intent] = [fresh('order'), fresh('charge'), fresh('intent')]
    await report({ kind: 'refund', reference: charge, references: [intent], part: 'r1', amount: 10 })
    const { body } = await report({ reference: order, references: [intent], amount: 33.33, affiliate_id: id })
    assert.equal(body.referrals[0].amount, '2.33')
    const { body: why } = await service().get(`/referrals/${body.referrals[0].id}/explanation`)
    assert.equal(why.exact, '2.333')
    assert.ok(!why.sentences.some((one: string) => one.includes('by hand')), why.sentences.join('\n'))
    const total = { kind: 'refund', reference: charge, cumulative: true }
    for (const amount of [20, 15, 20]) await report({ ...total, amount })
    assert.equal((await owed(id)).unpaid, 1.33)
    const dispute = { reference: order, part: 'd1', amount: 33.33 }
    const { body: lost } = await report({ kind: 'dispute', ...dispute })
    assert.deepEqual([lost.referrals[0].status, lost.referrals[0].amount], ['rejected', '0.00'])
    assert.equal((await owed(id)).unpaid, 0)
    await report({ kind: 'dispute_won', reference: charge, part: 'd1' })
    assert.equal((await owed(id)).unpaid, 1.33)
    const whole = await report({ ...total, amount: 500 })
    assert.equal(whole.status, 201, JSON.stringify(whole.body))
    assert.equal((await owed(id)).unpaid, 0)
    assert.equal(whole.body.explanation.payment.left, 0)
  })

  test('what is paid is taken back by a refund below it, and what a person has rejected stays so', async () => {
    const { id } = await active('paid')
    const [first, second] = [fresh(), fresh()]
    const occurred_at = '2026-07-01 10:00:00'
    const { body: sale } = await report({ reference: first, amount: 100, affiliate_id: id, occurred_at })
    await service().newPayout(id, { referrals: [sale.referrals[0].id], amount: 10 })
    const refund = { kind: 'refund', reference: first, part: '1', amount: 40, occurred_at }
    const { body } = await report(refund)
    assert.deepEqual(
      body.referrals.map((one: any) => [one.type, one.amount, one.status, one.parent_id]),
      [
        ['sale', '10.00', 'paid', 0],
        ['refund', '-4.00', 'unpaid', sale.referrals[0].id],
      ],
    )
    assert.equal((await owed(id)).unpaid, -4)
    const { body: told } = await service().get(`/conversions/${sale.conversion.id}/timeline`)
    assert.deepEqual(
      told.timeline.map(({ kind, text }: any) => [kind, text]),
      [
        ['conversion', 'Sale of 100.00 USD.'],
        ['referral', `Affiliate ${id} earns 10.00 USD, paid.`],
        ['conversion', 'Refund of 40.00 USD.'],
        ['referral', `Affiliate ${id} gives back 4.00 USD, unpaid.`],
        ['payout', 'Payout of 10.00 USD, paid.'],
      ],
    )
    const { body: rejected } = await report({ reference: second, amount: 100, affiliate_id: id })
    await service().patch(`/referrals/${rejected.referrals[0].id}`, { status: 'rejected' })
    const { body: after } = await report({ kind: 'refund', reference: second, part: '1', amount: 40 })
    assert.equal(after.referrals[0].status, 'rejected')
    const story = await service().get(`/conversions/${rejected.conversion.id}/timeline`)
    assert.equal(
      story.body.timeline[1].text,
      `Affiliate ${id} earns 10.00 USD; 6.00 USD of it stands, rejected.`,
    )
    await report({ kind: 'dispute', reference: second, part: '2', amount: 100 })
    await report({ kind: 'dispute_won', reference: second, part: '2' })
    assert.equal((await owed(id)).unpaid, -4)
    await service().patch(`/referrals/${rejected.referrals[0].id}`, { status: 'unpaid' })
    assert.equal((await owed(id)).unpaid, 2)
  })
})
