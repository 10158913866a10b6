/** What a request keeps of a payment from one transaction to the next. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeService, operatorOf } from '../../../test/harness.ts'
import { eraseCustomer } from '../../operations/privacy/rules.ts'
import { type Payment, Payments } from './payments.ts'

describeService('payments of a request', service => {
  const names = { context: 's', names: ['kept'] }
  const report = async (args: object) => {
    const reply = await service().post('/conversions', { context: 's', ...args })
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
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
    const changes = [
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

  test('are not kept of a transaction that was taken back', async () => {
    const payments = new Payments()
    const { members } = await readBy(payments)
    assert.notEqual((await readBy(payments)).members, members)
  })
})
