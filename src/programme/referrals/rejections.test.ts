import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { before, test } from 'node:test'
import { assertFailure, describeService, operatorOf } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { erasePerson, exportPerson } from '../../operations/privacy/rules.ts'

const REASON = 'Bought by Ada Abbott herself'

describeService('why a referral is rejected', service => {
  let affiliate: { id: number; user_id: number }
  before(async () => {
    affiliate = await service().newAffiliate('rejected', { status: 'active' })
  })
  const earn = async (): Promise<number> => {
    const reply = await service().post('/referrals', { affiliate_id: affiliate.id, amount: 10 })
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return reply.body.id
  }
  const edit = (id: number, args: object) => service().patch(`/referrals/${id}`, args)
  const exportOf = (userId: number) =>
    text(Readable.from(exportPerson(operatorOf(service().database), features, userId)))
  const explained = async (id: number) => (await service().get(`/referrals/${id}/explanation`)).body

  test('200 - it is in the explanation and the event, not in the record, and ends with the rejection', async () => {
    const id = await earn()
    const { status, body } = await edit(id, { status: 'rejected', rejection_reason: REASON })
    assert.equal(status, 200, JSON.stringify(body))
    assert.ok(!('rejection_reason' in body))
    const { rejection_reason, sentences } = await explained(id)
    assert.equal(rejection_reason, REASON)
    assert.ok(sentences.includes(`The reason given: “${REASON}”`), sentences.join(' '))
    const admin = await service().admin()
    const { body: log } = await admin.get(`/audit?action=referral.reject&record_id=${id}`)
    assert.equal(log[0].after.rejection_reason, REASON)

    assert.equal((await edit(id, { rejection_reason: 'A test' })).status, 200)
    assert.equal((await explained(id)).rejection_reason, 'A test')
    assert.equal((await edit(id, { status: 'rejected' })).status, 200)
    assert.equal((await explained(id)).rejection_reason, 'A test')
    assert.equal((await edit(id, { status: 'unpaid' })).status, 200)
    assert.equal((await explained(id)).rejection_reason, '')
    assert.equal((await edit(id, { status: 'rejected' })).status, 200)
    assert.deepEqual(
      (await explained(id)).sentences.filter((one: string) => /reason|rejected/.test(one)),
      ['It was rejected.'],
    )
  })

  test('400 - of one that is not rejected, or more than a line', async () => {
    const id = await earn()
    for (const args of [
      { rejection_reason: REASON },
      { status: 'unpaid', rejection_reason: REASON },
      { status: 'rejected', rejection_reason: 'one\ntwo' },
      { status: 'rejected', rejection_reason: 'x'.repeat(501) },
    ]) {
      const reply = await edit(id, args)
      assertFailure(reply, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(reply.body.data.params), ['rejection_reason'])
    }
    assert.equal((await edit(id, { rejection_reason: '' })).status, 200)
  })

  test('200 - of many at once; 400 - of many that are approved', async () => {
    const ids = [await earn(), await earn()]
    const bulk = (action: string) =>
      service().post('/referrals/bulk', { action, referral_id: ids, rejection_reason: REASON })
    const approved = await bulk('approve')
    assert.deepEqual([approved.body.done, approved.body.failed.map((one: any) => one.id)], [[], ids])
    assert.deepEqual((await bulk('reject')).body.done, ids)
    for (const id of ids) assert.equal((await explained(id)).rejection_reason, REASON)
    // It selects nothing by itself.
    assertFailure(
      await service().post('/referrals/bulk', { action: 'reject', rejection_reason: REASON }),
      400,
      'rest_invalid_param',
    )
  })

  test('a sale that is earned again by a report - leaves nothing of it', async () => {
    const sale = { context: 'shop', reference: 'again', amount: 50 }
    const report = (args: object) => service().post('/conversions', { ...sale, ...args })
    const { body } = await report({ kind: 'sale', affiliate_id: affiliate.id })
    const { id } = body.referrals[0]
    await report({ kind: 'dispute', part: 'd1' })
    assert.equal((await explained(id)).status, 'rejected')
    assert.equal((await edit(id, { rejection_reason: REASON })).status, 200)
    assert.equal((await report({ kind: 'dispute_won', part: 'd1' })).status, 201)
    const { status, rejection_reason } = await explained(id)
    assert.notEqual(status, 'rejected')
    assert.equal(rejection_reason, '')
  })

  test('of one that another affiliate has earned - it ends, and what is said of them is their own', async () => {
    const other = await service().newAffiliate('moved', { status: 'active' })
    const said = 'Bought by the sister of Bob'
    const [id, kept] = [await earn(), await earn()]
    for (const one of [id, kept]) await edit(one, { status: 'rejected', rejection_reason: REASON })
    assert.equal((await edit(id, { affiliate_id: other.id })).status, 200)
    assert.equal((await explained(id)).rejection_reason, '')
    assert.equal((await edit(kept, { affiliate_id: other.id, rejection_reason: said })).status, 200)
    assert.equal((await explained(kept)).rejection_reason, said)
    const exported = await exportOf(other.user_id)
    assert.ok(exported.includes(said) && !exported.includes(REASON))
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })

  test('is exported with the affiliate, and erased with them', async () => {
    const { database } = service()
    const context = operatorOf(database)
    assert.ok((await exportOf(affiliate.user_id)).includes(REASON))
    // Also of one that is gone, and of one whose affiliate is.
    const [gone, orphan] = [await earn(), await earn()]
    for (const id of [gone, orphan]) await edit(id, { status: 'rejected', rejection_reason: 'First' })
    await edit(gone, { rejection_reason: REASON })
    await service().delete(`/referrals/${gone}`)
    assert.equal((await service().delete(`/affiliates/${affiliate.id}`)).status, 200)
    assert.equal((await edit(orphan, { rejection_reason: REASON })).status, 200)
    await erasePerson(context, affiliate.user_id)
    for (const table of ['referrals', 'events'] as const) {
      const rows = await database.reader.selectFrom(table).selectAll().execute()
      assert.ok(rows.length > 0 && !JSON.stringify(rows).includes(REASON), table)
    }
    assert.deepEqual((await checkDatabase(database, features)).problems, [])
  })
})
