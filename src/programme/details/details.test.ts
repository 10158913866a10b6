import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { assertFailure, describeService, giveSecretKey } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { personOf } from '../../records/store.ts'
import { paymentDetail } from './details.ts'

describeService('payment details that were removed', service => {
  giveSecretKey()

  test('200 - stay as history, are logged once, and are right for check', async () => {
    const affiliate_id = (await service().newAffiliate('remover', { status: 'active' })).id
    const account = { method: 'sepa', iban: 'FR1420041010050500013M02606', holder: 'Eve' }
    const { body: entered } = await service().post('/payment-details', { affiliate_id, ...account })
    const path = `/payment-details/${entered.id}`
    const remove = async () => {
      const { status, body } = await service().delete(path)
      assert.equal(status, 200)
      return [body.deleted, body.previous.status]
    }
    assert.deepEqual(await remove(), [true, 'current'])
    // Once more changes nothing.
    assert.deepEqual(await remove(), [true, 'removed'])
    const { status, body } = await service().get(path)
    assert.deepEqual([status, body.status, body.holder], [200, 'removed', 'Eve'])
    const { body: events } = await service().get('/events?record=payment_detail')
    const types = events.map(({ type }: { type: string }) => type)
    assert.deepEqual(types.sort(), ['payment_detail.create', 'payment_detail.delete'])
    const problems = async () => (await checkDatabase(service().database, features)).problems
    assert.deepEqual(await problems(), [])
    const setStatus = (status: string) =>
      service().database.transaction(tx =>
        sql`UPDATE payment_details SET status = ${status} WHERE id = ${entered.id}`.execute(tx),
      )
    await setStatus('current')
    assert.match((await problems()).join(), /payment_details \d+: the log says that it was deleted/)
    await setStatus('removed')
  })
})

describeService('payment details and addresses', service => {
  giveSecretKey()

  test('400 - an account is taken from a body only, and not from an address', async () => {
    const { id: affiliate_id } = await service().newAffiliate('addressed')
    const accounts = [
      { method: 'sepa', iban: 'DE89370400440532013000' },
      { method: 'nacha', routing_number: '021000021', account_number: '12345678' },
    ]
    for (const account of accounts) {
      const name = 'iban' in account ? 'iban' : 'account_number'
      const sent = { affiliate_id: String(affiliate_id), holder: 'Ada', ...account }
      const { [name]: number, ...others } = sent as Record<string, string>
      for (const body of [undefined, sent]) {
        const refused = await service().post(`/payment-details?${new URLSearchParams(sent)}`, body)
        assertFailure(refused, 400, 'rest_invalid_param')
        assert.deepEqual(Object.keys(refused.body.data.params), [name])
        assert.match(refused.body.data.params[name], /must stand in the body/)
      }
      const path = `/payment-details?${new URLSearchParams(others)}`
      assert.equal((await service().post(path, { [name]: number })).status, 201)
    }
    const admin = await service().admin()
    const payer = '/settings?payer_iban=DE89370400440532013000'
    assertFailure(await admin.patch(payer, {}), 400, 'rest_invalid_param')
    // An address that payments go to, as that of an affiliate, is no account.
    const paypal = `affiliate_id=${affiliate_id}&method=paypal&paypal_email=ada@example.com`
    assert.equal((await service().post(`/payment-details?${paypal}`)).status, 201)
  })

  test('are about the person also after the affiliate was deleted, so that events of them can be erased', async () => {
    const { id: affiliate_id, user_id } = await service().newAffiliate('leaver')
    assert.equal((await service().delete(`/affiliates/${affiliate_id}`)).status, 200)
    const { reader, schema } = service().database
    assert.equal(await personOf(reader, schema, paymentDetail, { affiliate_id }), user_id)
    assert.equal(await personOf(reader, schema, paymentDetail, { affiliate_id: 999_999 }), null)
  })

  test('200 - are found by the name of the affiliate', async () => {
    const { id: affiliate_id } = await service().newAffiliate('wanda.payee')
    await service().newAffiliate('someone.else')
    const sent = { affiliate_id, method: 'paypal', paypal_email: 'w@example.com', holder: 'Somebody' }
    assert.equal((await service().post('/payment-details', sent)).status, 201)
    const found = async (search: string) =>
      (await service().get(`/payment-details?search=${search}`)).body.map((one: any) => one.affiliate_id)
    assert.deepEqual([await found('wanda'), await found('someone')], [[affiliate_id], []])
    const key = await service().newKey(['payment_details.read'])
    const asked = (search: string) => service().get(`/payment-details?search=${search}`, { key })
    assertFailure(await asked('wanda'), 403, 'rest_forbidden')
    assert.equal((await asked('1')).status, 200)
  })

  test('whatever payments are sent elsewhere by waits, and whoever has had no place for them does not', async () => {
    const admin = await service().admin()
    const account = { method: 'sepa', iban: 'FR1420041010050500013M02606', holder: 'Eve' } as const
    const wallet = { method: 'paypal', paypal_email: 'eve@example.net' } as const
    const linked = async (name: string): Promise<number> => {
      const user = await admin.post('/users', { login: name, email: `${name}@example.com` })
      const { body } = await service().post('/affiliates', { user_id: user.body.id, status: 'active' })
      return body.id
    }
    const withAddress = async (name: string): Promise<number> =>
      (await service().newAffiliate(name, { status: 'active' })).id
    const edit = async (id: number, change: object) => {
      const { status, body } = await service().patch(`/affiliates/${id}`, change)
      assert.equal(status, 200, JSON.stringify(body))
    }
    const [byAddress, byFirstAddress, byAccount, byUser, byBoth, paid, banked, back] = [
      await linked('byaddress'),
      await linked('byfirstaddress'),
      await linked('byaccount'),
      await linked('byuser'),
      await linked('byboth'),
      await linked('waspaid'),
      await linked('banked'),
      await linked('back'),
    ]
    const [fresh, twice] = [await linked('fresh'), await linked('twice')]
    const paidByHand = await linked('paidbyhand')
    await service().newPayout(paidByHand, { amount: 5, status: 'paid' })
    const [freshBank, onAddress] = [await withAddress('freshbank'), await withAddress('onaddress')]
    const ids = [
      byAddress,
      byFirstAddress,
      byAccount,
      byUser,
      byBoth,
      paid,
      banked,
      back,
      fresh,
      freshBank,
      onAddress,
    ]
    for (const affiliate_id of ids)
      await service().post('/referrals', { affiliate_id, amount: 20, status: 'unpaid' })
    await service().newPayout(paid, { amount: 5, status: 'paid' })
    const entered = async (id: number, details: object) => {
      const { status, body } = await service().post('/payment-details', { affiliate_id: id, ...details })
      assert.equal(status, 201, JSON.stringify(body))
      return { id: body.id as number, waits: body.usable_from > body.date }
    }
    assert.equal((await entered(onAddress, wallet)).waits, true)
    assert.equal((await entered(paid, account)).waits, true)
    assert.equal((await entered(paidByHand, wallet)).waits, true)
    assert.equal((await entered(banked, account)).waits, false)
    assert.equal((await entered(banked, wallet)).waits, true)
    assert.equal((await entered(fresh, wallet)).waits, false)
    assert.equal((await entered(freshBank, account)).waits, false)
    const { id: former } = await entered(back, wallet)
    await service().delete(`/payment-details/${former}`)

    await edit(byAddress, { payment_email: 'eve@example.net' })
    await edit(byFirstAddress, { payment_email: 'byfirstaddress@example.net' })
    await edit(byAccount, { account_email: 'eve2@example.net' })
    const { body: user } = await service().get(`/affiliates/${byUser}`)
    await admin.patch(`/users/${user.user_id}`, { email: 'eve3@example.net' })
    // The address that waits is not used sooner by being entered twice.
    await edit(twice, { payment_email: 'eve@example.net' })
    assert.equal((await entered(twice, wallet)).waits, true)
    await edit(byBoth, { account_email: 'eve4@example.net', payment_email: 'eve4@example.net' })
    const late = async (method: string) => {
      const { body: run } = await service().post('/payout-runs', { method })
      const listed: { affiliate_id: number; reason: string }[] = (
        await service().get(`/payout-runs/${run.id}/items?number=-1`)
      ).body
      const waiting = listed.filter(({ reason }) => reason === 'details_too_new')
      return waiting.map(({ affiliate_id }) => affiliate_id)
    }
    assert.deepEqual(await late('csv'), [byAddress, byFirstAddress, byAccount, byUser, byBoth, back])
    assert.deepEqual(await late('paypal'), [byAddress, byFirstAddress, byBoth, banked, onAddress])
    await admin.patch('/settings', { payment_details_days: 0 })
    assert.deepEqual(await late('csv'), [])
  })
})
