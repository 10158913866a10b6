import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFailure, describeService } from '../../test/harness.ts'
import { settingsRecord } from './schema.ts'

describeService('settings', service => {
  test('200 - a change counts at once, and what was not sent stays', async () => {
    const admin = await service().admin()
    const before = await admin.get('/settings')
    assert.deepEqual(Object.keys(before.body), Object.keys(settingsRecord.properties))
    const { currencies, ...shown } = before.body
    assert.ok(currencies.includes('EUR') && currencies.length > 140)
    assert.deepEqual(shown, {
      default_rate: '20',
      default_rate_type: 'percentage',
      rate_types: ['percentage', 'flat'],
      currency: 'USD',
      decimals: 2,
      currency_locked: false,
    })
    const changed = await admin.patch('/settings', {
      default_rate: 12.5,
      rate_types: ['percentage', 'flat', 'per lead'],
      currency: 'KWD',
    })
    assert.equal(changed.status, 200)
    assert.deepEqual(changed.body, {
      ...before.body,
      default_rate: '12.5',
      rate_types: ['percentage', 'flat', 'per lead'],
      currency: 'KWD',
      decimals: 3,
    })
    assert.deepEqual((await admin.get('/settings')).body, changed.body)
    const { id } = await service().newAffiliate('leads', { rate_type: 'per lead' })
    assert.equal((await service().get(`/affiliates/${id}?effective=1`)).body.effective.rate, '12.5')
    await service().newPayout(id, { amount: 1.234 })
    assert.equal((await admin.get('/settings')).body.currency_locked, true)
    const locked = await admin.patch('/settings', { currency: 'EUR', rate_types: ['percentage'] })
    assertFailure(locked, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(locked.body.data.params).sort(), ['currency', 'rate_types'])
    assert.match(locked.body.data.params.rate_types, /per lead/)
  })

  test('400 - every wrong value is named, and nothing is changed', async () => {
    const admin = await service().admin()
    const before = await admin.get('/settings')
    const reply = await admin.patch('/settings', {
      default_rate: '',
      default_rate_type: 'tiered',
      currency: 'XXX',
    })
    assertFailure(reply, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(reply.body.data.params).sort(), [
      'currency',
      'default_rate',
      'default_rate_type',
    ])
    assert.deepEqual((await admin.get('/settings')).body, before.body)
  })
})
