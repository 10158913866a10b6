/** One request that changes many records: by identifier, or all that a list has. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import { assertFailure, describeService } from '../harness.ts'

type Row = Record<string, any>

describeService('bulk', service => {
  let affiliate = 0
  const add = async (args: object = {}): Promise<number> => {
    const reply = await service().post('/referrals', { affiliate_id: affiliate, amount: 1, ...args })
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return reply.body.referral_id
  }
  const bulk = async (resource: string, body: object) => {
    const reply = await service().post(`/${resource}/bulk`, body)
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return reply.body
  }
  const statusOf = async (id: number) => (await service().get(`/referrals/${id}`)).body.status

  before(async () => {
    affiliate = (await service().newAffiliate('many')).id
  })

  test('200 - those that are named; the others are done where one cannot be', async () => {
    const ids = [await add(), await add({ status: 'unpaid' }), await add(), await add({ status: 'unpaid' })]
    await service().newPayout(affiliate, { referrals: [ids[1]] })
    const { action, done, failed, next } = await bulk('referrals', {
      action: 'reject',
      referral_id: [...ids, 987_654, ids[0]],
    })
    assert.deepEqual([action, done, next], ['reject', [ids[0], ids[2], ids[3]], null])
    assert.deepEqual(
      failed.map((one: Row) => [one.id, one.code]),
      [
        [ids[1], 'rest_referral_conflict'],
        [987_654, 'invalid_referral_id'],
      ],
    )
    assert.match(failed[0].message, /Payout \d+ has paid this referral/)
    assert.equal(await statusOf(ids[1]!), 'paid')
    assert.equal(await statusOf(ids[2]!), 'rejected')
    const events = (await service().get(`/events?record_id=${ids[2]}&record_kind=referral`)).body
    assert.ok(JSON.stringify(events).includes('referral.reject'), JSON.stringify(events))
  })

  test('200 - all that match, however many, and only those', async () => {
    const ids: number[] = []
    for (let number = 0; number < 60; number += 1) ids.push(await add({ campaign: 'wave' }))
    const other = await add({ campaign: 'calm' })
    await bulk('referrals', { action: 'reject', referral_id: [ids[7]!] })
    const { done, failed, next } = await bulk('referrals', {
      action: 'approve',
      filter: { status: 'pending' },
      campaign: 'wave',
      exclude: [ids[3]],
    })
    assert.deepEqual(
      done,
      ids.filter(id => id !== ids[3] && id !== ids[7]),
    )
    assert.deepEqual([failed, next], [[], null])
    assert.equal(await statusOf(other), 'pending')
    const { body } = await service().get(`/affiliates/${affiliate}/balances`)
    const { unpaid_earnings } = (await service().get(`/affiliates/${affiliate}`)).body
    assert.deepEqual([body.unpaid, unpaid_earnings], [58, 58])
    const rest = await bulk('referrals', { action: 'reject', campaign: ['wave'], after: ids[50] })
    assert.deepEqual(rest.done, ids.slice(51))
  })

  test('200 - payouts and affiliates', async () => {
    const id = await add({ status: 'unpaid', amount: 5 })
    const { payout_id } = await service().newPayout(affiliate, { referrals: [id], status: 'failed' })
    assert.equal(await statusOf(id), 'unpaid')
    assert.deepEqual((await bulk('payouts', { action: 'pay', status: 'failed' })).done, [payout_id])
    assert.equal(await statusOf(id), 'paid')
    const pending = await service().newAffiliate('applicant', { status: 'pending' })
    assert.deepEqual(
      (await bulk('affiliates', { action: 'approve', status: ['pending'], exclude: affiliate })).done,
      [pending.id],
    )
    assert.equal((await service().get(`/affiliates/${pending.id}`)).body.status, 'active')
  })

  test('200 - DELETE deletes them', async () => {
    const ids = [await add({ campaign: 'gone' }), await add({ campaign: 'gone' })]
    const reply = await service().delete('/referrals/bulk?campaign=gone')
    assert.deepEqual(reply.body, { action: 'delete', done: ids, failed: [], next: null })
    assertFailure(await service().get(`/referrals/${ids[0]}`), 404, 'invalid_referral_id')
  })

  test('the body of a deletion says which, as the address does', async () => {
    const [unpaid, rejected] = [
      await add({ campaign: 'half', status: 'unpaid' }),
      await add({ campaign: 'half', status: 'rejected' }),
    ]
    const gone = async (options: object) =>
      (await service().delete('/referrals/bulk?campaign=half', options)).body.done
    assert.deepEqual(await gone({ body: { status: 'rejected' } }), [rejected])
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    assert.deepEqual(await gone({ headers: form, body: 'status=pending' }), [])
    const misspelt = await service().delete('/referrals/bulk?campaign=half', { body: { statsu: 'paid' } })
    assertFailure(misspelt, 400, 'rest_invalid_param')
    for (const path of ['/referrals/bulk?campaign=half', `/referrals/${unpaid}`]) {
      const broken = await service().delete(path, {
        headers: { 'content-type': 'application/json' },
        body: '{not json',
      })
      assertFailure(broken, 400, 'rest_invalid_json')
    }
    // As PHP writes no arguments at all.
    const other = await add({ campaign: 'other' })
    assert.equal((await service().delete(`/referrals/${other}`, { body: [] })).status, 200)
    assert.deepEqual(await gone({ body: { status: ['unpaid'] } }), [unpaid])
  })

  test('409 - one of another status than those of which it is asked for is named, and stays as it is', async () => {
    const [pending, rejected] = [await add({ campaign: 'from' }), await add({ campaign: 'from' })]
    await service().patch(`/referrals/${rejected}`, { status: 'rejected', rejection_reason: 'Sent twice' })
    const asked = { action: 'pay', campaign: 'from', from: ['pending', 'unpaid'] }
    const { done, failed } = await bulk('referrals', asked)
    assert.deepEqual(
      [done, failed.map((one: any) => [one.id, one.code])],
      [[pending], [[rejected, 'rest_wrong_status']]],
    )
    assert.equal(failed[0].message, 'It is rejected, and not pending or unpaid.')
    const { status, rejection_reason } = (await service().get(`/referrals/${rejected}/explanation`)).body
    assert.deepEqual([status, rejection_reason], ['rejected', 'Sent twice'])
    assertFailure(
      await service().post('/referrals/bulk', { ...asked, from: ['sold'] }),
      400,
      'rest_invalid_param',
    )
  })

  test('412 - one that is different from what was seen, or that was not seen, is named, and stays as it is', async () => {
    const add3 = (amount: number) => add({ campaign: 'seen', status: 'unpaid', amount })
    const ids = [await add3(125), await add3(12.5), await add3(12.6)]
    const { body: seen } = await service().get('/referrals?campaign=seen&fields=referral_id,status,amount')
    assert.deepEqual(Object.keys(seen[0]), ['referral_id', 'status', 'amount'])
    await service().patch(`/referrals/${ids[0]}`, { amount: 25 })
    const later = await add3(777.77)
    const { done, failed } = await bulk('referrals', { action: 'pay', campaign: 'seen', seen })
    assert.deepEqual(done, ids.slice(1))
    assert.deepEqual(
      failed.map((one: Row) => [one.id, one.code, one.message]),
      [
        [ids[0], 'rest_precondition_failed', 'Its amount has changed since it was looked at.'],
        [later, 'rest_precondition_failed', 'It is not among those that were looked at.'],
      ],
    )
    assert.deepEqual([await statusOf(ids[0]!), await statusOf(later)], ['unpaid', 'unpaid'])
    const own = { action: 'pay', referral_id: ids[0] }
    for (const [one, name] of [
      [{ referral_id: ids[0], amuont: '25' }, 'seen[][amuont]'],
      [{ amount: '25' }, 'seen'],
    ] as const) {
      const wrong = await service().post('/referrals/bulk', { ...own, seen: [one] })
      assertFailure(wrong, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(wrong.body.data.params), [name])
    }
  })

  test('412 - of affiliates and payouts as well', async () => {
    const { id } = await service().newAffiliate('looked', { status: 'pending', rate: '20' })
    const seen = [{ affiliate_id: id, status: 'pending', rate: '20' }]
    await service().patch(`/affiliates/${id}`, { rate: '90' })
    const approval = { action: 'approve', affiliate_id: id, seen }
    const [refused] = (await bulk('affiliates', approval)).failed
    assert.equal(refused.message, 'Its rate has changed since it was looked at.')
    assert.equal((await service().get(`/affiliates/${id}`)).body.status, 'pending')
    const { payout_id } = await service().newPayout(affiliate, { amount: 5, status: 'failed' })
    const payment = { action: 'pay', payout_id, seen: [{ payout_id, amount: 6 }] }
    assert.equal((await bulk('payouts', payment)).failed[0].code, 'rest_precondition_failed')
    assert.equal((await service().get(`/payouts/${payout_id}`)).body.status, 'failed')
  })

  test('409 - what was paid by hand is not approved, whatever else is meant', async () => {
    const [paid, pending] = [
      await add({ campaign: 'paid', status: 'paid' }),
      await add({ campaign: 'paid', status: 'pending' }),
    ]
    const { done, failed } = await bulk('referrals', { action: 'approve', campaign: 'paid' })
    assert.deepEqual([done, failed.map((one: any) => one.id)], [[pending], [paid]])
    assert.match(failed[0].message, /^A referral that is paid is not approved/)
    assert.equal(await statusOf(paid), 'paid')
  })

  test('400 - nothing says which, what narrows nothing, an Idempotency-Key', async () => {
    for (const [body, name] of [
      [{ action: 'approve' }, 'all'],
      [{ action: 'approve', referral_id: [] }, 'all'],
      [{ action: 'approve', search: ' ' }, 'all'],
      [{ action: 'approve', filter: { search: '' } }, 'all'],
      [{ action: 'approve', amount: {} }, 'all'],
      [{ action: 'approve', filter: { date: {} } }, 'all'],
      [{ action: 'approve', amount_compare: '>' }, 'all'],
      [{ action: 'approve', exclude: [1] }, 'all'],
      [{ action: 'approve', statsu: 'pending', campaign: 'x' }, 'statsu'],
      [{ action: 'approve', campaign: 'x', status: null }, 'status'],
      [{ action: 'obliterate', all: true }, 'action'],
    ] as const) {
      const wrong = await service().post('/referrals/bulk', body)
      assertFailure(wrong, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(wrong.body.data.params), [name])
    }
    for (const query of ['search=', 'filter[search]=', 'amount_compare=%3D', 'exclude=1']) {
      assertFailure(await service().delete(`/referrals/bulk?${query}`), 400, 'rest_invalid_param')
    }
    const wrong = await service().post(
      '/referrals/bulk',
      { action: 'approve', referral_id: [1] },
      { headers: { 'idempotency-key': 'k' } },
    )
    assertFailure(wrong, 400, 'rest_invalid_param')
    assert.match(wrong.body.message, /does what is left to do/)
  })

  test('403 - to delete is another permission than to edit', async () => {
    const key = await service().newKey(['referrals.read', 'referrals.edit'])
    assert.equal((await service().delete('/referrals/bulk?all=1', { key })).status, 403)
    const { status } = await service().post('/referrals/bulk', { action: 'approve', referral_id: 1 }, { key })
    assert.equal(status, 200)
  })

  test('200 - of very many it goes through a part, and says where to go on', async () => {
    const { reader } = service().database
    const { id: _, ...row } = await reader
      .selectFrom('referrals')
      .selectAll()
      .where('status', '=', 'rejected')
      .limit(1)
      .executeTakeFirstOrThrow()
    for (let batch = 0; batch < 3; batch += 1) {
      const rows = Array.from({ length: 350 }, () => ({
        ...row,
        campaign: 'flood',
        unique_reference: 0 as const,
      }))
      await service().database.transaction(tx => tx.insertInto('referrals').values(rows).execute())
    }
    let left = 1050
    let after = 0
    for (let requests = 1; ; requests += 1) {
      const { body } = await service().delete(`/referrals/bulk?campaign=flood&after=${after}`)
      left -= body.done.length
      if (body.next === null) {
        assert.ok(requests > 1)
        break
      }
      after = body.next
    }
    assert.equal(left, 0)
    const { rows } = await sql<{ count: number }>`
      SELECT count(*) AS count FROM referrals WHERE campaign = 'flood'`.execute(reader)
    assert.equal(Number(rows[0]!.count), 0)
  })
})
