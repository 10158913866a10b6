/** Writes that are sent again under their Idempotency-Key, and are done once. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { test } from 'node:test'
import { permissions } from '../../src/app.ts'
import { now } from '../../src/base/time.ts'
import { removeOldAnswers } from '../../src/http/idempotency.ts'
import { queries } from '../../src/storage/timing.ts'
import { assertFailure, describeService, listen, openDatabase, Service } from '../harness.ts'

const named = (key: string, more: Record<string, string> = {}) => ({
  headers: { 'idempotency-key': key, ...more },
})

describeService('idempotency', service => {
  const affiliateCount = async () =>
    Number((await service().get('/affiliates?count=1&number=1')).headers.get('x-total-count'))
  const payoutCount = async () =>
    Number((await service().get('/payouts?count=1&number=1')).headers.get('x-total-count'))
  const keptRows = () => service().database.reader.selectFrom('idempotency_keys').selectAll().execute()

  test('201 - the same request again is answered alike, and done once', async () => {
    const key = randomUUID()
    const body = { create_user: true, payment_email: 'twice@example.com' }
    const first = await service().post('/affiliates', body, named(key))
    assert.equal(first.status, 201)
    assert.equal(first.headers.get('idempotent-replayed'), null)
    const before = await affiliateCount()
    const again = await service().post('/affiliates', body, named(key))
    assert.equal(again.status, 201)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(again.body, first.body)
    for (const header of ['location', 'etag', 'content-type']) {
      assert.equal(again.headers.get(header), first.headers.get(header))
    }
    assert.equal(await affiliateCount(), before)
  })

  test('201 - the same arguments, sent another way and in another order', async () => {
    const key = randomUUID()
    const first = await service().post(
      '/affiliates?rate=5',
      { create_user: true, payment_email: 'a@b.example' },
      named(key),
    )
    assert.equal(first.status, 201)
    const form = new URLSearchParams({ payment_email: 'a@b.example', rate: '5', create_user: 'yes' })
    const again = await service().post('/affiliates', form, named(key))
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(again.body, first.body)
  })

  test('201 - the same object, whose members are in another order', async () => {
    const key = randomUUID()
    const { id } = await service().newAffiliate('ordered')
    const create = (custom: unknown) =>
      service().post('/referrals', { affiliate_id: id, amount: 1, custom }, named(key))
    const first = await create({ a: [{ x: 1, y: 2 }, 3], b: null })
    assert.equal(first.status, 201)
    const again = await create({ b: null, a: [{ y: 2, x: 1 }, 3] })
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(again.body, first.body)
    assertFailure(await create({ a: [3, { x: 1, y: 2 }], b: null }), 409, 'rest_idempotency_mismatch')
  })

  test('429 - long answers are stored for one caller up to 32 MiB, and nothing is changed beyond', async () => {
    const { id } = await service().newAffiliate('long')
    const referrals = Array.from({ length: 9000 }, (_, index) => 1_000_000 + index)
    const create = (key: string) =>
      service().post('/payouts', { affiliate_id: id, amount: 1, referrals }, named(key))
    assert.equal((await create(randomUUID())).status, 201)
    const [stored] = (await keptRows()).filter(({ body }) => body.length > 4096)
    const row = { ...stored!, body: 'x'.repeat(16 * 1024 * 1024) }
    await service().database.transaction(async tx => {
      for (const key of ['full 1', 'full 2']) {
        await tx
          .insertInto('idempotency_keys')
          .values({ ...row, key })
          .execute()
      }
    })
    const before = await payoutCount()
    const refused = await create(randomUUID())
    assertFailure(refused, 429, 'rest_too_many_requests')
    assert.equal(refused.headers.get('retry-after'), '3600')
    assert.equal(await payoutCount(), before)
    const short = await service().post('/payouts', { affiliate_id: id, amount: 1 }, named(randomUUID()))
    assert.equal(short.status, 201)
    await service().database.transaction(tx =>
      tx.deleteFrom('idempotency_keys').where('key', 'like', 'full %').execute(),
    )
  })

  test('the log has a long list as its hash', async () => {
    const rows = await service()
      .database.reader.selectFrom('events')
      .select('after_values')
      .where('action', '=', 'payout.create')
      .execute()
    assert.ok(rows.every(({ after_values }) => after_values.length < 1000))
    const hashed = /"referrals":"sha256:[\da-f]{64} \(\d+ characters\)"/
    assert.ok(rows.some(({ after_values }) => hashed.test(after_values)))
  })

  test('200 - edits and deletes', async () => {
    const { id } = await service().newAffiliate('edited')
    const key = randomUUID()
    await service().patch(`/affiliates/${id}`, { rate: 5 }, named(key))
    await service().patch(`/affiliates/${id}`, { rate: 6 })
    const again = await service().patch(`/affiliates/${id}`, { rate: 5 }, named(key))
    assert.equal(again.body.rate, '5')
    assert.equal((await service().get(`/affiliates/${id}`)).body.rate, '6')
    const gone = randomUUID()
    const first = await service().delete(`/affiliates/${id}`, named(gone))
    assert.equal(first.status, 200)
    const second = await service().delete(`/affiliates/${id}`, named(gone))
    assert.equal(second.status, 200)
    assert.deepEqual(second.body, first.body)
  })

  test('409 - another request under the same key', async () => {
    const { id } = await service().newAffiliate('mismatch')
    const key = randomUUID()
    assert.equal((await service().post('/payouts', { affiliate_id: id, amount: 1 }, named(key))).status, 201)
    const before = await payoutCount()
    const other = await service().post('/payouts', { affiliate_id: id, amount: 2 }, named(key))
    assertFailure(other, 409, 'rest_idempotency_mismatch')
    const elsewhere = await service().patch(`/affiliates/${id}`, { rate: 1 }, named(key))
    assertFailure(elsewhere, 409, 'rest_idempotency_mismatch')
    assert.equal(await payoutCount(), before)
  })

  test('201 - two API keys may choose the same Idempotency-Key', async () => {
    const { id } = await service().newAffiliate('scoped')
    const key = randomUUID()
    const other = await service().newKey(permissions)
    const first = await service().post('/payouts', { affiliate_id: id }, named(key))
    const second = await service().post('/payouts', { affiliate_id: id }, { ...named(key), key: other })
    assert.notEqual(first.body.id, second.body.id)
    assert.equal(second.headers.get('idempotent-replayed'), null)
  })

  test('201 - twenty at once make one effect, and get one answer', async () => {
    const { id } = await service().newAffiliate('race')
    const before = await payoutCount()
    const key = randomUUID()
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => service().post('/payouts', { affiliate_id: id }, named(key))),
    )
    assert.deepEqual([...new Set(replies.map(reply => reply.status))], [201])
    assert.equal(new Set(replies.map(reply => JSON.stringify(reply.body))).size, 1)
    assert.equal(replies.filter(reply => reply.headers.get('idempotent-replayed') === null).length, 1)
    assert.equal(await payoutCount(), before + 1)
  })

  test('201 - at once on two nodes: one effect', async () => {
    const { id } = await service().newAffiliate('nodes')
    const database = await openDatabase(service().databaseUrl)
    const { url, close } = await listen(database)
    const other = new Service(url, service().databaseUrl, database, service().key, close)
    const before = await payoutCount()
    for (let round = 0; round < 10; round += 1) {
      const key = randomUUID()
      const [here, there] = await Promise.all(
        [service(), other].map(node => node.post('/payouts', { affiliate_id: id }, named(key))),
      )
      assert.deepEqual([here!.status, there!.status], [201, 201])
      assert.deepEqual(here!.body, there!.body)
    }
    assert.equal(await payoutCount(), before + 10)
    await other.close()
  })

  test('400, then 201 - a failure is not kept', async () => {
    const { id } = await service().newAffiliate('mended')
    const key = randomUUID()
    const before = (await keptRows()).length
    const wrong = await service().post('/payouts', { affiliate_id: id, amount: 1.999 }, named(key))
    assertFailure(wrong, 400, 'rest_invalid_param')
    assertFailure(
      await service().post('/payouts', { affiliate_id: 999_999 }, named(key)),
      400,
      'rest_invalid_param',
    )
    assertFailure(await service().delete('/payouts/999999', named(key)), 404, 'invalid_payout_id')
    assert.equal((await keptRows()).length, before)
    const right = await service().post('/payouts', { affiliate_id: id, amount: 1.99 }, named(key))
    assert.equal(right.status, 201)
  })

  test('409, then 201 - a conflict is not kept, and leaves nothing half-made', async () => {
    await service().newAffiliate('taken')
    const key = randomUUID()
    const body = { create_user: true, payment_email: 'taken@example.com' }
    assertFailure(await service().post('/affiliates', body, named(key)), 409, 'existing_user_email')
    const free = { create_user: true, payment_email: 'free@example.com' }
    assert.equal((await service().post('/affiliates', free, named(key))).status, 201)
  })

  test('201 - after 24 hours a key is new, and what has expired is removed though no key is used', async t => {
    const { id } = await service().newAffiliate('expired')
    const [mine, others] = [randomUUID(), randomUUID()]
    const first = await service().post('/payouts', { affiliate_id: id }, named(mine))
    await service().post('/payouts', { affiliate_id: id }, named(others))
    const aged = (age: number) =>
      service().database.transaction(tx =>
        tx
          .updateTable('idempotency_keys')
          .set({ created_at: now() - age })
          .where('key', 'in', [mine, others])
          .execute(),
      )
    await aged(24 * 3600 - 60)
    const replayed = await service().post('/payouts', { affiliate_id: id }, named(mine))
    assert.equal(replayed.headers.get('idempotent-replayed'), 'true')
    await aged(24 * 3600 + 60)
    const second = await service().post('/payouts', { affiliate_id: id }, named(mine))
    assert.notEqual(second.body.id, first.body.id)
    assert.ok((await keptRows()).some(row => row.key === others))
    t.mock.timers.enable({ apis: ['setInterval'] })
    const node = await listen(await openDatabase(service().databaseUrl))
    t.mock.timers.tick(60_000)
    await node.close()
    const kept = (await keptRows()).map(row => row.key)
    assert.ok(kept.includes(mine))
    assert.ok(!kept.includes(others))
  })

  test('what has expired is removed together', async () => {
    const expired = now() - 25 * 3600
    const answer = { owner: 'somebody', fingerprint: '', status: 201, location: '', body: '{}' }
    const rows = Array.from({ length: 20 }, () => ({ ...answer, key: randomUUID(), created_at: expired }))
    await service().database.transaction(tx => tx.insertInto('idempotency_keys').values(rows).execute())
    let count = 0
    const counted = () => {
      count += 1
    }
    queries.subscribe(counted)
    const isMore = await service().database.transaction(removeOldAnswers)
    queries.unsubscribe(counted)
    assert.equal(isMore, false)
    assert.ok(count < rows.length, `${count} statements`)
    assert.ok((await keptRows()).every(({ owner }) => owner !== 'somebody'))
  })

  test('400 - keys that are empty, too long, or not printable ASCII', async () => {
    for (const key of ['', 'x'.repeat(256), 'a\u00e4']) {
      const reply = await service().post('/payouts', { affiliate_id: 1 }, named(key))
      assertFailure(reply, 400, 'rest_invalid_param')
      assert.ok(reply.body.data.params['Idempotency-Key'])
    }
    const twice = request(`${service().url}/v1/payouts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service().key.token}`, 'idempotency-key': ['a', 'b'] },
    }).end()
    const [{ statusCode }] = await once(twice, 'response')
    assert.equal(statusCode, 400)
    const { id } = await service().newAffiliate('longest')
    const longest = await service().post('/payouts', { affiliate_id: id }, named('x'.repeat(255)))
    assert.equal(longest.status, 201)
  })

  test('the administration area: affiliates and payouts take a key, what holds a secret refuses it', async () => {
    const admin = await service().admin()
    const { id } = await service().newAffiliate('area')
    const send = () => admin.send('POST', '/payouts', { body: { affiliate_id: id }, ...named('area-1') })
    const [first, second] = [await send(), await send()]
    assert.equal(first.status, 201)
    assert.deepEqual(second.body, first.body)
    const body = { name: 'x', user_id: 1, permissions: ['payouts.read'] }
    const refused = await admin.send('POST', '/keys', { body, ...named('area-2') })
    assertFailure(refused, 400, 'rest_invalid_param')
    assert.ok(!JSON.stringify(await keptRows()).includes('affiliated_sk_'))
  })
})
