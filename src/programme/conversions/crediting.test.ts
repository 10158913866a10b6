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
    const customer = { email: 'waiting-first@example.com' }
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
})

function permutations(count: number): number[][] {
  if (count === 0) return [[]]
  return permutations(count - 1).flatMap(order =>
    Array.from({ length: count }, (_, place) => order.toSpliced(place, 0, count - 1)),
  )
}
