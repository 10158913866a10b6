import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFailure, describeService, operatorOf } from '../../../test/harness.ts'
import { createKey } from '../../accounts/keys/rules.ts'
import { permissions } from '../../app.ts'
import { write } from '../../events/write.ts'
import { within } from '../../storage/database.ts'
import { erasePerson } from '../privacy/rules.ts'

describeService('events', service => {
  const all = async (query = '') => {
    const { status, body } = await service().get<any[]>(`/events?number=1000${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  /** Of those that come from now on. */
  const position = async () => {
    let last = 0
    for (let some = await all(); some.length > 0; some = await all(`&after=${last}`))
      last = some.at(-1).position
    return last
  }

  test('200 - what was done, at once, in its order, as data and as changes', async () => {
    const after = await position()
    const ada = await service().newAffiliate('ada', { notes: 'met at the fair', rate: 7.5 })
    await service().patch(`/affiliates/${ada.id}`, { status: 'active', rate: '', notes: 'secret' })
    await service().patch(`/affiliates/${ada.id}`, { notes: '' })
    const payout = await service().newPayout(ada.id, { amount: 27.87, referrals: [3, 1] })
    await service().delete(`/payouts/${payout.id}`)
    const events = await all(`&after=${after}`)
    const own = events.map(({ position, id, date, ...event }) => event)
    const alike = { actor: 'key', user_id: 1, erased: false }
    const ofAda = { ...alike, record: 'affiliate', record_id: ada.id }
    const ofPayout = { ...alike, record: 'payout', record_id: payout.id, changes: null }
    const { date: paid, affiliate_id, payout_id, id, ...rest } = payout
    const data = {
      affiliate_id: ada.id,
      referrals: '3,1',
      amount: 27.87,
      status: 'paid',
      date: paid,
      owner: 1,
      run_item_id: 0,
    }
    const [made, ...others] = own
    assert.deepEqual(
      [made!.type, made!.record_id, made!.data.payment_email, made!.data.account_login, made!.data.rate],
      ['affiliate.create', ada.id, 'ada@example.com', 'ada@example.com', '7.5'],
    )
    assert.deepEqual(others, [
      {
        type: 'affiliate.edit',
        ...ofAda,
        data: null,
        changes: { rate: ['7.5', ''], status: ['pending', 'active'] },
      },
      { type: 'affiliate.edit', ...ofAda, data: null, changes: {} },
      { type: 'payout.create', ...ofPayout, data },
      { type: 'payout.delete', ...ofPayout, data },
    ])
    assert.equal(rest.amount, 27.87)
    assert.equal(JSON.stringify(events).includes('fair'), false)
    assert.equal(JSON.stringify(events).includes('secret'), false)
    for (const event of events) assert.match(event.date, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/)
    assert.deepEqual(
      events.map(event => event.position),
      events.map((_, index) => after + 1 + index),
    )
  })

  test('200 - page by page, by Link or by the last position, under every base path', async () => {
    const whole = await all()
    const pages: any[] = []
    let next: string | undefined = `${service().url}/wp-json/affwp/v1/events?number=2`
    while (next) {
      const reply: Response = await fetch(next, {
        headers: { authorization: `Bearer ${service().key.token}` },
      })
      pages.push(...((await reply.json()) as any[]))
      next = /<(.*)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1]
      if (next) assert.ok(next.includes(`after=${pages.at(-1).position}`))
    }
    assert.deepEqual(pages, whole)
    assert.deepEqual(await all(`&after=${whole[2].position}`), whole.slice(3))
    assert.deepEqual(await all('&after=9007199254740991'), [])
  })

  test('200 - by type and by kind of record', async () => {
    const whole = await all()
    const expect = async (query: string, matches: (event: any) => boolean) => {
      const some = whole.filter(matches)
      assert.ok(some.length > 0 && some.length < whole.length, query)
      assert.deepEqual(await all(query), some, query)
    }
    await expect('&type=payout.create', event => event.type === 'payout.create')
    await expect('&type=payout.create,key.create', event => /^(payout|key)\.create$/.test(event.type))
    await expect('&record=affiliate', event => event.record === 'affiliate')
    await expect('&record=user,key', event => ['user', 'key'].includes(event.record))
    assert.deepEqual(await all('&record=affiliate&type=key.create'), [])
  })

  test('200 - nothing of sessions, which leave a gap in the positions', async () => {
    const after = await position()
    const admin = await service().admin()
    await admin.delete('/session')
    const ada = await service().newAffiliate('behind')
    const events = await all(`&after=${after}`)
    assert.equal(
      events.some(event => event.record === 'session'),
      false,
    )
    assert.equal(events.at(-1).record_id, ada.id)
    assert.ok(events.at(-1).position > after + events.length)
    assertFailure(await service().get('/events?record=session'), 400, 'rest_invalid_param')
    assertFailure(await service().get('/events?type=session.create'), 400, 'rest_invalid_param')
  })

  test('200 - what is personal is there until the person is erased', async () => {
    const after = await position()
    const zoe = await service().newAffiliate('zoe')
    const [before] = await all(`&after=${after}`)
    assert.deepEqual([before.erased, before.data.payment_email], [false, 'zoe@example.com'])
    await erasePerson(operatorOf(service().database), zoe.user_id)
    const events = await all(`&after=${after}`)
    assert.deepEqual([events[0].erased, events[0].data.status], [true, 'pending'])
    assert.equal(JSON.stringify(events).includes('zoe@'), false)
    assert.deepEqual(
      [events.at(-1).type, events.at(-1).data, events.at(-1).changes],
      ['user.erase', null, null],
    )
  })

  test('200 - what is rare in a long log is found in several short requests', async () => {
    const after = await position()
    await write(operatorOf(service().database), async tx => {
      for (let id = 1; id <= 12_000; id += 1) tx.log('user.password', id)
    })
    const rare = await service().newPayout((await service().newAffiliate('rare')).id)
    const first = await service().get(`/events?type=payout.create&after=${after}`)
    assert.deepEqual([first.status, first.body], [200, []])
    const next = /after=(\d+)>; rel="next"/.exec(first.headers.get('link')!)![1]
    assert.equal(Number(next), after + 10_000)
    const second = await service().get(`/events?type=payout.create&after=${next}`)
    assert.deepEqual(
      second.body.map((event: any) => event.record_id),
      [rare.id],
    )
    assert.equal(second.headers.get('link'), null)
  })

  test('200 - what has an identifier far from any other, as many transactions that were undone leave it', async () => {
    const { database } = service()
    const after = await position()
    await database.transaction(async tx => {
      const { engine } = database
      for (let id = 1; id <= 1000; id += 1) {
        await engine.continueIdentity(tx, 'events', (await engine.lastIdentity(tx, 'events')) + 1)
        await write(operatorOf(within(database, tx)), async inner => inner.log('user.password', id))
      }
    })
    const events = await all(`&after=${after}`)
    assert.deepEqual(
      events.map(event => [event.position, event.record_id]),
      Array.from({ length: 1000 }, (_, index) => [after + 1 + index, index + 1]),
    )
    assert.ok(events.at(-1).id - events[0].id >= 1998)
  })

  test('400, 401, 403, 405', async () => {
    for (const query of ['after=-1', 'after=x', 'number=0', 'number=1001', 'type=affiliate.fly']) {
      assertFailure(await service().get(`/events?${query}`), 400, 'rest_invalid_param')
    }
    assertFailure(await service().get('/events', { key: null }), 401, 'rest_forbidden')
    const key = await service().newKey(['affiliates.read', 'payouts.read'])
    assertFailure(await service().get('/events', { key }), 403, 'rest_forbidden')
    const reader = await service().newKey(['events.read'])
    assert.equal((await service().get('/events', { key: reader })).status, 200)
    assertFailure(await service().post('/events', {}), 405, 'rest_no_route')
  })

  test('accounts, keys and settings - only for a key that may read accounts', async () => {
    const hidden = ['user', 'key', 'settings']
    const after = await position()
    const admin = await service().admin()
    assert.equal((await admin.patch('/settings', { attribution_days: 31 })).status, 200)
    const payout = await service().newPayout((await service().newAffiliate('told')).id, {
      note: 'between us',
    })
    const { body: reader } = await admin.post('/users', {
      login: 'lesser',
      email: 'lesser@example.com',
      role: 'reader',
    })
    const ofReader = { user_id: reader.id, name: 'lesser', permissions: ['events.read', 'affiliates.read'] }
    const keys = [
      await service().newKey(['events.read', 'payouts.read']),
      {
        token: (await createKey(operatorOf(service().database), ofReader, permissions)).token,
        publicKey: '',
      },
    ]
    const whole = await all(`&after=${after}`)
    assert.ok(whole.some(({ type, record_id }) => type === 'payout.create' && record_id === payout.id))
    assert.doesNotMatch(JSON.stringify(whole), /between us/)
    for (const kind of hidden)
      assert.ok(
        whole.some(({ record }) => record === kind),
        kind,
      )
    for (const key of keys) {
      const { body } = await service().get(`/events?number=1000&after=${after}`, { key })
      assert.deepEqual(
        body,
        whole.filter(({ record }) => !hidden.includes(record)),
      )
      for (const kind of hidden)
        assertFailure(await service().get(`/events?record=affiliate,${kind}`, { key }), 403, 'rest_forbidden')
      assert.deepEqual((await service().get('/events?type=key.create', { key })).body, [])
    }
  })
})
