import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  ADMIN_PASSWORD,
  affiliated,
  assertFailure,
  describeService,
  runCommand,
  type Visitor,
} from '../../../test/harness.ts'
import { userRecord } from './schema.ts'
import { findUser } from './store.ts'

const PASSWORD = 'a password of somebody'
/** What another process does to a key counts after this. */
const LONG_AFTER_MS = 1000

describeService('users', service => {
  let admin: Visitor
  before(async () => {
    admin = await service().admin()
  })

  const create = async (login: string, args: object = {}) => {
    const reply = await admin.post('/users', { login, email: `${login}@example.com`, ...args })
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return reply.body
  }

  test('201 - an account with everything', async () => {
    const reply = await admin.post('/users', {
      login: 'Zoë O.',
      email: 'zoe@example.com',
      first_name: 'Zoë',
      last_name: '<script>"O’"</script> 🦊 مرحبا',
      role: 'administrator',
      password: PASSWORD,
    })
    assert.equal(reply.status, 201)
    assert.deepEqual(Object.keys(reply.body), Object.keys(userRecord.properties))
    const { id, date_registered, ...rest } = reply.body
    assert.deepEqual(rest, {
      login: 'Zoë O.',
      email: 'zoe@example.com',
      first_name: 'Zoë',
      last_name: '<script>"O’"</script> 🦊 مرحبا',
      display_name: 'Zoë <script>"O’"</script> 🦊 مرحبا',
      role: 'administrator',
      affiliate_id: null,
      can_log_in: true,
      second_factor: false,
    })
    assert.match(date_registered, /^\d{4}-\d\d-\d\d /)
    assert.equal(reply.headers.get('location'), `${service().url}/admin/api/users/${id}`)
    assert.deepEqual((await admin.get(`/users/${id}`)).body, reply.body)
    assert.equal((await service().visitor().logIn('ZOË o.', PASSWORD)).status, 201)
  })

  test('200 - who is an affiliate is shown as one', async () => {
    const { user_id, affiliate_id } = await service().newAffiliate('shown')
    const { body } = await admin.get(`/users/${user_id}`)
    assert.equal(body.affiliate_id, affiliate_id)
    assert.equal(body.can_log_in, false)
  })

  test('409 - the login or the e-mail address is taken, in any case of letters', async () => {
    await create('taken')
    const email = await admin.post('/users', { login: 'other', email: 'TAKEN@example.com' })
    assertFailure(email, 409, 'existing_user_email')
    const login = await admin.post('/users', { login: 'Taken', email: 'other@example.com' })
    assertFailure(login, 409, 'existing_user_login')
  })

  test('400 - every wrong argument is named at once', async () => {
    const reply = await admin.post('/users', {
      login: 'a/b',
      email: 'nobody',
      role: 'owner',
      password: 'short',
      first_name: 'a\nb',
    })
    assertFailure(reply, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(reply.body.data.params).sort(), [
      'email',
      'first_name',
      'login',
      'password',
      'role',
    ])
    const missing = await admin.post('/users', {})
    assert.deepEqual(missing.body.data.params.sort(), ['email', 'login'])
  })

  test('200 - an edit changes what was sent and nothing else', async () => {
    const { id } = await create('edited', { first_name: 'Ed', last_name: 'It' })
    const one = await admin.patch(`/users/${id}`, { email: 'edited.anew@example.com', last_name: 'Ited' })
    assert.equal(one.status, 200)
    assert.deepEqual(
      [one.body.email, one.body.first_name, one.body.last_name, one.body.display_name],
      ['edited.anew@example.com', 'Ed', 'Ited', 'Ed Ited'],
    )
    const named = await admin.patch(`/users/${id}`, { display_name: 'Eddie' })
    assert.equal(named.body.display_name, 'Eddie')
    assert.equal((await admin.patch(`/users/${id}`, { last_name: 'It' })).body.display_name, 'Eddie')
    assert.equal((await admin.patch(`/users/${id}`, { display_name: '' })).body.display_name, 'Ed It')
    assert.equal((await admin.patch(`/users/${id}`, {})).body.display_name, 'Ed It')
    const ignored = await admin.patch(`/users/${id}`, { login: 'renamed' })
    assert.equal(ignored.body.login, 'edited')
    assert.equal(ignored.headers.get('x-ignored-arguments'), 'login')
    assertFailure(await admin.patch('/users/987654', {}), 404, 'invalid_user_id')
    assertFailure(
      await admin.patch(`/users/${id}`, { email: 'admin@example.com' }),
      409,
      'existing_user_email',
    )
  })

  test('400 - a password that most people use, in any case of its letters', async () => {
    for (const password of ['password1', 'Password1', 'qwertyuiop', '1234567890']) {
      const reply = await admin.post('/users', { login: 'common', email: 'common@example.com', password })
      assertFailure(reply, 400, 'rest_invalid_param')
      assert.match(reply.body.data.params.password, /must not be one of those that most people use/)
      const own = { current_password: ADMIN_PASSWORD, new_password: password }
      assert.deepEqual(Object.keys((await admin.post('/password', own)).body.data.params), ['new_password'])
    }
  })

  test('400 - the own password is not set without the one that it replaces', async () => {
    const own = await admin.patch('/users/1', { password: 'another password', first_name: 'Ann' })
    assertFailure(own, 400, 'rest_invalid_param')
    assert.match(own.body.data.params.password, /your own/)
    assert.equal((await admin.get('/users/1')).body.first_name, '')
    const several = await admin.patch('/users/1', { password: 'another password', email: 'nobody' })
    assert.deepEqual(Object.keys(several.body.data.params).sort(), ['email', 'password'])
    assert.equal((await service().visitor().logIn('admin', ADMIN_PASSWORD)).status, 201)
  })

  test('200 - a new password ends the sessions of the account', async () => {
    const { id } = await create('reset', { role: 'administrator', password: PASSWORD })
    const visitor = service().visitor()
    await visitor.logIn('reset', PASSWORD)
    await admin.patch(`/users/${id}`, { first_name: 'Still', role: 'administrator' })
    assert.equal((await visitor.get('/session')).status, 200)
    await admin.patch(`/users/${id}`, { password: 'another password' })
    assertFailure(await visitor.get('/session'), 401, 'rest_session_required')
    assert.equal((await visitor.logIn('reset', 'another password')).status, 201)
  })

  test('200 - a search is for all of its words, in any order, without regard to accents in names', async () => {
    const { id } = await create('seeker', { first_name: 'José Łukasz', last_name: 'Müller-Straße' })
    const other = await create('bystander', { first_name: 'José', last_name: 'Ibsen' })
    const found = async (search: string) =>
      (await admin.get(`/users?fields=id&orderby=id&search=${encodeURIComponent(search)}`)).body
    const one = [{ id }]
    for (const search of ['jose muller', 'MÜLLER José', 'strasse  lukasz', 'mull seeker@', 'josé seek']) {
      assert.deepEqual(await found(search), one, search)
    }
    assert.deepEqual(await found('jose'), [{ id }, { id: other.id }])
    assert.deepEqual(await found('jose nobody'), [])
    assert.deepEqual(await found('\u0301'), [])
    assert.deepEqual(await found('j_se'), [])
    // An address with an accent is another address.
    assert.equal((await admin.post('/users', { login: 'séeker', email: 'séeker@example.com' })).status, 201)
  })

  test('200 - the list: search, role, order, pages, count', async () => {
    for (const login of ['list.c', 'list.a', 'list.b']) await create(login)
    const logins = async (query: string) =>
      (await admin.get(`/users?${query}`)).body.map((user: { login: string }) => user.login)
    assert.deepEqual(await logins('search=LIST.&orderby=login'), ['list.a', 'list.b', 'list.c'])
    assert.deepEqual(await logins('search=list.&orderby=email&order=desc&number=2'), ['list.c', 'list.b'])
    assert.deepEqual(await logins('search=list.&orderby=id&offset=1'), ['list.a', 'list.b'])
    assert.ok((await logins('role=administrator')).includes('admin'))
    assert.ok(!(await logins('role=administrator')).includes('list.a'))
    assert.deepEqual(await logins('user_id=1'), ['admin'])
    const reply = await admin.get('/users?search=list.&number=1&count=1&orderby=date_registered')
    assert.equal(reply.headers.get('x-total-count'), '3')
    assert.match(reply.headers.get('link')!, /cursor=/)
    assertFailure(await admin.get('/users?orderby=password_hash'), 400, 'rest_invalid_param')
  })
})

describeService('users: the last administrator', service => {
  test('409 - keeps the role, also when two dismiss each other at once', async () => {
    const admin = await service().admin()
    // This one has no password, so it cannot log in.
    await admin.post('/users', { login: 'locked', email: 'locked@example.com', role: 'administrator' })
    assertFailure(await admin.patch('/users/1', { role: '' }), 409, 'rest_last_administrator')
    const { body } = await admin.post('/users', {
      login: 'second',
      email: 'second@example.com',
      role: 'administrator',
      password: PASSWORD,
    })
    const second = service().visitor()
    await second.logIn('second', PASSWORD)
    const replies = await Promise.all([
      admin.patch(`/users/${body.id}`, { role: '' }),
      second.patch('/users/1', { role: '' }),
    ])
    assert.equal(replies.filter(reply => reply.status === 200).length, 1, JSON.stringify(replies))
    const left = await service()
      .database.reader.selectFrom('users')
      .select('id')
      .where('role', '=', 'administrator')
      .where('password_hash', '!=', '')
      .execute()
    assert.equal(left.length, 1)
  })
})

describeService('users: who loses the role', service => {
  const second = async (login: string) => {
    const admin = await service().admin()
    const account = { login, email: `${login}@example.com`, role: 'administrator', password: PASSWORD }
    const { body } = await admin.post('/users', account)
    const visitor = service().visitor()
    await visitor.logIn(login, PASSWORD)
    const generate = () =>
      visitor.post('/keys', { name: login, user_id: body.id, permissions: ['affiliates.read'] })
    const statuses = async () =>
      (await admin.get(`/keys?user_id=${body.id}&number=0`)).body.map(({ status }: any) => status)
    return { admin, id: body.id as number, generate, statuses }
  }

  test('401 - loses the keys, too, and the log says so', async () => {
    const { admin, id, generate, statuses } = await second('dismissed')
    const { public_key, token } = (await generate()).body
    const key = { publicKey: public_key, token }
    assert.equal((await service().get('/affiliates', { key })).status, 200)
    await admin.patch(`/users/${id}`, { first_name: 'Still', role: 'administrator' })
    assert.deepEqual(await statuses(), ['active'])
    assert.equal((await admin.patch(`/users/${id}`, { role: '' })).status, 200)
    assert.deepEqual(await statuses(), ['revoked'])
    await delay(LONG_AFTER_MS)
    assertFailure(await service().get('/affiliates', { key }), 401, 'rest_forbidden')
    const { body } = await admin.get('/audit?action=key.revoke')
    assert.equal(body.length, 1)
  })

  test('401 - makes no key at the same moment', async () => {
    const { admin, id, generate, statuses } = await second('fast')
    const made = Array.from({ length: 8 }, generate)
    const dismissed = admin.patch(`/users/${id}`, { role: '' })
    const replies = await Promise.all([...made, ...Array.from({ length: 8 }, generate)])
    assert.equal((await dismissed).status, 200)
    for (const { status } of replies) assert.ok(status === 201 || status === 401, String(status))
    assert.ok((await statuses()).every((status: string) => status === 'revoked'))
  })

  test('401 - who is erased loses the keys, too', async () => {
    const { id, generate, statuses } = await second('erased')
    const { token } = (await generate()).body
    const { code, stderr } = await runCommand([
      'users',
      'erase',
      `#${id}`,
      '--yes',
      '--database',
      service().databaseUrl,
    ])
    assert.equal(code, 0, stderr)
    await delay(LONG_AFTER_MS)
    const reply = await service().get('/affiliates', { key: { publicKey: '', token } })
    assertFailure(reply, 401, 'rest_forbidden')
    assert.deepEqual(await statuses(), ['revoked'])
    assertFailure(await generate(), 401, 'rest_session_required')
  })
})

describeService('users: password on the command line', service => {
  const password = (...args: string[]) =>
    // In a process of its own: there a hash costs what it costs for users.
    affiliated(['users', 'password', ...args, '--database', service().databaseUrl])

  test('sets one that is given, or makes one and shows it once, and ends the sessions', async () => {
    const admin = await service().admin()
    const made = await password('ADMIN', '--json')
    assert.equal(made.code, 0, made.stderr)
    // At the cost that users get, which these tests do not.
    const { password_hash } = (await findUser(service().database.reader, 1))!
    assert.match(password_hash, /^scrypt\$32768\$8\$3\$/)
    const { id, login, password: shown } = JSON.parse(made.stdout)
    assert.deepEqual([id, login], [1, 'admin'])
    assert.match(shown, /^[\w-]{24}$/)
    assertFailure(await admin.get('/session'), 401, 'rest_session_required')
    assert.equal((await service().visitor().logIn('admin', shown)).status, 201)
    const given = await password('admin@example.com', '--password', 'given by hand')
    assert.equal(given.code, 0, given.stderr)
    assert.equal(given.stdout, 'Set the password of admin and ended its sessions.\n')
    assert.equal((await service().visitor().logIn('admin', 'given by hand')).status, 201)
  })

  test('1 - nobody goes by that name, or two do, or the password is too short', async () => {
    const nobody = await password('nobody')
    assert.deepEqual(
      [nobody.code, nobody.stdout, nobody.stderr],
      [1, '', 'error: There is no account with the login nobody.\n'],
    )
    const guise = { create_user: true, payment_email: 'guise@example.com', username: 'admin@example.com' }
    assert.equal((await service().post('/affiliates', guise)).status, 201)
    const two = await password('Admin@example.com')
    assert.equal(two.code, 1)
    assert.match(two.stderr, /Two accounts go by Admin@example\.com.*: #\d+ or #1\.$/m)
    assert.equal((await password('#1', '--password', 'given by hand')).code, 0)
    assert.equal((await password('#999')).code, 1)
    const common = await password('admin', '--password', 'password1')
    assert.equal(common.code, 1)
    assert.match(common.stderr, /password: must not be one of those that most people use/)
    const short = await password('admin', '--password', 'short')
    assert.equal(short.code, 1)
    assert.match(short.stderr, /password: must have 8 to 1000 characters/)
  })
})
