import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { describeService, operatorOf } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { Failure } from '../../base/errors.ts'
import { formatTime, monthFrom } from '../../base/time.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { createMany } from '../conversions/together.ts'
import { salesOf } from './sales.ts'

const FIRST = Date.UTC(2024, 0, 30) / 1000
const SPAN = 40 * 86_400

const referral = fc.record({
  affiliate_id: fc.integer({ min: 1, max: 2 }),
  status: fc.constantFrom('pending', 'unpaid', 'paid', 'rejected'),
  type: fc.constantFrom('sale', 'lead', 'opt-in', 'refund'),
  order_total: fc.constantFrom(0, 0.01, 19.99, 999_999_999_999.99),
  date: fc.integer({ min: FIRST, max: FIRST + SPAN }).map(formatTime),
})
const change = fc.record({ index: fc.nat(), edit: fc.option(referral) })

describeService('what affiliates have sold', service => {
  /** Added up anew. */
  async function soldBy(affiliateId: number, last: number) {
    const { reader } = service().database
    const rows = await reader
      .selectFrom('referrals')
      .selectAll()
      .where('affiliate_id', '=', affiliateId)
      .execute()
    const sold = rows.filter(
      ({ status, type, created_at }) =>
        ['pending', 'unpaid', 'paid'].includes(status) && type !== 'refund' && created_at <= last,
    )
    const inMonth = sold.filter(({ created_at }) => created_at >= monthFrom(last))
    const volumeOf = (of: typeof sold) => of.reduce((sum, row) => sum + BigInt(row.order_total ?? 0), 0n)
    return {
      sales_in_month: BigInt(inMonth.length),
      sales_ever: BigInt(sold.length),
      volume_in_month: volumeOf(inMonth),
      volume_ever: volumeOf(sold),
    }
  }

  test('is the sum of their referrals at every second, whatever is created, edited and deleted', async () => {
    const ids = [(await service().newAffiliate('one')).id, (await service().newAffiliate('two')).id]
    const bodyOf = ({ affiliate_id, ...rest }: { affiliate_id: number }) => ({
      ...rest,
      affiliate_id: ids[affiliate_id - 1],
      amount: 1,
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(referral, { minLength: 1, maxLength: 12 }),
        fc.array(change, { maxLength: 12 }),
        fc.array(fc.integer({ min: FIRST - 1, max: FIRST + SPAN + 1 }), { minLength: 2, maxLength: 4 }),
        async (created, changes, moments) => {
          for (const one of created) await service().post('/referrals', bodyOf(one))
          for (const { index, edit } of changes) {
            const { body: all } = await service().get('/referrals?number=0&fields=ids')
            if (all.length === 0) break
            const path = `/referrals/${all[index % all.length]}`
            // A move that is not allowed is refused, and adds nothing.
            if (edit) await service().patch(path, bodyOf(edit))
            else await service().delete(path)
          }
          for (const id of ids) {
            for (const last of moments) {
              const { reader } = service().database
              assert.deepEqual(await salesOf(reader, id, last), await soldBy(id, last), `${id} ${last}`)
            }
          }
        },
      ),
      { numRuns: 6 },
    )
  })

  test('of lines that are reported together, each counts for the next', async () => {
    const { id } = await service().newAffiliate('lines', { status: 'active' })
    const conditions = [{ field: 'volume_in_month', at_least: 200 }]
    const rule = { name: 'tier', affiliate_id: id, rate_type: 'percentage', rate: 30, conditions }
    assert.equal((await service().post('/rules', rule)).status, 201)
    const sale = { kind: 'sale', context: 'lines', affiliate_id: id, amount: 100 } as const
    const lines = [1, 2, 3, 4].map(number => ({ ...sale, reference: String(number) }))
    const made = await createMany(operatorOf(service().database), lines)
    const amounts = made.map(one => (one instanceof Failure ? one.message : one.referrals[0]!.amount))
    assert.deepEqual(amounts, [2000, 2000, 3000, 3000])
    // Of another month, and not in the order of their times: what is later than a sale does not count for it.
    const hours = [12, 11, 13, 14, 10]
    const mixed = hours.map(hour => ({
      ...sale,
      reference: `at ${hour}`,
      occurred_at: `2026-02-03 ${hour}:00:00`,
    }))
    const earned = await createMany(operatorOf(service().database), mixed)
    const sums = earned.map(one => (one instanceof Failure ? one.message : one.referrals[0]!.amount))
    assert.deepEqual(sums, [2000, 2000, 3000, 3000, 2000])
  })

  test('what is refunded whole counts no longer, whether it was paid before or not, until a dispute is won', async () => {
    const earnedOf = async (name: string, isPaid: boolean, kind: 'refund' | 'dispute') => {
      const { id } = await service().newAffiliate(name, { status: 'active' })
      const conditions = [{ field: 'volume_ever', at_least: 100 }]
      const rule = { name, affiliate_id: id, rate_type: 'percentage', rate: 30, conditions }
      assert.equal((await service().post('/rules', rule)).status, 201)
      let number = 0
      const report = async (sent: object) => {
        const { status, body } = await service().post('/conversions', { context: name, ...sent })
        assert.equal(status, 201, JSON.stringify(body))
        return body
      }
      const sale = { kind: 'sale', affiliate_id: id, amount: 100 }
      const sell = async () =>
        Number((await report({ ...sale, reference: `sale ${++number}` })).referrals[0].amount)
      const [first] = (await report({ ...sale, reference: 'first' })).referrals
      if (isPaid) await service().newPayout(id, { referrals: [first.referral_id] })
      await report({ kind, reference: 'first', part: '1', amount: 100 })
      const without = await sell()
      const own = await sell()
      if (kind === 'refund') return [without, own]
      await report({ kind: 'dispute_won', reference: 'first', part: '1' })
      return [
        without,
        own,
        await service()
          .get(`/referrals/${first.referral_id}`)
          .then(({ body }) => body.status),
      ]
    }
    assert.deepEqual(await earnedOf('open', false, 'refund'), [20, 30])
    assert.deepEqual(await earnedOf('paid', true, 'refund'), [20, 30])
    assert.deepEqual(await earnedOf('won', true, 'dispute'), [20, 30, 'paid'])
    const { problems } = await checkDatabase(service().database, features)
    assert.deepEqual(problems, [])
  })
})
