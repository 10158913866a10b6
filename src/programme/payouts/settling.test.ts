import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import { assertFailure, describeService } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { checkDatabase } from '../../operations/check/rules.ts'

describeService('what is kept beside referrals and payouts', service => {
  let affiliate = 0
  const send = async (path: string, body: object, status = 201) => {
    const reply = await service().post(path, body)
    assert.equal(reply.status, status, JSON.stringify(reply.body))
    return reply.body
  }
  const refer = (args: object) => send('/referrals', { affiliate_id: affiliate, amount: 1, ...args })
  const set = async (changes: object) => {
    const admin = await service().admin()
    const reply = await admin.patch('/settings', changes)
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return reply.body
  }

  before(async () => {
    affiliate = (await service().newAffiliate('settled')).id
  })

  test('the log tells what was said of one payee to its end before what is said of the next', async () => {
    const next = (await service().newAffiliate('next-payee')).id
    const { id } = await send('/payouts', { affiliate_id: affiliate, amount: 3, note: 'of the first' })
    const moved = { affiliate_id: next, note: 'of the next', status: 'failed' }
    assert.equal((await service().patch(`/payouts/${id}`, moved)).status, 200)
    const { database } = service()
    const events = await database.reader
      .selectFrom('events')
      .select(['id', 'action', 'personal'])
      .where('record_kind', '=', 'payout')
      .where('record_id', '=', id)
      .orderBy('id')
      .execute()
    assert.deepEqual(
      events.map(({ action, personal }) => [action, JSON.parse(personal).after.note]),
      [
        ['payout.create', 'of the first'],
        ['payout.edit', ''],
        ['payout.fail', 'of the next'],
      ],
    )
    assert.deepEqual((await checkDatabase(database, features)).problems, [])
  })

  test('a payout has a date of its own, a reference and a note', async () => {
    const sent = {
      affiliate_id: affiliate,
      amount: 3,
      date: '2024-02-03 04:05:06',
      reference: 'SEPA-1',
      note: 'By bank\nsecond line',
      payout_run_id: 0,
    }
    const made = await send('/payouts', sent)
    assert.equal(made.date, '2024-02-03 04:05:06')
    assert.deepEqual(
      Object.keys(made).filter(name => ['reference', 'note'].includes(name)),
      [],
    )
    const notes = await service().get(`/payouts/${made.payout_id}/notes`)
    assert.deepEqual(notes.body, {
      payout_id: made.payout_id,
      reference: 'SEPA-1',
      note: 'By bank\nsecond line',
      payout_run_id: 0,
    })
    const found = (await service().get('/payouts?reference=SEPA-1')).body
    assert.deepEqual(
      found.map((one: { id: number }) => one.id),
      [made.payout_id],
    )
    const edited = await service().patch(`/payouts/${made.payout_id}`, {
      affiliate_id: affiliate,
      date: '2024-02-04',
      note: '',
    })
    assert.equal(edited.body.date, '2024-02-04 00:00:00')
    assert.equal((await service().get(`/payouts/${made.payout_id}/notes`)).body.note, '')
    assert.equal((await service().get('/payouts?date=2024-02-04')).body.length, 1)
    const wrong = await service().post('/payouts', { ...sent, date: '2024-02-30' })
    assertFailure(wrong, 400, 'rest_invalid_param')
    assertFailure(await service().get('/payouts/98765/notes'), 404, 'invalid_payout_id')
    const admin = await service().admin()
    const csv = (await admin.get('/exports/payouts?format=csv')).body
    assert.match(csv.split('\r\n')[0], /,reference,note$/)
    assert.match(csv, /,SEPA-1,/)
  })

  test('unknown_referrals: refuse - what a payout names must be a referral here', async () => {
    const old = await send('/payouts', { affiliate_id: affiliate, referrals: [900_001], amount: 1 })
    assert.equal((await set({ unknown_referrals: 'refuse' })).unknown_referrals, 'refuse')
    const { referral_id } = await refer({ status: 'unpaid' })
    const wrong = await service().post('/payouts', {
      affiliate_id: affiliate,
      referrals: [referral_id, 900_002],
    })
    assertFailure(wrong, 409, 'rest_payout_conflict')
    assert.deepEqual(wrong.body.data.referrals, { 900002: 'does not exist.' })
    // What it named before stays.
    const edit = { affiliate_id: affiliate, referrals: [900_001, referral_id] }
    assert.equal((await service().patch(`/payouts/${old.payout_id}`, edit)).status, 200)
    await set({ unknown_referrals: 'keep' })
    await send('/payouts', { affiliate_id: affiliate, referrals: [900_002], amount: 1 })
  })

  test('unique_references: off - the same reference is another referral', async () => {
    const sent = { context: 'shop', reference: 'A-1', status: 'unpaid' }
    const first = await refer(sent)
    await set({ unique_references: false })
    const second = await refer(sent)
    assert.notEqual(second.referral_id, first.referral_id)
    await set({ unique_references: true })
    const reply = await service().post('/referrals', { affiliate_id: affiliate, amount: 1, ...sent })
    assert.deepEqual([reply.status, reply.body.referral_id], [200, first.referral_id])
  })

  test('unique_references: on again - what was recorded while it was off is not counted', async () => {
    const sent = { context: 'shop', reference: 'A-2', status: 'unpaid' }
    await set({ unique_references: false })
    const first = await refer(sent)
    await set({ unique_references: true })
    const second = await refer(sent)
    assert.notEqual(second.referral_id, first.referral_id)
    const reply = await service().post('/referrals', { affiliate_id: affiliate, amount: 1, ...sent })
    assert.deepEqual([reply.status, reply.body.referral_id], [200, second.referral_id])
  })

  test('a referral names visits and customers that exist, and tells the visit', async () => {
    const visit = async () => (await send('/visits', { affiliate_id: affiliate })).visit_id
    const ledTo = async (id: number) => (await service().get(`/visits/${id}`)).body.referral_id
    const [first, second] = [await visit(), await visit()]
    const wrong = await service().post('/referrals', {
      affiliate_id: affiliate,
      visit_id: second + 1,
      customer_id: 1,
      parent_id: 999_999,
    })
    assertFailure(wrong, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(wrong.body.data.params).sort(), ['customer_id', 'parent_id', 'visit_id'])
    const { customer_id } = await send('/customers', { email: 'who@example.com' })
    const { referral_id } = await refer({ visit_id: first, customer_id, status: 'unpaid' })
    assert.equal(await ledTo(first), referral_id)
    const edit = async (changes: object) =>
      assert.equal((await service().patch(`/referrals/${referral_id}`, changes)).status, 200)
    await edit({ visit_id: second })
    assert.deepEqual([await ledTo(first), await ledTo(second)], [0, referral_id])
    await edit({ status: 'rejected' })
    assert.equal(await ledTo(second), 0)
    await edit({ status: 'unpaid' })
    assert.equal(await ledTo(second), referral_id)
    // Visits and customers that are gone may be named.
    await service().delete(`/visits/${first}`)
    await edit({ visit_id: first })
    await service().delete(`/referrals/${referral_id}`)
    assert.equal(await ledTo(second), 0)
  })

  test('failed payouts are open until their referrals are paid otherwise', async () => {
    const { id } = await service().newAffiliate('failing')
    const { referral_id } = await send('/referrals', { affiliate_id: id, amount: 5, status: 'unpaid' })
    const pay = (args: object) => send('/payouts', { affiliate_id: id, ...args })
    const failed = await pay({ referrals: [referral_id], status: 'failed' })
    const unknown = await pay({ referrals: [900_003], amount: 2, status: 'failed' })
    const those = async (query: string) =>
      (await service().get(`/payouts?affiliate_id=${id}&fields=ids&${query}`)).body
    assert.deepEqual(await those('failure=open'), [failed.payout_id, unknown.payout_id])
    assert.deepEqual(await those('failure=settled'), [])
    const paid = await pay({ referrals: [referral_id] })
    assert.deepEqual(await those('failure=open&made_by=person'), [unknown.payout_id])
    assert.deepEqual(await those('failure=settled'), [failed.payout_id])
    assert.deepEqual(await those('made_by=run'), [])
    assert.equal((await service().delete(`/payouts/${paid.payout_id}`)).status, 200)
    assert.deepEqual(await those('failure=open'), [failed.payout_id, unknown.payout_id])
  })

  test('409 - a balance beyond what the ledger holds', async () => {
    const { id } = await service().newAffiliate('vast')
    const { amount } = await send('/referrals', { affiliate_id: id, amount: 5, status: 'unpaid' })
    assert.equal(amount, '5.00')
    await service().database.transaction(tx =>
      sql`UPDATE balances SET amount = 3999999999999999999 WHERE affiliate_id = ${id} AND account = 'unpaid'`.execute(
        tx,
      ),
    )
    const wrong = await service().post('/referrals', { affiliate_id: id, amount: 5, status: 'unpaid' })
    assertFailure(wrong, 409, 'rest_balance_exceeded')
    assert.equal((await service().get(`/referrals?affiliate_id=${id}`)).body.length, 1)
  })
})
