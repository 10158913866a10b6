import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFailure, describeService } from '../../test/harness.ts'

const FIELDS = [
  'affiliate_id',
  'id',
  'user_id',
  'rate',
  'rate_type',
  'payment_email',
  'status',
  'earnings',
  'unpaid_earnings',
  'referrals',
  'visits',
  'date_registered',
]

describeService('affiliates: create', service => {
  test('201 - with a new account', async () => {
    const reply = await service().post('/affiliates', {
      create_user: true,
      payment_email: 'Ada.Lovelace+shop@Example.com',
      rate: 7.5,
      rate_type: 'flat',
      notes: 'met at the fair',
    })
    assert.equal(reply.status, 201)
    assert.deepEqual(Object.keys(reply.body), FIELDS)
    const { affiliate_id, user_id, date_registered, ...rest } = reply.body
    assert.deepEqual(rest, {
      id: affiliate_id,
      rate: '7.5',
      rate_type: 'flat',
      payment_email: 'Ada.Lovelace+shop@Example.com',
      status: 'pending',
      earnings: 0,
      unpaid_earnings: 0,
      referrals: 0,
      visits: 0,
    })
    assert.match(date_registered, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    assert.equal(reply.headers.get('location'), `${service().url}/v1/affiliates/${affiliate_id}`)
    const { body } = await service().get(`/affiliates/${affiliate_id}?user=1&effective=1`)
    assert.equal(body.user.ID, user_id)
    assert.equal(body.user.user_login, 'Ada.Lovelaceshop@Example.com')
    assert.deepEqual(body.effective, {
      rate: '7.5',
      rate_type: 'flat',
      payment_email: 'Ada.Lovelace+shop@Example.com',
    })
  })

  test('409 - the e-mail address has an account, in any case of letters', async () => {
    await service().newAffiliate('taken')
    const reply = await service().post('/affiliates', {
      create_user: true,
      payment_email: 'TAKEN@example.COM',
    })
    assertFailure(reply, 409, 'existing_user_email')
  })

  test('400 - every wrong argument is named at once', async () => {
    const reply = await service().post('/affiliates', {
      user_id: 987654,
      rate: -1,
      rate_type: 'tiered',
      status: 'open',
      payment_email: 'nobody',
    })
    assertFailure(reply, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(reply.body.data.params).sort(), [
      'payment_email',
      'rate',
      'rate_type',
      'status',
      'user_id',
    ])
  })
})
