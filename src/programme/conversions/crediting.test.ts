/** An attribution credits the sale of its payment in whatever order the reports arrive, and whatever joins them. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { describeService } from '../../../test/harness.ts'

describeService('credit that waits for its sale', service => {
  let first: number
  let second: number
  let number = 0
  const active = async (name: string) =>
    (await service().newAffiliate(name, { status: 'active', rate: 10, rate_type: 'percentage' })).id
  before(async () => {
    first = await active('waiting-first')
    second = await active('waiting-second')
  })
  const send = (args: object) => service().post('/conversions', args)
  const report = async (args: object) => {
    const reply = await send(args)
    assert.ok(reply.status < 300, JSON.stringify([args, reply.body]))
    return reply.body
  }
  /** Names for one payment: reports name them in full, so that each test begins with a new one. */
  const fresh = () => {
    const prefix = `wait-${++number}-`
    return (name: string) => `${prefix}${name}`
  }
  const owed = async (id: number) => (await service().get(`/affiliates/${id}/balances`)).body.unpaid
  const listed = async (reference: string) =>
    (await service().get(`/conversions?reference=${reference}`)).body

  test('sale under the name of an attribution whose buyer is its affiliate - is credited to whom it names', async () => {
    const name = fresh()
    await report({ kind: 'attribution', reference: name('s'), affiliate_id: first })
    const customer = { email: 'waiting-first@example.com' }
    const sale = { kind: 'sale', amount: 100 }
    await report({ ...sale, reference: name('t'), references: [name('s')], customer })
    const again = { ...sale, reference: name('s'), affiliate_id: second }
    const { conversion, referrals } = await report(again)
    assert.deepEqual(
      [conversion.affiliate_id, referrals.map((one: any) => [one.affiliate_id, one.amount])],
      [second, [[second, '10.00']]],
    )
    assert.equal((await send(again)).status, 200)
    assert.equal((await listed(name('s'))).length, 2)
  })

  test('attribution, sale and the refund that joins them - every order ends alike', async () => {
    const sets: ((name: (name: string) => string) => object[])[] = [
      name => [
        { kind: 'attribution', reference: name('o'), affiliate_id: first },
        { kind: 'sale', reference: name('pi'), amount: 100 },
        { kind: 'refund', part: '1', reference: name('o'), references: [name('pi')], amount: 10 },
      ],
      name => [
        { kind: 'attribution', reference: name('o'), affiliate_id: first },
        { kind: 'sale', reference: name('pi'), amount: 100, customer: { id: name('c') } },
        { kind: 'dispute', part: '1', reference: name('ch'), amount: 10 },
        { kind: 'sale', reference: name('ch'), references: [name('o'), name('pi')], amount: 100 },
      ],
    ]
    for (const set of sets) {
      for (const order of permutations(set(name => name).length)) {
        const name = fresh()
        const unpaid = await owed(first)
        const reports = set(name)
        for (const place of order) await report(reports[place]!)
        // Sent again, they change nothing.
        const { referrals } = await report(reports[0]!)
        const told = JSON.stringify(order)
        assert.equal(referrals.length, 1, told)
        assert.equal(Math.round((await owed(first)) * 100) - Math.round(unpaid * 100), 900, told)
        for (const reference of ['o', 'pi', 'ch'].map(name)) {
          for (const one of await listed(reference)) assert.equal(one.affiliate_id, first, told)
        }
      }
    }
  })

  test('attribution that waits - is not of the buyer, whom it would credit', async () => {
    const name = fresh()
    await report({ kind: 'attribution', reference: name('o'), affiliate_id: first })
    const customer = { email: `waiting-first+${name('tag')}@example.com` }
    await report({ kind: 'sale', reference: name('pi'), amount: 100, customer })
    const refund = { kind: 'refund', part: '1', reference: name('o'), references: [name('pi')], amount: 10 }
    assert.deepEqual((await report(refund)).referrals, [])
    const sale = { kind: 'sale', reference: name('o'), amount: 100, affiliate_id: second }
    const { referrals } = await report(sale)
    assert.deepEqual(
      referrals.map((one: any) => [one.affiliate_id, one.amount]),
      [[second, '9.00']],
    )
  })

  test('refund before its sale - is of the affiliate of the sale, whomever an attribution named', async () => {
    const name = fresh()
    const reference = name('o')
    const { conversion } = await report({ kind: 'refund', part: '1', reference, amount: 10 })
    await report({ kind: 'attribution', reference, affiliate_id: first })
    const { referrals } = await report({ kind: 'sale', reference, amount: 100, affiliate_id: second })
    assert.deepEqual(
      referrals.map((one: any) => [one.affiliate_id, one.amount]),
      [[second, '9.00']],
    )
    const { body } = await service().get(`/conversions/${conversion.conversion_id}`)
    assert.equal(body.affiliate_id, second)
  })

  test('refunds and disputes beside a lead and a sale of two affiliates - every order ends as the one in which it happened', async () => {
    const sets: ((name: (name: string) => string) => object[])[] = [
      name => [
        { kind: 'lead', reference: name('o'), affiliate_id: first },
        { kind: 'sale', reference: name('o'), amount: 100, affiliate_id: second },
        { kind: 'refund', part: '1', reference: name('o'), amount: 30 },
      ],
      name => [
        { kind: 'lead', reference: name('l'), affiliate_id: first, amount: 40 },
        { kind: 'sale', reference: name('o'), references: [name('l')], amount: 100, affiliate_id: second },
        { kind: 'dispute', part: '1', reference: name('l'), amount: 30 },
        { kind: 'refund', part: '1', reference: name('o'), amount: 20 },
      ],
      name => [
        { kind: 'lead', reference: name('o'), affiliate_id: first, amount: 10 },
        { kind: 'attribution', reference: name('o'), affiliate_id: second },
        { kind: 'sale', reference: name('o'), amount: 100 },
        { kind: 'refund', part: '1', reference: name('o'), amount: 30 },
      ],
    ]
    for (const set of sets) {
      let wanted: unknown
      for (const order of permutations(set(name => name).length)) {
        const name = fresh()
        const before = [await owed(first), await owed(second)]
        const reports = set(name)
        for (const place of order) await report(reports[place]!)
        const after = [await owed(first), await owed(second)]
        const members = (await Promise.all(['o', 'l'].map(one => listed(name(one))))).flat()
        const credited = members.map((one: any) => `${one.kind} ${one.part}: ${one.affiliate_id}`).sort()
        const gained = after.map((sum, place) => Math.round((sum - before[place]!) * 100))
        wanted ??= { gained, credited }
        assert.deepEqual({ gained, credited }, wanted, JSON.stringify(order))
        const reversals = members.filter((one: any) => one.kind === 'refund' || one.kind === 'dispute')
        assert.ok(reversals.every((one: any) => one.affiliate_id === second))
      }
    }
  })

  test('reports of what has earned nothing - its referrals end alike in every order', async () => {
    const free = { reference: 'o', affiliate_id: first, amount: 0 }
    const refund = { kind: 'refund', reference: 'o', part: '1', amount: 1 }
    const dispute = { kind: 'dispute', reference: 'o', part: 'd', amount: 1 }
    const sets: [object[], string[]][] = [
      [
        [{ ...free, kind: 'lead' }, refund, { ...free, kind: 'sale', amount: 100 }],
        ['lead unpaid 0.00', 'sale unpaid 9.90'],
      ],
      [
        [{ ...free, kind: 'lead' }, refund, { ...free, kind: 'sale' }],
        ['lead unpaid 0.00', 'sale rejected 0.00'],
      ],
      [[{ ...free, kind: 'lead' }, refund], ['lead rejected 0.00']],
      [
        [{ ...free, kind: 'sale' }, refund, { ...free, kind: 'sale', references: ['again'] }],
        ['sale rejected 0.00'],
      ],
      [[{ ...free, kind: 'sale' }, dispute, { ...dispute, kind: 'dispute_won' }], ['sale unpaid 0.00']],
      [[{ ...free, kind: 'sale', amount: 0.04 }, refund, dispute], ['sale rejected 0.00']],
    ]
    for (const [reports, wanted] of sets) {
      for (const order of permutations(reports.length)) {
        const context = fresh()('free')
        let referrals: any[] = []
        for (const place of order) {
          referrals = (await service().post('/conversions', { ...reports[place], context })).body.referrals
        }
        const ended = referrals.map(one => `${one.type} ${one.status} ${one.amount}`).sort()
        assert.deepEqual(ended, wanted, JSON.stringify([order, reports]))
      }
    }
  })

  test('attribution that is refused when its payment becomes known - is explained with its reason', async () => {
    const name = fresh()
    await report({ kind: 'attribution', reference: name('o'), affiliate_id: first })
    const customer = { email: `waiting-first+${name('tag')}@example.com` }
    const { conversion } = await report({ kind: 'sale', reference: name('pi'), amount: 100, customer })
    await report({ kind: 'refund', part: '1', reference: name('o'), references: [name('pi')], amount: 10 })
    const why = async () => (await service().get(`/conversions/${conversion.conversion_id}/explanation`)).body
    const [candidate] = (await why()).candidates
    assert.deepEqual(
      [candidate.by, candidate.affiliate_id, candidate.reason, candidate.credited],
      ['attribution', first, 'self_referral', false],
    )
    assert.ok((await why()).sentences.includes(candidate.text))
    const { body: described } = await service().get('/openapi.json')
    const { by } = described.components.schemas.Candidate.properties
    assert.ok(by.enum.includes(candidate.by))
    // The answer of a report has the same.
    const { explanation } = await report({ kind: 'sale', reference: name('o'), amount: 100, customer })
    assert.deepEqual(explanation.candidates, [candidate])
    await report({ kind: 'sale', reference: name('o'), amount: 100, affiliate_id: second })
    assert.equal((await why()).candidates[0].reason, 'earlier_claim')
  })

  test('200 - a sale without credit whose next report names no customer, or another - is still of its customer', async () => {
    const name = fresh()
    const sale = { kind: 'sale', amount: 100 }
    const affiliate_id = await active(name('self'))
    const email = `${name('self')}@example.com`
    for (const customer of [undefined, { email: `${name('b')}@example.com` }]) {
      const own = name(customer ? 'named' : 'unnamed')
      await report({ ...sale, reference: own, customer: { email } })
      const again = { ...sale, reference: `${own} pi`, references: [own], affiliate_id, customer }
      assert.deepEqual((await report(again)).referrals, [], 'of the affiliate')
    }
    const customer = { id: name('c') }
    await report({ ...sale, reference: name('o'), customer })
    await report({ ...sale, reference: name('pi'), references: [name('o')], affiliate_id })
    const renewal = await report({ ...sale, kind: 'renewal', reference: name('r'), customer })
    assert.equal(renewal.conversion.affiliate_id, affiliate_id, 'of a customer without an affiliate')
  })

  test('200 - a credited sale whose next report names the customer - credits what they bought since, unless it is the affiliate', async () => {
    const name = fresh()
    const affiliate_id = await active(name('own'))
    for (const [shop, email, credited] of [
      [name('x'), `${name('x')}@example.com`, affiliate_id],
      [name('y'), `${name('own')}+y@example.com`, 0],
    ] as const) {
      const sale = { kind: 'sale', amount: 100, context: shop, occurred_at: '2026-01-01 10:00:00' }
      const customer = { email }
      await report({ ...sale, reference: 'o', affiliate_id })
      const renewal = { ...sale, kind: 'renewal', occurred_at: '2026-02-01 10:00:00', customer }
      const { conversion } = await report({ ...renewal, reference: 'r' })
      await report({ ...sale, reference: 'pi', references: ['o'], customer })
      const { body } = await service().get(`/conversions/${conversion.conversion_id}`)
      assert.equal(body.affiliate_id, credited, email)
      const story = await service().get(`/conversions/${conversion.conversion_id}/explanation`)
      const sentence = `Affiliate ${credited} was credited later, because the customer belongs to them by now.`
      assert.equal(story.body.sentences.includes(sentence), credited !== 0, story.body.sentences.join(' '))
    }
  })

  test('200 - a sale from before its customer belonged to anybody that is reported again - stays without credit, under any name', async () => {
    const name = fresh()
    const affiliate_id = await active(name('later'))
    const sale = { kind: 'sale', amount: 100, customer: { id: name('c') } }
    const own = {
      ...sale,
      reference: name('o'),
      references: [name('pi')],
      occurred_at: '2026-01-01 10:00:00',
    }
    await report(own)
    await report({ ...sale, reference: name('next'), affiliate_id, occurred_at: '2026-01-02 10:00:00' })
    for (const again of [
      own,
      { kind: 'sale', amount: 100, reference: name('pi') },
      { ...sale, reference: name('pi') },
    ]) {
      assert.deepEqual((await report(again)).referrals, [])
    }
  })

  test('drafts of one payment that a third report joins - the second says so in the log', async () => {
    const name = fresh()
    const sale = { kind: 'sale', amount: 100, currency: 'CHF', affiliate_id: first }
    await report({ ...sale, reference: name('o') })
    await report({ ...sale, reference: name('pi') })
    const { referrals } = await report({ ...sale, reference: name('x'), references: [name('o'), name('pi')] })
    assert.deepEqual(
      referrals.map((one: any) => one.status),
      ['draft', 'draft'],
    )
    const { body: events } = await service().get('/events?type=referral.edit')
    const own = events.filter((one: any) => one.record_id === referrals[1].referral_id)
    assert.deepEqual(
      own.map((one: any) => one.changes),
      [{ left: ['1', '0'] }],
    )
    assert.equal((await send({ ...sale, reference: name('x') })).status, 200)
    await service().post('/exchange-rates', { from_currency: 'CHF', rate: 1, date: '2020-01-01' })
    const rows = (
      await service().get(`/referrals?referral_id=${referrals.map((one: any) => one.referral_id)}`)
    ).body
    assert.deepEqual(rows.map((one: any) => [one.status, one.amount]).sort(), [
      ['rejected', '0.00'],
      ['unpaid', '10.00'],
    ])
  })

  test('refund that a repeated report joins to a sale that is worth nothing - is logged as credited', async () => {
    const name = fresh()
    const sale = { kind: 'sale', amount: 0, reference: name('o'), affiliate_id: first }
    await report(sale)
    const { conversion } = await report({ kind: 'refund', part: '1', reference: name('r'), amount: 0 })
    await report({ ...sale, references: [name('r')] })
    const { body } = await service().get(`/conversions/${conversion.conversion_id}`)
    assert.equal(body.affiliate_id, first)
  })

  test('purchase or lead under the address of the affiliate - is not credited along with others of the customer or payment', async () => {
    const name = fresh()
    const affiliate_id = await active(name('own'))
    const own = { email: `${name('own')}@example.com` }
    const buyer = { id: name('c'), email: `${name('buyer')}@example.org` }
    const sale = { kind: 'sale', amount: 100, occurred_at: '2026-03-10' }
    await report({ ...sale, reference: name('known'), customer: buyer, occurred_at: '2026-01-01' })
    const before = { ...sale, reference: name('own'), customer: { ...buyer, ...own }, affiliate_id }
    assert.equal((await report(before)).conversion.affiliate_id, 0)
    const other = { ...sale, reference: name('other'), customer: buyer }
    await report(other)
    const first = { ...sale, reference: name('first'), customer: buyer, occurred_at: '2026-03-01' }
    await report({ ...first, affiliate_id })
    const creditOf = async (reference: string) =>
      (await listed(name(reference))).map((one: any) => [one.kind, one.affiliate_id])
    assert.deepEqual(await creditOf('own'), [['sale', 0]])
    assert.deepEqual((await creditOf('other'))[0], ['sale', affiliate_id])

    const payment = { reference: name('lead') }
    await report({ kind: 'lead', ...payment, customer: own, affiliate_id })
    const another = { email: `${name('another')}@example.org` }
    await report({ ...sale, ...payment, customer: another })
    const { referrals } = await report({ kind: 'attribution', ...payment, affiliate_id })
    assert.deepEqual(
      referrals.map((one: any) => one.type),
      ['sale'],
    )
    assert.deepEqual((await creditOf('lead')).toSorted(), [
      ['attribution', affiliate_id],
      ['lead', 0],
      ['sale', affiliate_id],
    ])
  })

  test('lead of a customer with orders - earns the same at once and credited later', async () => {
    const name = fresh()
    const { id } = await service().newAffiliate('waiting-lead', { status: 'active' })
    const rule = { name: name('first order'), affiliate_id: id, rate_type: 'flat', rate: 5 }
    const conditions = [{ field: 'order', below: 2 }]
    assert.equal((await service().post('/rules', { ...rule, conditions })).status, 201)
    const customer = { id: name('c') }
    for (const order of ['a', 'b'])
      await report({ kind: 'sale', reference: name(order), amount: 100, customer, affiliate_id: second })
    const amountsOf = ({ referrals }: any) => referrals.map((one: any) => one.amount)
    const now = await report({ kind: 'lead', reference: name('now'), customer, affiliate_id: id })
    // Nobody is credited for the customer of somebody who is not active.
    await service().patch(`/affiliates/${second}`, { status: 'inactive' })
    const later = await report({ kind: 'lead', reference: name('later'), customer })
    await service().patch(`/affiliates/${second}`, { status: 'active' })
    assert.equal(later.conversion.affiliate_id, 0)
    const credited = await report({ kind: 'attribution', reference: name('later'), affiliate_id: id })
    assert.deepEqual([amountsOf(now), amountsOf(credited)], [['5.00'], ['5.00']])
  })
})

function permutations(count: number): number[][] {
  if (count === 0) return [[]]
  return permutations(count - 1).flatMap(order =>
    Array.from({ length: count }, (_, place) => order.toSpliced(place, 0, count - 1)),
  )
}
