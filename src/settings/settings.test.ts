import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFailure, describeService } from '../../test/harness.ts'
import { settingsRecord } from './schema.ts'

const TRACKING = {
  programme_page: '',
  visitor_url: '',
  allowed_hosts: [],
  attribution: 'last',
  attribution_days: 30,
  visit_days: 90,
  consent_required: false,
}

const PAYOUTS = {
  approval: 'one',
  payment_details_days: 3,
  payer_name: '',
  payer_iban: '',
  payer_bic: '',
  payer_bank: '',
  payer_routing: '',
  payer_company_id: '',
}

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
      ...TRACKING,
      ...PAYOUTS,
      unique_references: true,
      unknown_referrals: 'keep',
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

  test('200 - hosts of links are stored as URLs have them, and cleared again', async () => {
    const admin = await service().admin()
    const sent = {
      programme_page: 'https://shop.test/welcome',
      visitor_url: 'https://shop.test/go',
      allowed_hosts: ['Shop.TEST:443', '*.shop.test', 'bücher.test', 'localhost:3000', 'shop.test'],
      attribution: 'first',
      attribution_days: 60,
      visit_days: 30,
      consent_required: true,
    }
    const { status, body } = await admin.patch('/settings', sent)
    assert.equal(status, 200, JSON.stringify(body))
    const allowed_hosts = ['shop.test', '*.shop.test', 'xn--bcher-kva.test', 'localhost:3000']
    for (const [name, value] of Object.entries({ ...sent, allowed_hosts })) {
      assert.deepEqual(body[name], value, name)
    }
    const wrong = await admin.patch('/settings', {
      programme_page: 'javascript:alert(1)',
      visitor_url: 'shop.test/go',
      allowed_hosts: ['https://a.test', 'a.test/b', 'a@b', '*', 'a.*', '*.test', 'ok.test'],
    })
    assertFailure(wrong, 400, 'rest_invalid_param')
    assert.deepEqual(wrong.body.data.params, {
      programme_page: 'must begin with https:// or http://, or be empty.',
      visitor_url: 'must begin with https:// or http://, or be empty.',
      allowed_hosts:
        'must be hosts such as shop.example or *.shop.example, without a scheme or a path. Not: https://a.test, a.test/b, a@b, *, a.*, *.test.',
    })
    const cleared = await admin.patch('/settings', TRACKING)
    for (const [name, value] of Object.entries(TRACKING)) assert.deepEqual(cleared.body[name], value, name)
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
    // Also beside one that its schema refuses.
    const both = await admin.patch('/settings', { visit_days: 0, payer_company_id: '123', currency: 'XXX' })
    assertFailure(both, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(both.body.data.params).sort(), [
      'currency',
      'payer_company_id',
      'visit_days',
    ])
    const blank = await admin.patch('/settings', { payer_company_id: ' '.repeat(10) })
    assert.deepEqual(Object.keys(blank.body.data.params), ['payer_company_id'])
    assert.deepEqual((await admin.get('/settings')).body, before.body)
  })

  test('400 - a default rate that is no rate is not told that it may be empty', async () => {
    const reply = await (await service().admin()).patch('/settings', { default_rate: -1 })
    assertFailure(reply, 400, 'rest_invalid_param')
    assert.deepEqual(reply.body.data.params, {
      default_rate: 'must be a number from 0 to 999999999 with at most 4 decimals.',
    })
  })
})

describeService('settings before there is an amount', service => {
  test('400 - a payer whom files in the new currency cannot name', async () => {
    const admin = await service().admin()
    const payer = { payer_iban: 'DE89370400440532013000', payer_name: 'Müller & Söhne' }
    const together = await admin.patch('/settings', { ...payer, currency: 'EUR' })
    assert.deepEqual(Object.keys(together.body.data.params), ['payer_name'])
    const elsewhere = await admin.patch('/settings', { ...payer, currency: 'GBP' })
    assert.equal(elsewhere.status, 200, JSON.stringify(elsewhere.body))
    const after = await admin.patch('/settings', { currency: 'EUR' })
    assert.deepEqual(Object.keys(after.body.data.params), ['payer_name'])
    assert.equal((await admin.patch('/settings', { payer_iban: '', payer_name: '' })).status, 200)
  })
})
