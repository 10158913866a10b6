import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  assertFailure,
  describeService,
  openDatabase,
  operatorOf,
  runCommand,
  temporaryFolder,
} from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { endHolds } from '../referrals/holds.ts'

const DAY_MS = 86_400_000
const text = (time: number) => new Date(time).toISOString().slice(0, 19).replace('T', ' ')

describeService('commission rules', service => {
  const create = async (path: string, args: object) => {
    const { status, body } = await service().post(path, args)
    assert.equal(status, 201, JSON.stringify(body))
    return body
  }
  const rule = (args: object) => create('/rules', { name: 'rule', ...args })
  const earn = (affiliate_id: number, args: object = {}) =>
    create('/referrals', { affiliate_id, order_total: 100, ...args })
  const balances = async (id: number) => (await service().get(`/affiliates/${id}/balances`)).body
  const end = (id: number) => service().delete(`/rules/${id}`)

  test('201 - a rule with all that can be sent; an edit is the next version, a deletion the end', async () => {
    const { id: group_id } = await create('/groups', { name: 'Partners' })
    const sent = {
      name: 'Autumn',
      group_id,
      priority: 7,
      kinds: ['sale', 'renewal'],
      conditions: [
        { field: 'country', is: ['DE', 'AT'] },
        { field: 'amount', at_least: 10.5 },
      ],
      rate_type: 'percentage',
      rate: 12.5,
      base: 'gross',
      max_months: 12,
      max_payments: '',
      hold_days: 30,
      from: '2026-01-01',
      until: '2026-12-31',
    }
    const first = await rule(sent)
    const { rule_id, date, ...rest } = first
    assert.deepEqual(rest, {
      ...sent,
      id: rule_id,
      series: rule_id,
      version: 1,
      status: 'current',
      affiliate_id: 0,
      rate: '12.5',
      from: '2026-01-01 00:00:00',
      until: '2026-12-31 23:59:59',
    })
    const same = await service().patch(`/rules/${rule_id}`, { name: rest.name })
    assert.deepEqual([same.status, same.body.version], [200, 1])
    const { body: second } = await service().patch(`/rules/${rule_id}`, { rate: 15, hold_days: '' })
    assert.deepEqual(
      [second.series, second.version, second.status, second.rate, second.hold_days, second.name],
      [rule_id, 2, 'current', '15', '', 'Autumn'],
    )
    assert.notEqual(second.id, rule_id)
    assert.equal((await service().get(`/rules/${rule_id}`)).body.status, 'replaced')
    const stale = await service().patch(`/rules/${rule_id}`, { rate: 1 })
    assertFailure(stale, 409, 'rest_rule_conflict')
    assert.equal(stale.body.data.rule_id, second.id)
    assertFailure(await service().delete(`/groups/${group_id}`), 409, 'rest_group_in_use')
    assert.equal((await end(second.id)).status, 200)
    assert.equal((await service().get(`/rules/${second.id}`)).body.status, 'ended')
    assertFailure(await end(second.id), 409, 'rest_rule_conflict')
    assert.equal((await service().delete(`/groups/${group_id}`)).status, 200)
    const { body: events } = await service().get('/events?number=100')
    const actions = events.map(({ type, action = type }: any) => action)
    assert.deepEqual(
      actions.filter((action: string) => action.startsWith('rule.')),
      ['rule.create', 'rule.edit', 'rule.delete'],
    )
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })

  test('400 - conditions that cannot be met, and wrong limits', async () => {
    const wrong: [object, string][] = [
      [{ conditions: [{ field: 'colour', is: ['red'] }] }, 'conditions'],
      [{ conditions: [{ field: 'country' }] }, 'conditions'],
      [{ conditions: [{ field: 'country', at_least: 1 }] }, 'conditions'],
      [{ conditions: [{ field: 'country', is: ['Germany'] }] }, 'conditions'],
      [{ conditions: [{ field: 'currency', not: ['EUR', 'XYZ'] }] }, 'conditions'],
      [{ conditions: [{ field: 'amount', at_least: 10.555 }] }, 'conditions'],
      [{ conditions: [{ field: 'order', at_least: 1.5 }] }, 'conditions'],
      [{ conditions: [{ field: 'amount', is: ['1'] }] }, 'conditions'],
      [{ conditions: [{ field: 'amount', at_least: 5, below: 5 }] }, 'conditions'],
      [{ conditions: [{ field: 'amount', at_least: -1 }] }, 'conditions'],
      // The first order is number 1, and nothing is below 0.
      [{ conditions: [{ field: 'order', below: 1 }] }, 'conditions'],
      [{ conditions: [{ field: 'sales_ever', below: 0 }] }, 'conditions'],
      [{ conditions: [{ field: 'order', is_not: 1 }] }, 'conditions'],
      [{ kinds: ['refund'] }, 'kinds'],
      [{ rate: -1 }, 'rate'],
      [{ rate: 1.00001 }, 'rate'],
      [{ name: ' ' }, 'name'],
      [{ hold_days: -1 }, 'hold_days'],
      [{ max_months: 0 }, 'max_months'],
      [{ affiliate_id: 987_654 }, 'affiliate_id'],
      [{ from: '2026-02-01', until: '2026-01-01' }, 'until'],
    ]
    for (const [args, name] of wrong) {
      const reply = await service().post('/rules', { name: 'wrong', rate: 1, ...args })
      assertFailure(reply, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(reply.body.data.params), [name], JSON.stringify(args))
    }
    const missing = await service().post('/rules', {})
    assert.deepEqual(missing.body.data.params, ['name', 'rate'])
  })

  test('400 - conditions that exclude each other, which are named; 201 - those that only seem to', async () => {
    const post = (conditions: object[]) => service().post('/rules', { name: 'apart', rate: 1, conditions })
    const apart: [object[], string][] = [
      [
        [
          { field: 'category', is: ['A'] },
          { field: 'category', not: ['a '] },
        ],
        '“category is A” (condition 1) and “category is not a ” (condition 2)',
      ],
      [[{ field: 'product', is: ['x'], not: ['X', 'y'] }], '“product is x and is not X or y” (condition 1)'],
      [
        [
          { field: 'country', is: ['DE', 'AT'] },
          { field: 'amount', below: 9 },
          { field: 'country', is: ['FR', 'at'] },
          { field: 'country', not: ['AT'] },
        ],
        '“country is DE or AT” (condition 1) and “country is FR or at” (condition 3) and “country is not AT” (condition 4)',
      ],
      [
        [
          { field: 'amount', below: 100 },
          { field: 'amount', at_least: 100, below: 200 },
        ],
        '“amount at least 100 and below 200” (condition 2) and “amount below 100” (condition 1)',
      ],
    ]
    for (const [conditions, names] of apart) {
      const reply = await post(conditions)
      assertFailure(reply, 400, 'rest_invalid_param')
      assert.ok(reply.body.data.params.conditions.includes(names), reply.body.data.params.conditions)
    }
    const met = [
      [
        { field: 'category', is: ['a'] },
        { field: 'category', is: ['b'] },
      ],
      [
        { field: 'country', is: ['DE', 'AT'] },
        { field: 'country', not: ['AT'] },
      ],
      [
        { field: 'order', at_least: 2 },
        { field: 'order', below: 3 },
      ],
    ]
    for (const conditions of met) {
      const { status, body } = await post(conditions)
      assert.equal(status, 201, JSON.stringify(body))
      await end(body.id)
    }
  })

  test('a sale behind a limit of its rule - the explanation has the limit, and what the sale is', async () => {
    const { id } = await service().newAffiliate('limited', { status: 'active' })
    const why = async (limits: object) => {
      const { id: ruleId } = await rule({ affiliate_id: id, rate: 10, ...limits })
      const name = `limited ${JSON.stringify(limits)}`
      const sale = { kind: 'renewal', amount: 10, affiliate_id: id, customer: { id: name } }
      let last: any
      for (const month of ['01', '02', '04']) {
        const dated = { reference: `${name} ${month}`, occurred_at: `2026-${month}-10` }
        last = (await create('/conversions', { ...sale, ...dated })).referrals[0]
      }
      assert.deepEqual([last.status, last.amount], ['rejected', '0.00'])
      await end(ruleId)
      return (await service().get(`/referrals/${last.id}/explanation`)).body.sentences.join(' ')
    }
    assert.match(
      await why({ max_payments: 2 }),
      /The rule pays for 2 orders of a customer, and this is number 3, so nothing is earned\./,
    )
    assert.match(
      await why({ max_months: 3, max_payments: 9 }),
      /The rule pays for 3 months after a customer's first order, and this one came 3 months after it, so nothing is earned\./,
    )
  })

  test('a draft whose amount is too large to exchange - says so, and not that a rate is missing', async () => {
    const { id } = await service().newAffiliate('vast')
    const draft = await create('/referrals', {
      affiliate_id: id,
      currency: 'KWD',
      amount: 999_999_999_999,
      date: '2026-03-05',
    })
    await create('/exchange-rates', { from_currency: 'KWD', rate: 1000, date: '2026-03-01' })
    const { body } = await service().get(`/referrals/${draft.id}/explanation`)
    assert.deepEqual([body.status, body.reason], ['draft', 'too_large'])
    const told = body.sentences.join(' ')
    assert.match(told, /larger than an amount can be: a person has to set it/)
    assert.doesNotMatch(told, /no exchange rate/)
    const rate = { from_currency: 'KWD', rate: 0.001, date: '2026-03-02' }
    await create('/exchange-rates', rate)
    const { body: real } = await service().get(`/referrals/${draft.id}`)
    assert.deepEqual([real.status, real.amount], ['pending', '1000000000.00'])
  })

  test('200 - rules in the order in which they are tried', async () => {
    const { id: affiliate_id } = await service().newAffiliate('ordered')
    const { id: group_id } = await create('/groups', { name: 'Ordered' })
    const made = [
      await rule({ rate: 1, priority: 900 }),
      await rule({ rate: 1, priority: 800 }),
      await rule({ rate: 1, group_id, priority: 950 }),
      await rule({ rate: 1, affiliate_id, priority: 999 }),
    ]
    const ids = made.map(({ id }) => id)
    const list = `/rules?status=current&orderby=tried&fields=ids&rule_id=${ids.join(',')}`
    assert.deepEqual((await service().get(list)).body, ids.toReversed())
    const { headers, body } = await service().get(`${list}&number=2`)
    const next = /<[^>]*\/v1([^>]*)>; rel="next"/.exec(headers.get('link')!)![1]!
    assert.deepEqual([...body, ...(await service().get(next)).body], ids.toReversed())
    for (const id of ids) await end(id)
  })

  test('201 - a referral without an amount earns what the rules say, and a changed rule changes none', async () => {
    const { id: group_id } = await create('/groups', { name: 'Judged' })
    const { id } = await service().newAffiliate('judged', { group_id })
    assert.equal((await earn(id)).amount, '20.00')
    const ofGroup = await rule({ group_id, rate: 10, hold_days: 0 })
    const first = await earn(id)
    assert.deepEqual([first.amount, first.status], ['10.00', 'unpaid'])
    const { body: second } = await service().patch(`/rules/${ofGroup.id}`, { rate: 11, hold_days: '' })
    const at11 = await earn(id)
    assert.deepEqual([at11.amount, at11.status, second.hold_days], ['11.00', 'unpaid', ''])
    assert.equal((await earn(id, { status: 'pending' })).status, 'pending')
    assert.equal((await service().get(`/referrals/${first.id}`)).body.amount, '10.00')
    assert.deepEqual((await service().get(`/referrals?rule_id=${ofGroup.id}&fields=ids`)).body, [first.id])
    assert.equal((await earn(id, { amount: 3 })).amount, '3.00')
    await service().patch(`/affiliates/${id}`, { rate: 50 })
    assert.equal((await earn(id)).amount, '50.00')
    await service().patch(`/affiliates/${id}`, { rate: '', group_id: 0 })
    assert.equal((await earn(id)).amount, '20.00')
    await end(second.id)
  })

  test('a tier counts what was sold before', async () => {
    const { id } = await service().newAffiliate('tiered')
    const tier = await rule({
      affiliate_id: id,
      rate: 30,
      conditions: [{ field: 'volume_in_month', at_least: 200 }],
    })
    const referrals = []
    for (let sale = 0; sale < 3; sale++) referrals.push(await earn(id))
    assert.deepEqual(
      referrals.map(({ amount }) => amount),
      ['20.00', '20.00', '30.00'],
    )
    // What comes later changes nothing of what was explained.
    await earn(id)
    await end(tier.id)
    const { body } = await service().get(`/referrals/${referrals[2].id}/explanation`)
    assert.deepEqual(body.parts[0].reached, [{ field: 'volume_in_month', had: '200.00' }])
    assert.equal(
      body.sentences[1],
      'The rule asks for a volume of sales in the month of 200.00 USD or more: before this sale the affiliate had 200.00 USD.',
    )
  })

  test('a flat rate needs no exchange rate - what the customer has paid is unknown without one, and no volume', async () => {
    const { id } = await service().newAffiliate('icelander', { status: 'active', rate: 5, rate_type: 'flat' })
    const tier = await rule({
      affiliate_id: id,
      rate: 30,
      conditions: [{ field: 'volume_ever', at_least: 100 }],
    })
    const sale = { affiliate_id: id, kind: 'sale', amount: 10_000, currency: 'ISK' }
    const { referrals } = await create('/conversions', { ...sale, reference: 'abroad-1' })
    assert.equal(referrals[0].amount, '5.00')
    const entered = await earn(id, { order_total: 10_000, currency: 'ISK' })
    const stored = service().database.reader.selectFrom('referrals').select('order_total')
    const ids = [referrals[0].referral_id, entered.id]
    const totals = await stored.where('id', 'in', ids).execute()
    assert.deepEqual(totals, [{ order_total: null }, { order_total: null }])
    const later = await earn(id)
    assert.deepEqual([entered.amount, later.amount], ['5.00', '5.00'])
    await end(tier.id)
  })

  test("the customer's second order, by the customer of the referral", async () => {
    const { id } = await service().newAffiliate('repeated')
    const first = await rule({ affiliate_id: id, rate: 40, max_payments: 2 })
    const { id: customer_id } = await create('/customers', { email: 'again@example.com' })
    const amounts = []
    for (let sale = 0; sale < 3; sale++) amounts.push((await earn(id, { customer_id })).amount)
    assert.deepEqual(amounts, ['40.00', '40.00', '0.00'])
    await end(first.id)
  })

  test('groups: shown when asked for, filtered by, and with names of their own', async () => {
    const { id: group_id } = await create('/groups', { name: 'Editors', description: 'Who write.' })
    assertFailure(await service().post('/groups', { name: 'EDITORS' }), 409, 'rest_group_exists')
    assert.deepEqual((await service().get('/groups?name=eDITORS&fields=ids')).body, [group_id])
    const member = await service().newAffiliate('member', { group_id })
    assert.equal('group_id' in member, false)
    const { body } = await service().get(`/affiliates/${member.id}?group=1`)
    assert.deepEqual(body.group, { group_id, name: 'Editors' })
    assert.deepEqual((await service().get(`/affiliates?group_id=${group_id}&fields=ids`)).body, [member.id])
    assertFailure(await service().delete(`/groups/${group_id}`), 409, 'rest_group_in_use')
    const unknown = await service().patch(`/affiliates/${member.id}`, { group_id: 987_654 })
    assert.deepEqual(Object.keys(unknown.body.data.params), ['group_id'])
    await service().patch(`/affiliates/${member.id}`, { group_id: 0 })
    assert.equal((await service().delete(`/groups/${group_id}`)).status, 200)
  })

  test('409 - a coupon whose code another has, in any case of letters', async () => {
    const { id: affiliate_id } = await service().newAffiliate('couponed')
    const coupon = await create('/coupons', { code: 'Spring-10', affiliate_id })
    assert.deepEqual([coupon.code, coupon.status, coupon.campaign], ['Spring-10', 'active', ''])
    assertFailure(
      await service().post('/coupons', { code: 'SPRING-10', affiliate_id }),
      409,
      'rest_coupon_exists',
    )
    assertFailure(await service().post('/coupons', { code: ' x', affiliate_id }), 400, 'rest_invalid_param')
    for (const filter of ['search=spring', 'code=sPRING-10', 'code=none,spring-10'])
      assert.deepEqual((await service().get(`/coupons?${filter}&fields=ids`)).body, [coupon.id], filter)
    const link = await create('/links', { code: 'Spring_10', affiliate_id })
    assert.deepEqual((await service().get('/links?code=SPRING_10&fields=ids')).body, [link.id])
  })

  test('201 - an amount in another currency is exchanged at the newest rate not after its date', async () => {
    const { id } = await service().newAffiliate('abroad')
    const rates = [
      ['2026-01-01', 1.1],
      ['2026-02-01', '1.085'],
    ] as const
    for (const [date, rate] of rates) await create('/exchange-rates', { from_currency: 'eur', rate, date })
    const sent = { affiliate_id: id, currency: 'EUR', status: 'unpaid', amount: 10.5 }
    const january = await create('/referrals', { ...sent, date: '2026-01-31' })
    assert.deepEqual([january.amount, january.currency, january.status], ['11.55', 'USD', 'unpaid'])
    // 10.50 at 1.085 are 11.3925, exchanged and rounded once.
    assert.equal((await create('/referrals', { ...sent, date: '2026-02-01' })).amount, '11.39')
    // 20 % of 55.55 are 11.11, at 1.085 12.05435.
    const { amount: _amount, ...judged } = sent
    assert.equal((await create('/referrals', { ...judged, order_total: 55.55 })).amount, '12.05')
    assert.equal((await balances(id)).unpaid, 11.55 + 11.39 + 12.05)
    const twice = await service().post('/exchange-rates', {
      from_currency: 'EUR',
      rate: 2,
      date: '2026-01-01',
    })
    assertFailure(twice, 409, 'rest_exchange_rate_exists')
    for (const rate of [0, -1, '1,2', 'x', '1'.repeat(13)]) {
      const wrong = await service().post('/exchange-rates', { from_currency: 'EUR', rate })
      assert.deepEqual(Object.keys(wrong.body.data.params), ['rate'], String(rate))
    }
    assertFailure(
      await service().post('/exchange-rates', { from_currency: 'USD', rate: 1 }),
      400,
      'rest_invalid_param',
    )
  })

  test('a draft waits for the exchange rate, keeps the status that was sent, and is never guessed', async () => {
    const { id } = await service().newAffiliate('waiting')
    const sent = {
      affiliate_id: id,
      currency: 'JPY',
      amount: 1500,
      status: 'unpaid',
      date: '2026-03-05',
      context: 'shop',
      reference: 'J1',
    }
    const draft = await create('/referrals', sent)
    assert.deepEqual([draft.status, draft.amount, draft.currency], ['draft', '0.00', 'USD'])
    assert.equal((await service().post('/referrals', sent)).status, 200)
    assert.deepEqual((await service().post('/referrals', { ...sent, amount: 15.5 })).body.data.params, {
      amount: 'must have at most 0 decimals, as JPY has.',
    })
    assert.equal((await balances(id)).unpaid, 0)
    assertFailure(
      await service().patch(`/referrals/${draft.id}`, { status: 'unpaid' }),
      409,
      'rest_referral_conflict',
    )
    // Not the rate of a later day.
    await create('/exchange-rates', { from_currency: 'JPY', rate: 0.009, date: '2026-03-06' })
    assert.equal((await service().get(`/referrals/${draft.id}`)).body.status, 'draft')
    await create('/exchange-rates', { from_currency: 'JPY', rate: 0.00671, date: '2026-03-01' })
    const { body: real } = await service().get(`/referrals/${draft.id}`)
    // 1,500 yen at 0.00671 are 10.065 dollars; the half goes to the even cent.
    assert.deepEqual([real.status, real.amount], ['unpaid', '10.06'])
    assert.equal((await balances(id)).unpaid, 10.06)
    const { body: again } = await service().post('/referrals', sent)
    assert.equal(again.id, draft.id)
  })

  test('a draft waits for the rule that a rate type names', async () => {
    const admin = await service().admin()
    await admin.patch('/settings', { rate_types: ['percentage', 'flat', 'per lead'] })
    const { id } = await service().newAffiliate('leads', { rate_type: 'per lead' })
    const draft = await earn(id, { type: 'lead' })
    assert.equal(draft.status, 'draft')
    const { body: approved } = await service().patch(`/referrals/${(await earn(id)).id}`, {
      status: 'unpaid',
      amount: 1,
    })
    assert.deepEqual([approved.status, approved.amount], ['unpaid', '1.00'])
    // As it would be stored before sales had countries.
    await service().database.transaction(async tx => {
      const of = tx.selectFrom('referrals').select('calculation').where('id', '=', draft.id)
      const { sale, ...stored } = JSON.parse((await of.executeTakeFirstOrThrow()).calculation)
      const calculation = JSON.stringify({ ...stored, sale: { ...sale, country: undefined } })
      await tx.updateTable('referrals').set({ calculation }).where('id', '=', draft.id).execute()
    })
    const named = await rule({
      name: 'per lead',
      rate_type: 'flat',
      rate: 2.5,
      hold_days: 10,
      kinds: ['lead'],
      conditions: [{ field: 'country', not: ['US'] }],
    })
    const { body: real } = await service().get(`/referrals/${draft.id}`)
    assert.deepEqual([real.status, real.amount], ['pending', '2.50'])
    await end(named.id)
    assert.equal((await earn(id, { type: 'lead' })).status, 'draft')
  })

  test('holds end by themselves, each once, however many end them', async () => {
    const { id } = await service().newAffiliate('held')
    const held = await rule({ affiliate_id: id, rate: 10, hold_days: 2 })
    const date = text(Date.now() - 3 * DAY_MS)
    const made = await Promise.all(Array.from({ length: 130 }, () => earn(id, { date })))
    assert.ok(made.every(({ status, amount }) => status === 'pending' && amount === '10.00'))
    const later = await earn(id)
    const reviewed = await earn(id, { amount: 1 })
    const other = await openDatabase(service().databaseUrl)
    const ended = await Promise.all([
      endHolds(operatorOf(service().database)),
      endHolds(operatorOf(service().database)),
      endHolds(operatorOf(other)),
    ])
    await other.close()
    // The service ends some by itself, when it is slow.
    assert.ok(ended.reduce((sum, one) => sum + one) <= 130)
    assert.equal(await endHolds(operatorOf(service().database)), 0)
    const { pending, unpaid } = await balances(id)
    assert.deepEqual([pending, unpaid], [11, 1300])
    for (const { id } of [later, reviewed]) {
      assert.equal((await service().get(`/referrals/${id}`)).body.status, 'pending')
    }
    await end(held.id)
  })

  test('a conversion is judged by the rules, line by line, and its draft by what is left when the rate comes', async () => {
    const { id } = await service().newAffiliate('converted', { status: 'active' })
    const books = await rule({
      affiliate_id: id,
      rate: 10,
      hold_days: 3,
      conditions: [{ field: 'product', is: ['book'] }],
    })
    const report = (args: object) =>
      create('/conversions', { context: 'shop', affiliate_id: id, kind: 'sale', currency: 'USD', ...args })
    const lines = [
      { product: 'Book', quantity: 2, amount: 40 },
      { product: 'Pen', quantity: 1, amount: 60 },
    ]
    const sale = await report({ reference: 'R1', amount: 110, tax: 10, lines })
    // 10 % of 40.00 and the default of 20 % of 60.00.
    assert.deepEqual([sale.referrals[0].amount, sale.referrals[0].status], ['16.00', 'pending'])
    const listed = await service().get(`/referrals?rule_id=${books.id}&fields=ids`)
    assert.deepEqual(listed.body, [sale.referrals[0].id])
    const { referrals } = await report({ reference: 'R2', amount: 100, currency: 'CHF' })
    assert.equal(referrals[0].status, 'draft')
    await report({ kind: 'refund', reference: 'R2', part: '1', amount: 25, currency: 'CHF' })
    assert.equal((await service().get(`/referrals/${referrals[0].id}`)).body.status, 'draft')
    await create('/exchange-rates', { from_currency: 'CHF', rate: 1.25, date: '2026-01-01' })
    const { body: real } = await service().get(`/referrals/${referrals[0].id}`)
    // 20 % of the 75.00 that are left, at 1.25.
    assert.deepEqual([real.status, real.amount], ['unpaid', '18.75'])
    await report({ kind: 'refund', reference: 'R2', part: '2', amount: 75, currency: 'CHF' })
    assert.equal((await service().get(`/referrals/${referrals[0].id}`)).body.status, 'rejected')
    await end(books.id)
  })

  test('200 - an explanation names rule, version, base, rate, exchange, rounding, hold and refunds', async () => {
    const { id } = await service().newAffiliate('explained', { status: 'active' })
    const old = await rule({ name: 'Norway', affiliate_id: id, rate: 1, hold_days: 3650 })
    const { body: current } = await service().patch(`/rules/${old.id}`, { rate: 12.5, base: 'gross' })
    await create('/exchange-rates', { from_currency: 'NOK', rate: '0.09417', date: '2026-02-01' })
    const sent = {
      context: 'shop',
      affiliate_id: id,
      kind: 'sale',
      currency: 'NOK',
      occurred_at: '2026-02-03 10:00:00',
    }
    const sale = { ...sent, reference: 'N1', amount: 333.3, tax: 33 }
    const { conversion, referrals } = await create('/conversions', sale)
    const refund = await create('/conversions', {
      ...sent,
      kind: 'refund',
      reference: 'N1',
      part: '1',
      amount: 111.1,
    })
    const { status, body } = await service().get(`/referrals/${referrals[0].id}/explanation`)
    assert.equal(status, 200, JSON.stringify(body))
    // 12.5 % of 333.30 are 41.6625; two thirds of that are 27.775, and at 0.09417 2.61557175.
    assert.deepEqual(
      { ...body, sentences: [] },
      {
        referral_id: referrals[0].id,
        conversion_id: conversion.id,
        status: 'pending',
        amount: '2.62',
        currency: 'USD',
        reason: '',
        rejection_reason: '',
        payout_run_id: 0,
        original_amount: '41.66',
        original_currency: 'NOK',
        parts: [
          {
            source: 'rule',
            rule_id: current.id,
            series: old.id,
            version: 2,
            name: 'Norway',
            rate_type: 'percentage',
            rate: '12.5',
            base: 'gross',
            of: '333.3',
            items: 1,
            lines: [],
            reached: [],
            ended: false,
            earned: '41.6625',
            currency: 'NOK',
          },
        ],
        exchange: [
          {
            exchange_rate_id: body.exchange[0].exchange_rate_id,
            rate: '0.09417',
            from: 'NOK',
            to: 'USD',
            date: '2026-02-01 00:00:00',
          },
        ],
        left: '0.6666666666…',
        exact: '2.61557175',
        rounded: '2.62',
        hold_until: '2036-02-01 10:00:00',
        refunds: [],
        sentences: [],
      },
    )
    assert.deepEqual(body.sentences, [
      `The rule “Norway” (rule ${old.id}, version 2) applies: 12.5%.`,
      'It is taken of 333.30 NOK, which the customer pays with tax and shipping: 41.6625 NOK.',
      'At the exchange rate of 2026-02-01, 1 NOK is 0.09417 USD: 41.6625 NOK are 3.923357625 USD.',
      'Refunds or disputes have left 66.66…% of the sale: of 3.923357625 USD, 2.61557175 USD are earned.',
      '2.61557175 USD are rounded to 2 decimals, a half to the even digit: 2.62 USD.',
      `There was a refund of 111.10 NOK on 2026-02-03 (conversion ${refund.conversion.conversion_id}).`,
      'It is pending until 2036-02-01 10:00:00 UTC, and is owed from then on.',
    ])
    await end(current.id)
    const flat = await rule({ name: 'Flat', affiliate_id: id, rate_type: 'flat', rate: 5 })
    const { referrals: fixed } = await create('/conversions', { ...sale, reference: 'N2' })
    assert.deepEqual((await service().get(`/referrals/${fixed[0].id}/explanation`)).body.sentences, [
      `The rule “Flat” (rule ${flat.id}, version 1) applies: a flat 5.00 USD.`,
      'That is 5.00 USD, whatever the customer pays.',
      'It is owed, and not paid yet.',
    ])
    await end(flat.id)
    const plain = await create('/referrals', { affiliate_id: id, amount: 7, status: 'unpaid' })
    const { body: asSent } = await service().get(`/referrals/${plain.id}/explanation`)
    assert.deepEqual(asSent.sentences, [
      'The amount of 7.00 USD was sent as it is; no rule was applied.',
      'It is owed, and not paid yet.',
    ])
    const writeOff = { affiliate_id: id, type: 'write_off', amount: -7, status: 'unpaid' }
    const lost = await create('/referrals', writeOff)
    assert.deepEqual((await service().get(`/referrals/${lost.id}/explanation`)).body.sentences, [
      '7.00 USD was written off by hand, with no rule applied.',
      'It will be deducted from the next payout.',
    ])
    const added = await create('/referrals', { ...writeOff, amount: 2, description: 'Goodwill' })
    assert.deepEqual((await service().get(`/referrals/${added.id}/explanation`)).body.sentences, [
      '2.00 USD was added by hand, with no rule applied.',
      'The note says: “Goodwill”',
      'It is owed, and not paid yet.',
    ])
    const draft = await create('/referrals', {
      affiliate_id: id,
      amount: 7,
      currency: 'SEK',
      date: '2026-02-03',
    })
    const { body: waiting } = await service().get(`/referrals/${draft.id}/explanation`)
    assert.deepEqual(
      [waiting.reason, waiting.original_amount, waiting.exact, waiting.sentences[1]],
      [
        'no_exchange_rate',
        '7.00',
        '',
        'There is no exchange rate of SEK for 2026-02-03 yet: the amount is known as soon as there is one.',
      ],
    )
    assertFailure(await service().get('/referrals/987654/explanation'), 404, 'invalid_referral_id')
  })

  test('200 - an explanation of what needed no exchange rate is in the currency of its sale', async () => {
    const explained = async (id: number) => (await service().get(`/referrals/${id}/explanation`)).body
    const flat = await service().newAffiliate('flat-abroad', { status: 'active', rate: 5, rate_type: 'flat' })
    const nothing = await service().newAffiliate('nothing-abroad', { status: 'active', rate: 0 })
    const sale = { kind: 'sale', context: 'shop', occurred_at: '2026-02-03' }
    const sold = async (reference: string, args: object) =>
      (await create('/conversions', { ...sale, reference, ...args })).referrals[0].id
    const halved = await sold('G1', { affiliate_id: flat.id, currency: 'GEL', amount: 100 })
    const refund = { kind: 'refund', context: 'shop', reference: 'G1', part: '1', amount: 50 }
    await create('/conversions', { ...refund, occurred_at: '2026-02-04' })
    const { amount, parts, sentences } = await explained(halved)
    assert.deepEqual([amount, parts[0].of], ['2.50', '100'])
    assert.match(sentences.join(' '), /There was a refund of 50\.00 GEL on 2026-02-04/)
    assert.doesNotMatch(sentences.join(' '), /takes nothing back/)
    const free = await sold('G2', { affiliate_id: nothing.id, currency: 'GEL', amount: 269.6 })
    assert.match((await explained(free)).sentences.join(' '), /taken of 269\.60 GEL, which the customer pays/)
    const isk = { affiliate_id: flat.id, currency: 'ISK' }
    const { id: entered } = await create('/referrals', { ...isk, order_total: 1000 })
    for (const id of [entered, await sold('G3', { ...isk, amount: 1000 })]) {
      const { parts, original_currency } = await explained(id)
      assert.deepEqual([parts[0].of, original_currency], ['1000', ''])
    }
  })

  test('200 - a preview tries no rules for an affiliate with a rate of their own', async () => {
    const { id } = await service().newAffiliate('previewed-own', { rate: 7 })
    await rule({ name: 'Not tried', affiliate_id: id, rate: 10 })
    const { body } = await service().post('/rules/preview', { affiliate_id: id, amount: 100 })
    assert.deepEqual([body.amount, body.parts[0].source, body.tried], ['7.00', 'affiliate', []])
  })

  test('200 - a preview says what a sale would earn, by the rules and by one that is none yet', async () => {
    const preview = async (args: object) => {
      const { status, body } = await service().post('/rules/preview', args)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }
    const { id } = await service().newAffiliate('previewed')
    const now = await rule({
      name: 'Now',
      affiliate_id: id,
      rate: 10,
      conditions: [{ field: 'country', is: ['FR'] }],
    })
    const sale = { affiliate_id: id, amount: 62, tax: 0, order: 1 }
    const elsewhere = await preview(sale)
    assert.deepEqual([elsewhere.amount, elsewhere.parts[0].source], ['12.40', 'default'])
    assert.deepEqual(elsewhere.tried, [
      { rule_id: now.id, name: 'Now', applies: false, because: 'It asks for a country that is FR.' },
    ])
    assert.equal(elsewhere.sentences[0], 'This sale would earn 12.40 USD.')
    assert.equal((await preview({ ...sale, country: 'fr' })).amount, '6.20')
    const unsaved = { name: 'Soon', affiliate_id: id, rate: 25, priority: 1, hold_days: 30 }
    const soon = await preview({ ...sale, country: 'FR', rule: unsaved })
    assert.deepEqual(
      [soon.amount, soon.parts[0].name, soon.hold_days, soon.tried[0].rule_id],
      ['15.50', 'Soon', 30, 0],
    )
    const instead = await preview({
      ...sale,
      country: 'FR',
      rule: { ...unsaved, priority: 500 },
      rule_id: now.id,
    })
    assert.equal(instead.amount, '15.50')
    assert.equal((await preview({ ...sale, currency: 'ISK' })).reason, 'no_exchange_rate')
    const tiered = { ...unsaved, conditions: [{ field: 'sales_ever', at_least: 10 }] }
    assert.equal((await preview({ ...sale, rule: tiered })).amount, '12.40')
    assert.equal((await preview({ ...sale, sales_ever: 10, rule: tiered })).amount, '15.50')
    const leads = { ...unsaved, kinds: ['lead'] }
    assert.equal((await preview({ ...sale, kind: 'lead', rule: leads })).amount, '15.50')
    const unknown = {
      ...{ affiliate_id: 999_999, group_id: 999_998, rule_id: 999_997 },
      rule: { ...unsaved, affiliate_id: 999_996 },
    }
    const nobody = await service().post('/rules/preview', { ...sale, ...unknown })
    assertFailure(nobody, 400, 'rest_invalid_param')
    assert.deepEqual(nobody.body.data.params, {
      affiliate_id: 'must be the identifier of an existing affiliate, or 0.',
      group_id: 'must be the identifier of an existing group, or 0.',
      rule_id: 'must be the identifier of an existing rule.',
      'rule[affiliate_id]': 'must be the identifier of an existing affiliate, or 0.',
    })
    const wrong = await service().post('/rules/preview', {
      ...sale,
      rule: { ...unsaved, conditions: [{ field: 'country' }] },
    })
    assert.deepEqual(Object.keys(wrong.body.data.params), ['rule[conditions]'])
    assert.equal((await service().get(`/rules?affiliate_id=${id}&count=1`)).headers.get('x-total-count'), '1')
    await end(now.id)
  })

  test('exchange rates out of a file: wrong lines are named, and the same file again changes nothing', async () => {
    const folder = await temporaryFolder()
    const file = join(folder.path, 'rates.csv')
    const lines = [
      'From_Currency,rate,date',
      'THB,0.0281,2026-01-01',
      'THB,x,2026-01-02',
      'THB,0.0279,2026-01-03',
    ]
    await writeFile(file, lines.join('\n'))
    const run = async () => {
      const args = ['exchange-rates', 'import', file, '--json', '--database', service().databaseUrl]
      const { stdout, code } = await runCommand(args)
      return { code, ...JSON.parse(stdout) }
    }
    const { errors, ...first } = await run()
    assert.deepEqual(first, { code: 1, lines: 3, imported: 2, existing: 0, wrong: 1 })
    assert.equal(errors[0].line, 3)
    const { imported, existing } = await run()
    assert.deepEqual([imported, existing], [0, 2])
    await writeFile(file, 'from_currency,rate,date\nTHB,0.02810,2026-01-01\nTHB,0.0297,2026-01-03\n')
    const { errors: others, ...corrected } = await run()
    assert.deepEqual(corrected, { code: 1, lines: 2, imported: 0, existing: 1, wrong: 1 })
    assert.equal(others[0].line, 3)
    assert.match(others[0].message, /edit that one\. It is 0\.0279 there\.$/)
    await folder.remove()
    const admin = await service().admin()
    await rule({
      name: 'Exported',
      rate: 1.5,
      affiliate_id: (await service().newAffiliate('exported')).id,
      conditions: [{ field: 'country', is: ['DE'] }],
    })
    const { body: csv } = await admin.get('/exports/rules?status=current&search=exported')
    assert.match(
      csv,
      /Exported,\d+,,100,,"\[\{""field"":""country"",""is"":\[""DE""\]\}\]",percentage,1\.5,USD,net/,
    )
    const { body: rates } = await admin.get('/exports/exchange-rates?from_currency=THB')
    assert.match(rates, /THB,USD,0\.0281,2026-01-01 00:00:00/)
  })
})
