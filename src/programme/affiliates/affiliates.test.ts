import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { assertFailure, describeService, type Reply } from '../../../test/harness.ts'
import { affiliate } from './affiliate.ts'

const FIELDS = Object.keys(affiliate.record.properties)

function statuses(replies: Reply[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

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
    assert.deepEqual(Object.keys(body.user), [
      'ID',
      'user_login',
      'user_email',
      'display_name',
      'first_name',
      'last_name',
      'user_registered',
    ])
    assert.deepEqual(body.effective, {
      rate: '7.5',
      rate_type: 'flat',
      payment_email: 'Ada.Lovelace+shop@Example.com',
    })
  })

  test('201 - for an account that exists, with PUT', async () => {
    const { body: first } = await service().get('/affiliates?number=1')
    await service().delete(`/affiliates/${first[0].id}`)
    const reply = await service().send('PUT', '/affiliates', {
      body: { user_id: first[0].user_id, status: 'active' },
    })
    assert.equal(reply.status, 201)
    assert.equal(reply.body.user_id, first[0].user_id)
    assert.ok(reply.body.id > first[0].id, 'identifiers are not used again')
    const { body } = await service().get(`/affiliates/${reply.body.id}?effective=true`)
    assert.deepEqual(body.effective, {
      rate: '20',
      rate_type: 'percentage',
      payment_email: 'Ada.Lovelace+shop@Example.com',
    })
  })

  test('201 - zero is a rate', async () => {
    const { id, rate } = await service().newAffiliate('zero', { rate: 0 })
    assert.equal(rate, '0')
    assert.equal((await service().get(`/affiliates/${id}?effective=1`)).body.effective.rate, '0')
  })

  test('201 - the login is the username that was sent', async () => {
    const { id } = await service().newAffiliate('named', { username: 'Ünal Öz_1.-@' })
    assert.equal((await service().get(`/affiliates/${id}?user=1`)).body.user.user_login, 'Ünal Öz_1.-@')
  })

  test('201 - a login made from the address gets a number when it is taken', async () => {
    const logins = []
    for (const address of ['same@x.example', 'sa+me@x.example', 's+ame@x.example', 'sam+e@x.example']) {
      const { id } = await service().newAffiliate('', { payment_email: address })
      logins.push((await service().get(`/affiliates/${id}?user=1`)).body.user.user_login)
    }
    assert.deepEqual(logins, ['same@x.example', 'same@x.example-2', 'same@x.example-3', 'same@x.example-4'])
  })

  test('201 - user_id is not used with create_user', async () => {
    const { user_id } = await service().newAffiliate('unused', { user_id: 1 })
    assert.notEqual(user_id, 1)
    const blank = 'create_user=1&payment_email=blank@example.com&user_id=0&affiliate_id=&id='
    assert.equal((await service().post(`/affiliates?${blank}`)).status, 201)
    assertFailure(await service().post('/affiliates', { user_id: 0 }), 400, 'rest_invalid_param')
  })

  test('400 - neither account nor create_user', async () => {
    assertFailure(await service().post('/affiliates', {}), 400, 'affwp_rest_affiliate_missing_user')
  })

  test('400 - create_user without an address', async () => {
    for (const payment_email of [undefined, '']) {
      const reply = await service().post('/affiliates', { create_user: true, payment_email })
      assertFailure(reply, 400, 'rest_missing_callback_param')
      assert.deepEqual(reply.body.data.params, ['payment_email'])
    }
  })

  test('400 - an identifier was sent', async () => {
    for (const name of ['affiliate_id', 'id']) {
      const reply = await service().post('/affiliates', { user_id: 1, [name]: 7 })
      assertFailure(reply, 400, 'affwp_rest_affiliate_exists')
    }
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
    const names = ['payment_email', 'rate', 'rate_type', 'status', 'user_id']
    assert.deepEqual(Object.keys(reply.body.data.params).sort(), names)
  })

  test('400 - wrong values', async () => {
    const wrong = [
      { rate: 1.00001 },
      { rate: '5%' },
      { rate: true },
      { status: 'Active' },
      { payment_email: `${'a'.repeat(250)}@b.co` },
      { notes: 'a\u0000b' },
      { notes: 'x'.repeat(65_536) },
      { username: 'semi;colon' },
      { username: 'x'.repeat(61) },
      { username: ' padded' },
    ]
    for (const [index, args] of wrong.entries()) {
      const reply = await service().post('/affiliates', {
        create_user: true,
        payment_email: `wrong${index}@example.com`,
        ...args,
      })
      assertFailure(reply, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(reply.body.data.params), Object.keys(args))
    }
  })

  test('400, 409 - a refused request leaves no account behind', async () => {
    const before = (await service().get('/affiliates?count=1')).headers.get('x-total-count')
    const accounts = () => service().database.reader.selectFrom('users').select('id').execute()
    const accountsBefore = (await accounts()).length
    await service().post('/affiliates', {
      create_user: true,
      payment_email: 'half@example.com',
      rate_type: 'tiered',
    })
    await service().post('/affiliates', {
      create_user: true,
      payment_email: 'half@example.com',
      username: 'ADMIN',
    })
    assert.equal((await accounts()).length, accountsBefore)
    assert.equal((await service().get('/affiliates?count=1')).headers.get('x-total-count'), before)
  })

  test('409 - the e-mail address or the login has an account, in any case of letters', async () => {
    await service().newAffiliate('taken', { username: 'Ströme' })
    const mail = await service().post('/affiliates', {
      create_user: true,
      payment_email: 'TAKEN@example.COM',
    })
    assertFailure(mail, 409, 'existing_user_email')
    const login = await service().post('/affiliates', {
      create_user: true,
      payment_email: 'other@example.com',
      username: 'STRÖME',
    })
    assertFailure(login, 409, 'existing_user_login')
  })

  test('409 - the account is an affiliate already', async () => {
    const { user_id } = await service().newAffiliate('twice')
    assertFailure(await service().post('/affiliates', { user_id }), 409, 'affwp_rest_affiliate_user_exists')
  })

  test('201 once, 409 for the rest - 60 clients race for one account', async () => {
    const race = Array.from({ length: 60 }, (_, index) =>
      service().post('/affiliates', {
        create_user: true,
        payment_email: index % 2 ? 'race@example.com' : 'RACE@example.com',
      }),
    )
    assert.deepEqual(statuses(await Promise.all(race)), { 201: 1, 409: 59 })
  })

  test('201 once, 409 for the rest - which are told the same, whoever was first', async () => {
    const race = Array.from({ length: 40 }, () =>
      service().post('/affiliates', {
        create_user: true,
        payment_email: 'both@example.com',
        username: 'both',
      }),
    )
    const refused = (await Promise.all(race)).filter(({ status }) => status !== 201)
    assert.equal(refused.length, 39)
    for (const reply of refused) assertFailure(reply, 409, 'existing_user_email')
  })

  test('201 once, 409 for the rest - 200 clients race to make one account an affiliate', async () => {
    const { user_id, id } = await service().newAffiliate('contested')
    await service().delete(`/affiliates/${id}`)
    const race = Array.from({ length: 200 }, () => service().post('/affiliates', { user_id }))
    assert.deepEqual(statuses(await Promise.all(race)), { 201: 1, 409: 199 })
  })

  test('201 - alike logins that race all get a number of their own', async () => {
    const race = Array.from({ length: 20 }, (_, index) =>
      service().post('/affiliates', {
        create_user: true,
        payment_email: `alike${'+'.repeat(index)}@example.com`,
      }),
    )
    assert.deepEqual(statuses(await Promise.all(race)), { 201: 20 })
  })
})

describeService('affiliates: edit and delete', service => {
  test('200 - only what was sent changes, by POST, PATCH and PUT', async () => {
    const before = await service().newAffiliate('edited', { rate: 5, rate_type: 'flat', notes: 'old' })
    const path = `/affiliates/${before.id}`
    const active = await service().post(path, { status: 'active' })
    assert.equal(active.status, 200)
    assert.deepEqual(active.body, { ...before, status: 'active' })
    const rated = await service().patch(path, { rate: 12.3456, payment_email: 'pay@example.org' })
    assert.deepEqual(rated.body, { ...active.body, rate: '12.3456', payment_email: 'pay@example.org' })
    const unset = await service().send('PUT', path, { body: { rate: '', rate_type: '', payment_email: '' } })
    assert.deepEqual(unset.body, { ...active.body, rate: '', rate_type: '', payment_email: '' })
  })

  test('200 - nothing sent, nothing changed', async () => {
    const before = await service().newAffiliate('same')
    assert.deepEqual((await service().post(`/affiliates/${before.id}`)).body, before)
  })

  test('200 - notes are kept, never shown, and can be cleared', async () => {
    const { id } = await service().newAffiliate('noted', { notes: 'line one\nline two' })
    const notes = async () =>
      (
        await service()
          .database.reader.selectFrom('affiliates')
          .select('notes')
          .where('id', '=', id)
          .executeTakeFirst()
      )?.notes
    assert.equal(await notes(), 'line one\nline two')
    const { body } = await service().patch(`/affiliates/${id}`, { notes: '' })
    assert.deepEqual(Object.keys(body), FIELDS)
    assert.equal(await notes(), '')
  })

  test('200 - the e-mail address of the account', async () => {
    const { id } = await service().newAffiliate('mail')
    await service().database.transaction(tx =>
      sql`UPDATE affiliates SET updated_at = 0 WHERE id = ${id}`.execute(tx),
    )
    const changed = async () => (await service().get(`/affiliates?updated_since=2020-01-01&fields=ids`)).body
    assert.ok(!(await changed()).includes(id))
    const { status } = await service().patch(`/affiliates/${id}`, { account_email: 'New@example.com' })
    assert.ok((await changed()).includes(id))
    assert.equal(status, 200)
    assert.equal((await service().get(`/affiliates/${id}?user=1`)).body.user.user_email, 'New@example.com')
    // Its own address, in another case of letters, is not another account's.
    assert.equal(
      (await service().patch(`/affiliates/${id}`, { account_email: 'new@EXAMPLE.com' })).status,
      200,
    )
  })

  test('200 - the address of an account that can log in, by whoever may edit accounts; 403 - by others', async () => {
    const admin = await service().admin()
    const account = { login: 'boss', email: 'boss@example.com', role: 'administrator' }
    const { body: boss } = await admin.post('/users', { ...account, password: 'a password of the boss' })
    const { body: affiliate } = await service().post('/affiliates', { user_id: boss.id })
    const path = `/affiliates/${affiliate.id}`
    // A link for a new password goes to that address.
    const refused = await service().patch(path, { account_email: 'thief@example.com', status: 'active' })
    assertFailure(refused, 403, 'rest_forbidden')
    assert.equal((await service().get(path)).body.status, 'pending')
    assert.equal((await admin.patch(path, { account_email: 'chief@example.com' })).status, 200)
    assert.equal((await admin.get(`/users/${boss.id}`)).body.email, 'chief@example.com')
    assert.equal((await service().visitor().logIn('boss', 'a password of the boss')).status, 201)
  })

  test('409 - the e-mail address is that of another account, and nothing else of the edit remains', async () => {
    const { id } = await service().newAffiliate('rival')
    const reply = await service().patch(`/affiliates/${id}`, {
      status: 'active',
      account_email: 'ADMIN@example.com',
    })
    assertFailure(reply, 409, 'existing_user_email')
    assert.equal((await service().get(`/affiliates/${id}`)).body.status, 'pending')
  })

  test('400 - wrong values, all named', async () => {
    const { id } = await service().newAffiliate('checked')
    const reply = await service().patch(`/affiliates/${id}`, {
      account_email: '',
      rate_type: 'tiered',
      status: '',
    })
    assertFailure(reply, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(reply.body.data.params).sort(), ['account_email', 'rate_type', 'status'])
  })

  test('200 - delete shows the record as it was; the account and the payouts stay', async () => {
    const before = await service().newAffiliate('leaving')
    const payout = await service().newPayout(before.id, { amount: 12.5 })
    const gone = await service().delete(`/affiliates/${before.id}`)
    assert.equal(gone.status, 200)
    assert.deepEqual(gone.body, { deleted: true, previous: before })
    assertFailure(await service().get(`/affiliates/${before.id}`), 404, 'invalid_affiliate_id')
    assertFailure(await service().delete(`/affiliates/${before.id}`), 404, 'invalid_affiliate_id')
    assertFailure(await service().patch(`/affiliates/${before.id}`, {}), 404, 'invalid_affiliate_id')
    assert.deepEqual((await service().get(`/payouts/${payout.id}`)).body, payout)
    assert.deepEqual((await service().get(`/payouts?affiliate_id=${before.id}`)).body, [payout])
    const again = await service().post('/affiliates', { user_id: before.user_id })
    assert.equal(again.status, 201)
    assert.ok(again.body.id > before.id)
  })

  test('404 - identifiers that no affiliate can have', async () => {
    for (const id of ['0', '9007199254740993', '99999999999999999999999', '4711']) {
      assertFailure(await service().get(`/affiliates/${id}`), 404, 'invalid_affiliate_id')
    }
  })
})
