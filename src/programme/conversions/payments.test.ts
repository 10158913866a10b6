/** What a request keeps of a payment from one transaction to the next. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFailure, describeService, operatorOf } from '../../../test/harness.ts'
import { eraseCustomer } from '../../operations/privacy/rules.ts'
import { type Payment, Payments } from './payments.ts'

describeService('payments of a request', service => {
  const names = { context: 's', names: ['kept'] }
  const report = async (args: object) => {
    const reply = await service().post('/conversions', { context: 's', ...args })
    assert.ok(reply.status < 300, JSON.stringify(reply.body))
    return reply.body.conversion
  }
  const readBy = (payments: Payments): Promise<Payment> =>
    service().database.transaction(async tx => {
      payments.begin()
      const payment = await payments.name(tx, names)
      payments.keep(payment, names)
      return payment
    })

  test('are read again after whatever happens to their conversions, and else kept', async () => {
    const { id: affiliate } = await service().newAffiliate('kept', { status: 'active' })
    const customer = { id: 'c', email: 'buyer@example.com' }
    const sale = await report({
      kind: 'sale',
      reference: 'kept',
      amount: 90,
      customer,
      metadata: { a: 1 },
    })
    await report({ kind: 'refund', reference: 'elsewhere', part: 'p', amount: 1 })
    const again = { kind: 'sale', reference: 'kept', amount: 90 }
    const changes = [
      () => report({ ...again, click: { last: 'foreign' } }),
      () => report({ ...again, coupon: 'NONE' }),
      () => report({ kind: 'refund', reference: 'kept', part: 'p', amount: 2 }),
      () => report({ kind: 'attribution', reference: 'kept', affiliate_id: affiliate }),
      () => report({ kind: 'refund', reference: 'elsewhere', references: ['kept'], part: 'q', amount: 3 }),
      () => eraseCustomer(operatorOf(service().database), sale.customer_id),
    ]
    const payments = new Payments()
    let before = await readBy(payments)
    for (const change of changes) {
      payments.committed()
      assert.equal((await readBy(payments)).members, before.members)
      payments.committed()
      await change()
      const after = await readBy(payments)
      assert.notDeepEqual(after.members, before.members)
      assert.deepEqual(after.members, (await readBy(new Payments())).members)
      before = after
    }
    assert.deepEqual(
      before.members.map(({ kind }) => kind),
      ['sale', 'refund', 'refund', 'attribution', 'refund'],
    )
  })

  test('have a thousand names at most, and what they have is reported under any of them', async () => {
    const sale = (...references: string[]) => ({
      kind: 'sale',
      context: 's',
      reference: 'n',
      references,
      amount: 1,
    })
    const lines = Array.from({ length: 1010 }, (_, number) => JSON.stringify(sale(`n${number + 1}`)))
    const headers = { 'content-type': 'application/x-ndjson' }
    const { body } = await service().post<string>('/conversions', lines.join('\n'), { headers })
    const statuses = body.trim().split('\n')
    assert.deepEqual(
      statuses.map(line => JSON.parse(line).status),
      [201, ...Array(998).fill(200), ...Array(11).fill(409)],
    )
    assertFailure(await service().post('/conversions', sale('n5000')), 409, 'rest_conversion_conflict')
    assert.equal((await service().post('/conversions', sale('n998', 'n999'))).status, 200)
    // Those that were refused name nothing.
    assert.equal((await service().post('/conversions', { ...sale(), reference: 'n1000' })).status, 201)
  })

  test('are not kept of a transaction that was taken back', async () => {
    const payments = new Payments()
    const { members } = await readBy(payments)
    assert.notEqual((await readBy(payments)).members, members)
  })
})
