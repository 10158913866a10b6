/** ETag, If-Match and If-None-Match. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { assertFailure, describeService, giveSecretKey, listen, openDatabase, Service } from '../harness.ts'

const ifMatch = (tag: string) => ({ headers: { 'if-match': tag } })
const ifNoneMatch = (tag: string) => ({ headers: { 'if-none-match': tag } })

describeService('preconditions', service => {
  giveSecretKey()
  const tagOf = async (path: string) => (await service().get(path)).headers.get('etag')!

  test('200 - create, get and edit tell the same ETag of the same record, and every change another', async () => {
    const made = await service().post('/affiliates', { create_user: true, payment_email: 'tag@example.com' })
    const path = `/affiliates/${made.body.id}`
    const tags = [made.headers.get('etag')!]
    assert.match(tags[0]!, /^"[\w-]+"$/)
    assert.equal(await tagOf(path), tags[0])
    for (const change of [
      { rate: 1 },
      { rate: 2 },
      { status: 'active' },
      { payment_email: 'other@example.com' },
    ]) {
      const edited = await service().patch(path, change)
      tags.push(edited.headers.get('etag')!)
      assert.equal(await tagOf(path), tags.at(-1))
    }
    assert.equal(new Set(tags).size, 5)
    assert.equal((await service().get('/affiliates')).headers.get('etag'), null)
  })

  test('200 - figures that follow from referrals change the tag, and not what If-Match compares', async () => {
    const { id } = await service().newAffiliate('busy')
    const path = `/affiliates/${id}`
    const before = await service().get(path)
    const tag = before.headers.get('etag')!
    const changedAt = () =>
      service().database.reader.selectFrom('affiliates').select('updated_at').where('id', '=', id).execute()
    const edit = await changedAt()
    await delay(1100)
    await service().post('/referrals', { affiliate_id: id, amount: 5, status: 'unpaid' })
    const after = await service().get(path, ifNoneMatch(tag))
    assert.deepEqual([after.status, after.body.unpaid_earnings, after.body.referrals], [200, 5, 1])
    assert.notEqual(after.headers.get('etag'), tag)
    assert.deepEqual(await changedAt(), edit)
    const edited = await service().patch(path, { rate: 5 }, ifMatch(tag))
    assert.equal(edited.status, 200)
    assert.equal((await service().patch(path, { rate: 6 }, ifMatch(tag))).status, 412)
  })

  test('200 - every node tells the same ETag', async () => {
    const { id } = await service().newAffiliate('elsewhere')
    const database = await openDatabase(service().databaseUrl)
    const { url, close } = await listen(database)
    const other = new Service(url, service().databaseUrl, database, service().key, close)
    const there = (await other.get(`/affiliates/${id}`)).headers.get('etag')
    assert.equal(there, await tagOf(`/affiliates/${id}`))
    await other.close()
  })

  test('304 - a get of what the caller has, without a body', async () => {
    const { id } = await service().newAffiliate('known')
    const path = `/affiliates/${id}`
    const tag = await tagOf(path)
    for (const header of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
      const reply = await service().get(path, ifNoneMatch(header))
      assert.equal(reply.status, 304)
      assert.equal(reply.body, undefined)
      assert.equal(reply.headers.get('etag'), tag)
    }
    assert.equal((await service().send('HEAD', path, ifNoneMatch(tag))).status, 304)
    assert.equal((await service().get(path, ifNoneMatch('"x"'))).status, 200)
    await service().patch(path, { rate: 3 })
    assert.equal((await service().get(path, ifNoneMatch(tag))).status, 200)
  })

  test('200 and 412 - edits and deletes of what is, and is no longer, the record', async () => {
    const { id } = await service().newAffiliate('matched')
    const path = `/affiliates/${id}`
    const first = await tagOf(path)
    const edited = await service().patch(path, { rate: 1 }, ifMatch(`"other", ${first}`))
    assert.equal(edited.status, 200)
    for (const header of [first, '"x"', `W/${edited.headers.get('etag')}`, 'x', '']) {
      assertFailure(
        await service().patch(path, { rate: 2 }, ifMatch(header)),
        412,
        'rest_precondition_failed',
      )
      assertFailure(await service().delete(path, ifMatch(header)), 412, 'rest_precondition_failed')
    }
    assert.equal((await service().get(path)).body.rate, '1')
    assert.equal((await service().patch(path, { rate: 3 }, ifMatch('*'))).status, 200)
    assert.equal((await service().delete(path, ifMatch(await tagOf(path)))).status, 200)
    assertFailure(await service().delete(path, ifMatch('*')), 404, 'invalid_affiliate_id')
  })

  test('200 - the tag of any form of the record will do', async () => {
    const { id } = await service().newAffiliate('forms')
    const path = `/affiliates/${id}`
    for (const query of ['?user=1', '?effective=1', '?user=1&effective=1']) {
      const tag = await tagOf(path + query)
      assert.notEqual(tag, await tagOf(path))
      assert.equal((await service().patch(path, { notes: query }, ifMatch(tag))).status, 200)
    }
    const tag = await tagOf(`${path}?user=1`)
    await service().patch(path, { account_email: 'moved@example.com' })
    assertFailure(await service().patch(path, { rate: 9 }, ifMatch(tag)), 412, 'rest_precondition_failed')
  })

  test('payouts, and accounts in the administration area', async () => {
    const { id } = await service().newAffiliate('payee')
    const payout = await service().newPayout(id, { amount: 1 })
    const path = `/payouts/${payout.id}`
    const tag = await tagOf(path)
    const change = { affiliate_id: id, amount: 2 }
    assert.equal((await service().patch(path, change, ifMatch(tag))).status, 200)
    assertFailure(await service().delete(path, ifMatch(tag)), 412, 'rest_precondition_failed')
    const admin = await service().admin()
    const account = (await admin.get('/users/1')).headers.get('etag')!
    const rename = (header: string, first_name: string) =>
      admin.send('PATCH', '/users/1', { body: { first_name }, ...ifMatch(header) })
    assert.equal((await rename(account, 'Ada')).status, 200)
    assertFailure(await rename(account, 'Eve'), 412, 'rest_precondition_failed')
  })

  test('200 and 412 - the steps of a payout run are taken of the run as its own address shows it', async () => {
    const { id } = await service().newAffiliate('paid', { status: 'active' })
    const owed = { affiliate_id: id, amount: 5, status: 'unpaid' }
    await service().post('/referrals', owed)
    const prepare = async () => (await service().post('/payout-runs', { method: 'csv' })).body
    const run = await prepare()
    const path = `/payout-runs/${run.id}`
    const events = async () => (await service().get('/events?number=1000')).body
    const step = async (behind: string, body: object) => {
      const before = [await service().get(path), await events()]
      for (const header of ['"nonsense"', '']) {
        const refused = await service().post(`${path}${behind}`, body, ifMatch(header))
        assertFailure(refused, 412, 'rest_precondition_failed')
      }
      const [shown, logged] = [await service().get(path), await events()]
      assert.deepEqual([shown.body, logged], [before[0].body, before[1]])
      const tag = shown.headers.get('etag')!
      const { status, body: answer } = await service().post(`${path}${behind}`, body, ifMatch(tag))
      assert.equal(status, 200, JSON.stringify(answer))
      const again = await service().post(`${path}${behind}`, body, ifMatch(tag))
      assert.equal(again.status, (await tagOf(path)) === tag ? 200 : 412)
      return answer
    }
    assert.equal((await step('/approve', { hash: run.hash })).status, 'approved')
    assert.equal((await step('/files/csv', {})).status, 'sent')
    const content = `reference,status\n${run.reference},paid`
    assert.equal((await step('/results', { content })).recorded.paid, 1)
    assert.equal((await step('/close', {})).status, 'closed')
    await service().post('/referrals', owed)
    const draft = await prepare()
    const cancel = (header: string) => service().post(`/payout-runs/${draft.id}/cancel`, {}, ifMatch(header))
    assertFailure(await cancel('"nonsense"'), 412, 'rest_precondition_failed')
    assert.equal((await cancel('"x", *')).status, 412)
    assert.equal((await cancel('*')).body.status, 'cancelled')
    assertFailure(
      await service().post('/payout-runs/999/close', {}, ifMatch('*')),
      404,
      'invalid_payout_run_id',
    )
  })

  test('200 and 412 - a source tries out a sample as it is set up', async () => {
    const secret = 'of eight letters'
    const { body, headers } = await service().post('/sources', { name: 'Shop', type: 'stripe', secret })
    const sample = { payload: { type: 'invoice.paid' } }
    const tryOut = (header: string) => service().post(`/sources/${body.id}/try`, sample, ifMatch(header))
    assertFailure(await tryOut('"nonsense"'), 412, 'rest_precondition_failed')
    assert.equal((await tryOut(headers.get('etag')!)).status, 200)
  })

  test('of twenty who edit the same record at once, on two nodes, one goes through', async () => {
    const database = await openDatabase(service().databaseUrl)
    const { url, close } = await listen(database)
    const other = new Service(url, service().databaseUrl, database, service().key, close)
    const { id } = await service().newAffiliate('contested')
    const path = `/affiliates/${id}`
    for (let round = 0; round < 5; round += 1) {
      const tag = await tagOf(path)
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 ? other : service()).patch(path, { rate: 100 * round + index + 1 }, ifMatch(tag)),
        ),
      )
      const statuses = replies.map(reply => reply.status).sort()
      assert.deepEqual(statuses, [200, ...Array(19).fill(412)])
      const winner = replies.find(reply => reply.status === 200)!
      assert.equal((await service().get(path)).body.rate, winner.body.rate)
    }
    await other.close()
  })

  test('a retried edit under If-Match and an Idempotency-Key gets its first answer', async () => {
    const { id } = await service().newAffiliate('both')
    const path = `/affiliates/${id}`
    const headers = { 'if-match': await tagOf(path), 'idempotency-key': 'both-1' }
    const first = await service().patch(path, { rate: 7 }, { headers })
    const again = await service().patch(path, { rate: 7 }, { headers })
    assert.deepEqual([first.status, again.status], [200, 200])
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.equal(again.headers.get('etag'), first.headers.get('etag'))
  })
})
