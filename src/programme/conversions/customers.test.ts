/** One customer is one customer, however many reports name them at the same moment. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeService, operatorOf } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { eraseCustomer } from '../../operations/privacy/rules.ts'

const AT_ONCE = 10
const MOST_PAID = 2

describeService('customers who are named by many reports at once', service => {
  const paidOf = (answers: readonly { body: any }[]) =>
    answers.filter(({ body }) => body.referrals[0].status === 'unpaid').length

  async function affiliateWithRule(name: string, rule: object): Promise<number> {
    const { id } = await service().newAffiliate(name, { status: 'active' })
    const sent = { name, affiliate_id: id, rate_type: 'percentage', rate: 50, ...rule }
    const { status, body } = await service().post('/rules', sent)
    assert.equal(status, 201, JSON.stringify(body))
    return id
  }

  const report = (prefix: string, sent: object) =>
    Promise.all(
      Array.from({ length: AT_ONCE }, async (_, number) => {
        const own = { kind: 'renewal', context: 'S', reference: `${prefix} ${number}`, amount: 10 }
        const answer = await service().post('/conversions', { ...own, ...sent })
        assert.equal(answer.status, 201, JSON.stringify(answer.body))
        return answer
      }),
    )

  test('a rule pays as many of their payments as it says', async () => {
    const affiliate_id = await affiliateWithRule('limited', { max_payments: MOST_PAID })
    const called = { affiliate_id, customer: { id: 'C1' } }
    assert.equal(paidOf(await report('new by identifier', called)), MOST_PAID)
    assert.equal(paidOf(await report('known', called)), 0)
    const addressed = { affiliate_id, customer: { email: 'c2@example.com' } }
    assert.equal(paidOf(await report('new by address', addressed)), MOST_PAID)
    // A customer who is known under one name, and reported under two.
    const names = [{ id: 'C3' }, { email: 'c3@example.com' }]
    const both = { affiliate_id, reference: 'known by both', customer: { ...names[0], ...names[1] } }
    await service().post('/conversions', { kind: 'lead', context: 's', ...both })
    const answers = await Promise.all(
      names.map((customer, place) => report(`by name ${place}`, { affiliate_id, customer })),
    )
    assert.equal(paidOf(answers.flat()), MOST_PAID)
  })

  test('so it does for lines of many customers, sent twice at once in opposite order', async () => {
    const affiliate_id = await affiliateWithRule('lines', { max_payments: MOST_PAID })
    const lines = (prefix: string) =>
      Array.from({ length: AT_ONCE }, (_, number) => ({
        ...{ kind: 'renewal', context: 'lines', reference: `${prefix} ${number}`, amount: 10, affiliate_id },
        customer: number % 2 === 0 ? { id: `L${number}` } : { email: `l${number}@example.com` },
      }))
    const paid = []
    for (const round of ['new', 'known']) {
      const both = [lines(`${round} a`), lines(`${round} b`).reverse()]
      const answers = await Promise.all(
        both.map(all =>
          service().post('/conversions', all.map(one => JSON.stringify(one)).join('\n'), {
            headers: { 'content-type': 'application/x-ndjson' },
          }),
        ),
      )
      for (const line of answers.flatMap(({ body }) => (body as string).trim().split('\n'))) {
        const { status, referrals } = JSON.parse(line)
        assert.equal(status, 201, line)
        paid.push(...referrals.filter(({ status }: any) => status === 'unpaid'))
      }
    }
    assert.equal(paid.length, AT_ONCE * MOST_PAID)
  })

  test('the first order is one', async () => {
    const conditions = [{ field: 'order', below: 2 }]
    const affiliate_id = await affiliateWithRule('first', { priority: 1, conditions })
    const answers = await report('order', { affiliate_id, customer: { id: 'C5', email: 'c5@example.com' } })
    const amounts = answers.map(({ body }) => Number(body.referrals[0].amount)).sort((a, b) => b - a)
    assert.deepEqual(amounts, [5, ...Array.from({ length: AT_ONCE - 1 }, () => 2)])
  })

  test('an identifier of a shop is one customer, who belongs to one affiliate', async () => {
    const ids: number[] = []
    for (const name of ['one', 'other'])
      ids.push((await service().newAffiliate(name, { status: 'active' })).id)
    const known = async () => (await service().get('/customers?number=1000&fields=ids')).body.length
    const before = await known()
    const answers = await Promise.all(
      ids.map(affiliate_id => report(`of ${affiliate_id}`, { affiliate_id, customer: { id: 'C6' } })),
    )
    const customers = new Set(answers.flat().map(({ body }) => body.conversion.customer_id))
    assert.equal(customers.size, 1)
    assert.equal((await known()) - before, 1)
  })

  test('an address that is sent later is kept: it is found, exported and erased, and told from the affiliate', async () => {
    const email = 'payee.c7@example.com'
    const { id } = await service().newAffiliate('self', { status: 'active', payment_email: email })
    const sell = async (reference: string, customer: object) => {
      const sale = { kind: 'sale', context: 'S', reference: `c7 ${reference}`, amount: 10, customer }
      const { status, body } = await service().post('/conversions', { ...sale, click: {}, affiliate_id: id })
      assert.equal(status, 201, JSON.stringify(body))
      return body.conversion
    }
    const first = await sell('1', { id: 'C7' })
    assert.equal(first.affiliate_id, id)
    for (const [reference, sent] of [
      ['2', { id: 'C7', email: email.toUpperCase(), first_name: 'Vic' }],
      ['3', { id: 'C7' }],
      ['4', { email }],
    ] as const) {
      const { affiliate_id, customer_id } = await sell(reference, sent)
      assert.deepEqual([affiliate_id, customer_id], [0, first.customer_id], reference)
    }
    const { body: customer } = await service().get(`/customers/${email}`)
    assert.deepEqual([customer.customer_id ?? customer.id, customer.first_name], [first.customer_id, 'Vic'])
    // Who has one keeps it, and that of somebody else stays theirs.
    await sell('5', { id: 'C7', email: 'c7.new@example.com', last_name: 'Late' })
    const other = await sell('6', { email: 'c8@example.com' })
    const unnamed = await sell('7', { id: 'C8' })
    await sell('8', { id: 'C8', email: 'c8@example.com' })
    for (const [of, address] of [
      [first, email.toUpperCase()],
      [other, 'c8@example.com'],
      [unnamed, ''],
    ])
      assert.equal((await service().get(`/customers/${of.customer_id}`)).body.email, address)
    const { database } = service()
    assert.deepEqual((await checkDatabase(database, features)).problems, [])
    await eraseCustomer(operatorOf(database), first.customer_id)
    const { body: events } = await service().get(`/events?kind=customer&id=${first.customer_id}`)
    assert.doesNotMatch(JSON.stringify(events), /payee|Vic/i)
    assert.equal((await service().get(`/customers/${email}`)).status, 404)
  })

  test('the name of a customer who was deleted is of the next one, also when several come at once', async () => {
    const sell = (reference: string, customer: object) =>
      service().post('/conversions', { kind: 'lead', context: 'S', reference, customer })
    const { body } = await sell('e 1', { id: 'E1' })
    assert.equal((await service().delete(`/customers/${body.conversion.customer_id}`)).status, 200)
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, number) => sell(`e late ${number}`, { id: 'E1' })),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
    const ids = new Set(answers.map(answer => answer.body.conversion.customer_id))
    assert.equal(ids.size, 1)
    assert.ok(!ids.has(body.conversion.customer_id))
    // One who is known by the address takes the name over.
    const { body: addressed } = await sell('e address', { email: 'e1@example.com' })
    await service().delete(`/customers/${[...ids][0]}`)
    const { body: both } = await sell('e both', { id: 'E1', email: 'e1@example.com' })
    const { body: named } = await sell('e named', { id: 'E1' })
    for (const { conversion } of [both, named])
      assert.equal(conversion.customer_id, addressed.conversion.customer_id)
  })

  test('reports that add one address to several customers at once leave it to one', async () => {
    const sent = Array.from({ length: AT_ONCE }, (_, number) => ({ id: `D${number}` }))
    const sell = (reference: string, customer: object) =>
      service().post('/conversions', { kind: 'lead', context: 'S', reference, customer })
    for (const [number, customer] of sent.entries()) await sell(`d ${number}`, customer)
    const email = 'd@example.com'
    const answers = await Promise.all(
      sent.map((customer, number) => sell(`d late ${number}`, { ...customer, email })),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
    const { body } = await service().get(`/customers?search=${email}`)
    assert.equal(body.length, 1)
  })
})
