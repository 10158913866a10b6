import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFailure, describeService, type Visitor } from '../../../test/harness.ts'
import { grants, type Role, roles } from './roles.ts'

const PASSWORD = 'a password of somebody'

describeService('roles', service => {
  const join = async (login: string, role: Role, by?: Visitor): Promise<{ id: number; session: Visitor }> => {
    const admin = by ?? (await service().admin())
    const made = await admin.post('/users', {
      login,
      email: `${login}@example.com`,
      role,
      password: PASSWORD,
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const session = service().visitor()
    if (role !== '') assert.equal((await session.logIn(login, PASSWORD)).status, 201)
    return { id: made.body.id, session }
  }

  for (const role of roles.filter(role => role !== 'administrator')) {
    test(`403 - a ${role} gets what the role has, and the refusal names the permission`, async () => {
      const { session } = await join(role, role)
      const { body } = await session.get('/session')
      assert.equal(body.user.role, role)
      const lists = [
        'affiliates',
        'payouts',
        'payout-runs',
        'referrals',
        'reports/payouts-by-method',
        'audit',
      ]
      for (const path of [...lists, 'exports/payouts', 'exports/payout-runs', 'exports/payment-details']) {
        assert.equal((await session.get(`/${path}`)).status, 200, path)
      }
      // Who has prepared a payout run, say.
      assert.deepEqual((await session.get('/users/1/name')).body, { name: 'admin' })
      assertFailure(await session.get('/users/1'), 403, 'rest_forbidden')
      for (const path of ['users', 'keys', 'settings']) {
        const refused = await session.get(`/${path}`)
        assertFailure(refused, 403, 'rest_forbidden')
        assert.equal(refused.body.data.permission, `${path}.read`)
      }
      // Nor is it in the log, which has been told of the account, its session and the settings.
      await (await service().admin()).patch('/settings', { default_rate: 15 })
      await service().newAffiliate(`of-${role}`)
      const { body: log, headers } = await session.get('/audit?number=-1&count=1')
      const kinds = new Set<string>(log.map((entry: { record: string }) => entry.record))
      assert.deepEqual([kinds.has('affiliate'), headers.get('x-total-count')], [true, String(log.length)])
      for (const kind of ['user', 'key', 'settings', 'session']) {
        assert.equal(kinds.has(kind), false, kind)
        assertFailure(await session.get(`/audit?record=${kind}`), 403, 'rest_forbidden')
      }
      assert.deepEqual((await session.get('/audit?action=user.create,session.create')).body, [])
      // Whoever is let in is told what is missing.
      const [affiliate, payout] = [await session.post('/affiliates', {}), await session.post('/payouts', {})]
      assert.equal(affiliate.status, role === 'manager' ? 400 : 403)
      assert.equal(payout.status, role === 'reader' ? 403 : 400)
      if (role === 'reader') assert.match(payout.body.message, /payouts\.create/)
      assert.equal((await session.post('/payout-runs/1/approve', {})).status === 403, role === 'reader')
    })
  }

  test('200 - a session is told of every permission that it has', async () => {
    const { body } = await (await service().admin()).get('/session')
    assert.ok(body.granted.includes('users.edit'))
    const { session } = await join('told', 'bookkeeper')
    const { granted } = (await session.get('/session')).body
    assert.deepEqual(
      granted,
      body.granted.filter((permission: string) => grants('bookkeeper', permission)),
    )
  })

  test('403 - keys lose what the role of their owner has no more, and get it back with the role', async () => {
    const admin = await service().admin()
    const { id } = await join('demoted', 'manager', admin)
    const given = ['affiliates.read', 'affiliates.create']
    const { token, id: keyId } = (await admin.post('/keys', { name: 'k', user_id: id, permissions: given }))
      .body
    const key = { publicKey: '', token }
    const create = () => service().post('/affiliates', {}, { key })
    assert.equal((await create()).status, 400)
    assert.equal((await admin.patch(`/users/${id}`, { role: 'reader' })).status, 200)
    const refused = await create()
    assertFailure(refused, 403, 'rest_forbidden')
    assert.equal(refused.body.data.permission, 'affiliates.create')
    assert.equal((await service().get('/affiliates', { key })).status, 200)
    const shown = (await admin.get(`/keys?search=k&user_id=${id}`)).body
    assert.deepEqual(shown[0].permissions, ['affiliates.read'])
    await admin.patch(`/users/${id}`, { role: 'manager' })
    assert.equal((await create()).status, 400)
    await admin.patch(`/users/${id}`, { role: '' })
    assert.equal((await create()).status, 401)
    assert.ok(keyId)
  })

  test('400 - a key is given nothing that the role of its owner does not have', async () => {
    const admin = await service().admin()
    const { id } = await join('bounded', 'reader', admin)
    const args = { name: 'k', user_id: id, permissions: ['payouts.read', 'payouts.create'] }
    const refused = await admin.post('/keys', args)
    assertFailure(refused, 400, 'rest_invalid_param')
    assert.match(refused.body.data.params.permissions, /reader of bounded does not have payouts\.create/)
  })

  test('403 - who logs in without a role is told so, and nobody else', async () => {
    const { session } = await join('nobody', '')
    assertFailure(await session.logIn('nobody', PASSWORD), 403, 'rest_no_role')
    assertFailure(await session.logIn('nobody', 'another password'), 401, 'rest_wrong_login')
  })

  test('409 - the last administrator cannot become a manager', async () => {
    const only = service()
    const admin = await only.admin()
    assertFailure(await admin.patch('/users/1', { role: 'manager' }), 409, 'rest_last_administrator')
  })
})
