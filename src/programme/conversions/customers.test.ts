/** One customer is one customer, however many reports name them at the same moment. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeService } from '../../../test/harness.ts'

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
})
