import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFailure, describeService, operatorOf } from '../../../test/harness.ts'
import { erasePerson } from '../../operations/privacy/rules.ts'

describeService('customers', service => {
  const create = (args: object) => service().post('/customers', args)

  test('201 - with all that can be sent, and an edit that leaves the rest', async () => {
    const sent = {
      user_id: 1,
      first_name: 'Ada',
      last_name: 'Bauer',
      email: 'Ada@example.com',
      ip: '203.0.113.7',
      date_created: '2026-01-02 03:04:05',
      affiliate_id: 0,
    }
    const { status, body } = await create(sent)
    assert.equal(status, 201, JSON.stringify(body))
    assert.deepEqual(body, { customer_id: body.id, ...sent, id: body.id })
    assert.deepEqual(Object.keys(body), ['customer_id', ...Object.keys(sent), 'id'])
    const { body: edited } = await service().patch(`/customers/${body.id}`, {
      user_id: 0,
      last_name: 'Costa',
    })
    assert.deepEqual(edited, { ...body, user_id: 0, last_name: 'Costa' })
    assert.deepEqual((await service().get(`/customers/${body.id}`)).body, edited)
    assert.deepEqual((await service().get('/customers?search=COSTA&fields=ids')).body, [body.id])
    assert.equal((await service().delete(`/customers/${body.id}`)).status, 200)
    assertFailure(await service().get(`/customers/${body.id}`), 404, 'invalid_customer_id')
  })

  test('409 - an e-mail address that another customer has, in any case of letters', async () => {
    const { body: first } = await create({ email: 'twice@example.com' })
    assert.equal(first.user_id, 0)
    assertFailure(await create({ email: 'TWICE@example.com' }), 409, 'affwp_rest_customer_email_in_use')
    const { body: other } = await create({ email: 'once@example.com' })
    const taken = await service().patch(`/customers/${other.id}`, { email: 'Twice@Example.com' })
    assertFailure(taken, 409, 'affwp_rest_customer_email_in_use')
    assert.equal(
      (await service().patch(`/customers/${first.id}`, { email: 'Twice@example.com' })).status,
      200,
    )
  })

  test('400 - without an e-mail address, or with an account that is not there', async () => {
    assertFailure(await create({ first_name: 'Ben' }), 400, 'rest_missing_callback_param')
    const { body } = await create({ email: 'ben@example.com', user_id: 999_999, ip: 'home' })
    assert.deepEqual(Object.keys(body.data.params).sort(), ['ip', 'user_id'])
  })

  test('a person who is erased is erased as a customer, and so are two', async () => {
    for (const name of ['leaving', 'gone']) {
      const { user_id } = await service().newAffiliate(name)
      const { body } = await create({
        email: `${name}@example.net`,
        first_name: 'Eve',
        user_id,
        ip: '203.0.113.7',
      })
      await erasePerson(operatorOf(service().database), user_id)
      const { body: erased } = await service().get(`/customers/${body.id}`)
      assert.deepEqual([erased.first_name, erased.email, erased.ip], ['', '', ''])
      const events = await service()
        .database.reader.selectFrom('events')
        .select('personal')
        .where('record_kind', '=', 'customer')
        .where('record_id', '=', body.id)
        .execute()
      assert.deepEqual(
        events.map(({ personal }) => personal),
        [''],
      )
    }
  })
})
