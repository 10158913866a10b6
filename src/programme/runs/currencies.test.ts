/** Runs in currencies without decimals and with three, and on a database beside which no secret key is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFailure, engines, startService } from '../../../test/harness.ts'

for (const [engine, currency, amount, text] of [
  ['PostgreSQL', 'JPY', 1250, '1250'],
  ['SQLite', 'KWD', 12.345, '12.345'],
] as const) {
  test(`${engine}: a run in ${currency}; files of results that are of no use change nothing`, async t => {
    const service = await startService(engine)
    t.after(() => service.close())
    const set = await (await service.admin()).patch('/settings', { currency })
    assert.equal(set.status, 200, JSON.stringify(set.body))
    const { id } = await service.newAffiliate('payee', { status: 'active' })
    const owed = await service.post('/referrals', { affiliate_id: id, amount, status: 'unpaid' })
    assert.equal(owed.body.amount, text, JSON.stringify(owed.body))
    if (engine === 'PostgreSQL') {
      const details = { affiliate_id: id, method: 'paypal', paypal_email: 'payee@example.com' }
      const refused = await service.post('/payment-details', details)
      assertFailure(refused, 409, 'rest_secret_key')
      assert.match(refused.body.message, /SECRET_KEY or --secret-key-file/)
    }
    const sepa = await service.post('/payout-runs', { method: 'sepa' })
    assertFailure(sepa, 409, 'rest_payout_run_conflict')
    const byPayPal = await service.post('/payout-runs', { method: 'paypal' })
    if (currency === 'KWD') {
      assertFailure(byPayPal, 409, 'rest_payout_run_conflict')
      assert.match(
        byPayPal.body.message,
        /Files of paypal are in AUD, .*USD, and the currency of the programme is KWD/,
      )
    } else assert.equal(byPayPal.status, 201)
    const { body: draft } = await service.post('/payout-runs', { method: 'csv' })
    assert.deepEqual([draft.payees, draft.amount], [1, amount])
    const path = `/payout-runs/${draft.id}`
    assert.equal((await service.post(`${path}/approve`, { hash: draft.hash })).body.status, 'approved')
    const { body: file } = await service.get(`${path}/files/csv?columns=reference,amount,currency`)
    assert.equal(file.split('\r\n')[1], `${draft.reference}A${id},${text},${currency}`)

    const reference = `${draft.reference}A${id}`
    const whole = `reference,status\n${reference},paid\n`
    for (const [content, format] of [
      [whole.slice(0, -3), 'csv'],
      [`\uFEFF${[...whole].join('\0')}`, 'csv'],
      [whole.replace(reference, `=${reference}`), 'csv'],
      [whole.replace(reference, `R${draft.id + 1}A${id}`), 'csv'],
      [whole, 'pain.002'],
      ['<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', 'pain.002'],
      [`${'<a>'.repeat(20)}`, 'pain.002'],
    ] as const) {
      const refused = await service.post(`${path}/results`, { content, format })
      assertFailure(refused, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(refused.body.data.params), ['content'], JSON.stringify(content))
    }
    assert.equal((await service.get(`${path}/reconciliation`)).body.open.sum, amount)
    assert.equal((await service.post(`${path}/results`, { content: whole })).body.recorded.paid, 1)
    const { body: csv } = await service.get(`${path}/reconciliation/csv`)
    assert.equal(csv.split('\r\n')[2], `${draft.id},paid,,1,${text},${currency}`)
  })
}

for (const engine of Object.keys(engines)) {
  test(`${engine}: a run by PayPal in HUF, which it takes without decimals`, async t => {
    const service = await startService(engine)
    t.after(() => service.close())
    await (await service.admin()).patch('/settings', { currency: 'HUF', payment_details_days: 0 })
    const owing = async (name: string, amount: number): Promise<number> => {
      const { id } = await service.newAffiliate(name, { status: 'active' })
      await service.post('/referrals', { affiliate_id: id, amount, status: 'unpaid' })
      return id
    }
    const [whole, broken] = [await owing('whole', 1250), await owing('broken', 1250.5)]
    const { body: draft } = await service.post('/payout-runs', { method: 'paypal' })
    const path = `/payout-runs/${draft.id}`
    const { body: items } = await service.get(`${path}/items`)
    assert.deepEqual(
      items.map((one: any) => [one.affiliate_id, one.status, one.reason]),
      [
        [whole, 'included', ''],
        [broken, 'excluded', 'unfit_amount'],
      ],
    )
    assert.match(items[1].note, /HUF without decimals/)
    assert.equal((await service.post(`${path}/approve`, { hash: draft.hash })).body.status, 'approved')
    const { body: file } = await service.get(`${path}/files/paypal`)
    assert.equal(file, `whole@example.com,1250,HUF,${draft.reference}A${whole},\r\n`)
    await service.post('/referrals', { affiliate_id: broken, type: 'write_off', amount: -0.5 })
    const { body: next } = await service.post('/payout-runs', { method: 'paypal' })
    assert.deepEqual([next.payees, next.amount], [1, 1250])
  })
}
