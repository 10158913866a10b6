import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import {
  ADMIN_PASSWORD,
  assertFailure,
  describeService,
  type Reply,
  runCommand,
  type Service,
  type Visitor,
  withoutTable,
} from '../../../test/harness.ts'
import { now } from '../../base/time.ts'
import { removeOldSessions } from './rules.ts'

const PASSWORD = 'a password of somebody'

/** An account with a password of its own. */
async function newAdministrator(admin: Visitor, login: string, role = 'administrator') {
  const reply = await admin.post('/users', {
    login,
    email: `${login}@example.com`,
    role,
    password: PASSWORD,
  })
  assert.equal(reply.status, 201, JSON.stringify(reply.body))
  return reply.body
}

/** Tries to log in from an address of one's own. */
function tryFrom(service: Service, address: string, login: string, password = 'wrong'): Promise<Reply> {
  return service.visitor().logIn(login, password, { 'x-forwarded-for': address })
}

function sessionRows(service: Service) {
  return service.database.reader.selectFrom('sessions').selectAll().execute()
}

function deviceRows(service: Service) {
  return service.database.reader.selectFrom('devices').selectAll().execute()
}

/** A browser that has logged in and out again. */
async function knownBrowser(service: Service, login: string): Promise<Visitor> {
  const browser = service.visitor()
  assert.equal((await browser.logIn(login, PASSWORD)).status, 201)
  browser.cookie = `affiliated_device=${browser.secrets[1]}`
  return browser
}

async function setExpiry(service: Service, expires_at: number): Promise<void> {
  await service.database.transaction(tx => tx.updateTable('sessions').set({ expires_at }).execute())
}

describeService('sessions: first visit', service => {
  test('401 - says so until somebody has logged in, and not afterwards', async () => {
    const before = await service().visitor().get('/session')
    assertFailure(before, 401, 'rest_session_required')
    assert.equal(before.body.data.first_visit, true)
    assert.equal(before.headers.get('www-authenticate'), null)
    const admin = await service().admin()
    await admin.delete('/session')
    const after = await service().visitor().get('/session')
    assertFailure(after, 401, 'rest_session_required')
    assert.equal('first_visit' in after.body.data, false)
  })
})

describeService('sessions: log in', service => {
  test('201 - by login or e-mail address, in any case of letters', async () => {
    await service().admin()
    for (const login of ['admin', 'ADMIN', 'admin@example.com', 'Admin@Example.COM']) {
      const reply = await service().visitor().logIn(login, ADMIN_PASSWORD)
      assert.equal(reply.status, 201)
      assert.deepEqual(reply.body.user, {
        id: 1,
        login: 'admin',
        email: 'admin@example.com',
        display_name: 'admin',
        role: 'administrator',
      })
      assert.match(reply.body.expires, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    }
  })

  test('201 - the cookie is for scripts and other sites out of reach, and only its hash is kept', async () => {
    const visitor = service().visitor()
    const reply = await visitor.logIn('admin', ADMIN_PASSWORD)
    const [session, device] = reply.headers.getSetCookie()
    assert.match(session!, /^affiliated_session=[\w-]{43}; Path=\/admin; HttpOnly; SameSite=Strict$/)
    assert.match(
      device!,
      /^affiliated_device=[\w-]{43}; Path=\/admin\/api\/session; HttpOnly; SameSite=Strict; Max-Age=31536000$/,
    )
    const rows = [...(await sessionRows(service())), ...(await deviceRows(service()))]
    assert.ok(rows.length > 1)
    for (const secret of visitor.secrets) assert.equal(JSON.stringify(rows).includes(secret), false)
  })

  test('201 - behind TLS the cookie is sent by TLS only', async () => {
    const reply = await service().visitor().logIn('admin', ADMIN_PASSWORD, { 'x-forwarded-proto': 'https' })
    for (const cookie of reply.headers.getSetCookie()) assert.match(cookie, /; Secure(;|$)/)
  })

  test('201 - an identifier that was there before is not taken over', async () => {
    const visitor = service().visitor()
    visitor.cookie = `affiliated_session=${'A'.repeat(43)}`
    await visitor.logIn('admin', ADMIN_PASSWORD)
    assert.notEqual(visitor.cookie, `affiliated_session=${'A'.repeat(43)}`)
    const old = service().visitor()
    old.cookie = `affiliated_session=${'A'.repeat(43)}`
    assertFailure(await old.get('/session'), 401, 'rest_session_required')
    const again = service().visitor()
    again.cookie = visitor.cookie
    await again.logIn('admin', ADMIN_PASSWORD)
    assert.notEqual(again.cookie, visitor.cookie)
  })

  test('200 - what the pages need to know is there', async () => {
    const admin = await service().admin()
    const { status, body } = await admin.get('/session')
    assert.equal(status, 200)
    assert.deepEqual(body.settings, {
      currency: 'USD',
      decimals: 2,
      rate_types: ['percentage', 'flat'],
      default_rate: '20',
      default_rate_type: 'percentage',
      programme_page: '',
      visitor_url: '',
      allowed_hosts: [],
      approval: 'one',
    })
    assert.equal(body.user.login, 'admin')
    assert.ok(['affiliates.read', 'affiliates.create'].every(name => body.permissions.includes(name)))
    assert.match(body.version, /^\d+\.\d+\.\d+/)
  })

  test('401 - a password that was typed into the wrong field is kept nowhere', async () => {
    assertFailure(await service().visitor().logIn('Mistyped-Secret', 'admin'), 401, 'rest_wrong_login')
    const { reader } = service().database
    const attempts = await reader.selectFrom('login_attempts').selectAll().execute()
    const entries = await reader.selectFrom('events').selectAll().execute()
    assert.ok(attempts.length > 0)
    assert.doesNotMatch(JSON.stringify([attempts, entries]), /mistyped-secret/i)
  })

  test('401 - the same whatever is wrong', async () => {
    const admin = await service().admin()
    await admin.post('/users', { login: 'no.password', email: 'np@example.com', role: 'administrator' })
    const replies = await Promise.all([
      tryFrom(service(), '192.0.2.1', 'admin'),
      tryFrom(service(), '192.0.2.2', 'nobody', ADMIN_PASSWORD),
      tryFrom(service(), '192.0.2.4', 'no.password', ''),
      tryFrom(service(), '192.0.2.5', '', ''),
    ])
    for (const reply of replies) {
      assertFailure(reply, 401, 'rest_wrong_login')
      assert.deepEqual(reply.body, replies[0]!.body)
      assert.equal(reply.headers.get('set-cookie'), null)
    }
    assert.equal(replies[0]!.body.message, 'Login or password is wrong.')
  })

  test('401 - a login that nobody has costs as much work as one that somebody has', async () => {
    // Of the processor, which is the same beside any load; test/timing.test.ts measures what callers see.
    const costOf = async (login: string) => {
      const costs: number[] = []
      for (let number = 0; number < 5; number += 1) {
        const start = process.cpuUsage()
        await tryFrom(service(), `192.0.2.${10 + number}`, login)
        const { user, system } = process.cpuUsage(start)
        costs.push(user + system)
      }
      return Math.min(...costs)
    }
    const known = await costOf('admin@example.com')
    const unknown = await costOf('nobody@example.com')
    assert.ok(unknown > known / 3 && unknown < known * 3, `${unknown} and ${known} us`)
  })

  test('400 - arguments are missing or wrong', async () => {
    const missing = await service().visitor().post('/session', {})
    assertFailure(missing, 400, 'rest_missing_callback_param')
    assert.deepEqual(missing.body.data.params.sort(), ['login', 'password'])
    const wrong = await service()
      .visitor()
      .post('/session', { login: ['a'], password: 'a\u0000b' })
    assertFailure(wrong, 400, 'rest_invalid_param')
  })
})

describeService('sessions: too many tries', service => {
  let admin: Visitor
  before(async () => {
    admin = await service().admin()
  })

  test('429 - the eleventh for a name, from wherever, even with the right password', async () => {
    await newAdministrator(admin, 'guessed')
    for (let number = 1; number <= 10; number += 1) {
      const name = number % 2 ? 'guessed' : 'GUESSED'
      assertFailure(await tryFrom(service(), `198.51.100.${number}`, name), 401, 'rest_wrong_login')
    }
    const reply = await tryFrom(service(), '198.51.100.11', 'guessed', PASSWORD)
    assertFailure(reply, 429, 'rest_too_many_requests')
    const seconds = reply.body.data.retry_after
    assert.ok(seconds > 880 && seconds <= 900, String(seconds))
    assert.equal(reply.headers.get('retry-after'), String(seconds))
    assert.match(reply.body.message, /15 minutes/)
    // Somebody else is let in.
    assert.equal((await tryFrom(service(), '198.51.100.12', 'admin', ADMIN_PASSWORD)).status, 201)
  })

  test('201 - after more tries with the right password whose session could not be stored', async () => {
    await newAdministrator(admin, 'unstored')
    await withoutTable(service(), 'sessions', async () => {
      for (let number = 1; number <= 11; number += 1) {
        assert.equal((await tryFrom(service(), '198.51.100.40', 'unstored', PASSWORD)).status, 500)
      }
    })
    assert.equal((await tryFrom(service(), '198.51.100.40', 'unstored', PASSWORD)).status, 201)
  })

  test('429 - the eleventh from an address, for whatever login', async () => {
    for (let number = 1; number <= 10; number += 1) {
      assertFailure(await tryFrom(service(), '203.0.113.7', `somebody${number}`), 401, 'rest_wrong_login')
    }
    assertFailure(
      await tryFrom(service(), '203.0.113.7', 'admin', ADMIN_PASSWORD),
      429,
      'rest_too_many_requests',
    )
    assert.equal((await tryFrom(service(), '203.0.113.8', 'admin', ADMIN_PASSWORD)).status, 201)
  })

  test('429 - the addresses of one IPv6 network count as one', async () => {
    for (let number = 1; number <= 10; number += 1) {
      await tryFrom(service(), `2001:db8:0:1::${number.toString(16)}`, `someone${number}`)
    }
    assertFailure(await tryFrom(service(), '2001:db8::1:ffff:0:0:1', 'x'), 429, 'rest_too_many_requests')
    assertFailure(await tryFrom(service(), '2001:db8:0:2::1', 'x'), 401, 'rest_wrong_login')
  })

  test('429 - of a wider IPv6 network ten times as many count', async () => {
    const tried_at = now()
    const network = { counter: 'network 2001:db8:7::/48', tried_at }
    const attempts = Array.from({ length: 99 }, (_, number) => ({ attempt: `wide ${number}`, ...network }))
    await service().database.transaction(tx => tx.insertInto('login_attempts').values(attempts).execute())
    assertFailure(await tryFrom(service(), '2001:db8:7:1::1', 'wide1'), 401, 'rest_wrong_login')
    assertFailure(await tryFrom(service(), '2001:db8:7:2::1', 'wide2'), 429, 'rest_too_many_requests')
    assertFailure(await tryFrom(service(), '2001:db8:8:2::1', 'wide3'), 401, 'rest_wrong_login')
  })

  test('401 - tries by login say nothing of the e-mail address that belongs to it', async () => {
    await newAdministrator(admin, 'related')
    for (let number = 1; number <= 10; number += 1) await tryFrom(service(), `198.18.6.${number}`, 'related')
    assertFailure(await tryFrom(service(), '198.18.6.11', 'related'), 429, 'rest_too_many_requests')
    assertFailure(await tryFrom(service(), '198.18.6.12', 'related@example.com'), 401, 'rest_wrong_login')
  })

  test('429 - tries at the same moment are counted as well', async () => {
    const tries = Array.from({ length: 25 }, (_, number) => tryFrom(service(), `198.18.0.${number}`, 'raced'))
    const statuses = (await Promise.all(tries)).map(reply => reply.status)
    assert.equal(statuses.filter(status => status === 401).length, 10)
    assert.equal(statuses.filter(status => status === 429).length, 15)
  })

  test('201 - those who are let in are not counted', async () => {
    await newAdministrator(admin, 'frequent')
    for (let number = 1; number <= 12; number += 1) {
      assert.equal((await tryFrom(service(), '198.18.1.1', 'frequent', PASSWORD)).status, 201)
    }
  })

  test('201 - after fifteen minutes, and after the password was set on the command line', async () => {
    await newAdministrator(admin, 'patient')
    const fail = async () => {
      for (let number = 1; number <= 10; number += 1) {
        await tryFrom(service(), `198.18.2.${number}`, 'patient')
      }
      assert.equal((await tryFrom(service(), '198.18.2.11', 'patient', PASSWORD)).status, 429)
    }
    await fail()
    await service().database.transaction(tx =>
      tx
        .updateTable('login_attempts')
        .set(({ eb }) => ({ tried_at: eb('tried_at', '-', 900) }))
        .execute(),
    )
    assert.equal((await tryFrom(service(), '198.18.2.12', 'patient', PASSWORD)).status, 201)
    await fail()
    const set = await runCommand(
      ['users', 'password', 'patient', '--password-stdin', '--database', service().databaseUrl],
      'another password\n',
    )
    assert.equal(set.code, 0, set.stderr)
    assert.equal((await tryFrom(service(), '198.18.3.1', 'patient', 'another password')).status, 201)
  })

  test('201 - after another administrator has set the password, by either name and from there', async () => {
    const { id } = await newAdministrator(admin, 'forgetful')
    const browser = await knownBrowser(service(), 'forgetful')
    const failing = ['forgetful', 'forgetful@example.com']
    for (let number = 1; number <= 10; number += 1) {
      for (const [index, name] of failing.entries()) await tryFrom(service(), `198.18.7.${index}`, name)
      await browser.logIn('forgetful', 'wrong')
    }
    const tries = (password: string) => [
      ...failing.map((name, index) => tryFrom(service(), `198.18.7.${index}`, name, password)),
      browser.logIn('forgetful', password),
    ]
    for (const reply of await Promise.all(tries(PASSWORD))) assert.equal(reply.status, 429)
    assert.equal((await admin.patch(`/users/${id}`, { password: 'set by another' })).status, 200)
    for (const reply of await Promise.all(tries('set by another'))) assert.equal(reply.status, 201)
  })
})

describeService('sessions: a browser that is known', service => {
  let admin: Visitor
  before(async () => {
    admin = await service().admin()
    await newAdministrator(admin, 'owner')
    await newAdministrator(admin, 'other')
  })

  const failTenTimes = async (attempt: (number: number) => Promise<Reply>) => {
    for (let number = 1; number <= 10; number += 1) {
      assertFailure(await attempt(number), 401, 'rest_wrong_login')
    }
    assertFailure(await attempt(11), 429, 'rest_too_many_requests')
  }
  const forget = () => service().database.transaction(tx => tx.deleteFrom('login_attempts').execute())

  test('201 - is let in whatever strangers do, and counts by itself', async () => {
    const browser = await knownBrowser(service(), 'owner')
    await failTenTimes(number => tryFrom(service(), `198.18.8.${number}`, 'owner'))
    await failTenTimes(number => tryFrom(service(), '127.0.0.1', `nobody${number}`))
    assertFailure(await service().visitor().logIn('owner', PASSWORD), 429, 'rest_too_many_requests')
    assert.equal((await browser.logIn('owner@example.com', PASSWORD)).status, 201)
    await forget()
    await failTenTimes(() => browser.logIn('owner', 'wrong'))
    assert.equal((await service().visitor().logIn('owner', PASSWORD)).status, 201)
    await forget()
  })

  test('429 - is a stranger again once somebody else has set the password', async () => {
    const browser = await knownBrowser(service(), 'other')
    const { body } = await admin.get('/users?search=other@example.com')
    assert.equal((await admin.patch(`/users/${body[0].id}`, { password: PASSWORD })).status, 200)
    await failTenTimes(number => tryFrom(service(), `198.18.9.${number}`, 'other'))
    assertFailure(await browser.logIn('other', PASSWORD), 429, 'rest_too_many_requests')
    await forget()
  })

  test('429 - is a stranger to other accounts, and so is a token that nobody was given', async () => {
    const others = await knownBrowser(service(), 'other')
    const forged = service().visitor()
    const { token_hash } = (await deviceRows(service())).at(-1)!
    await failTenTimes(number => tryFrom(service(), `198.18.9.${number}`, 'owner'))
    assertFailure(await others.logIn('owner', PASSWORD), 429, 'rest_too_many_requests')
    for (const token of [token_hash, Buffer.from(token_hash, 'hex').toString('base64url'), 'x']) {
      forged.cookie = `affiliated_device=${token}`
      assertFailure(await forged.logIn('owner', PASSWORD), 429, 'rest_too_many_requests')
    }
    await forget()
  })

  test('201 - twenty of an account are remembered, for a year from their last log-in', async () => {
    const rows = async () => (await deviceRows(service())).filter(({ user_id }) => user_id === 1)
    const browser = service().visitor()
    await browser.logIn('admin', ADMIN_PASSWORD)
    const [, token] = browser.secrets
    const time = now()
    const aged = (name: string, expires_at: number) => ({
      token_hash: name,
      user_id: 1,
      created_at: 1,
      expires_at,
    })
    const more = Array.from({ length: 30 }, (_, number) => aged(`device ${number}`, time + number))
    await service().database.transaction(tx =>
      tx
        .insertInto('devices')
        .values([...more, aged('expired', time - 1)])
        .execute(),
    )
    assert.equal((await browser.logIn('admin', ADMIN_PASSWORD)).status, 201)
    assert.equal(browser.secrets[1], token)
    const kept = await rows()
    assert.equal(kept.length, 20)
    assert.ok(kept.some(({ expires_at }) => expires_at >= time + 365 * 24 * 3600))
    assert.ok(kept.every(({ token_hash }) => !['expired', 'device 0'].includes(token_hash)))
    await service().database.transaction(tx => tx.updateTable('devices').set({ expires_at: 1 }).execute())
    assert.equal((await browser.logIn('admin', ADMIN_PASSWORD)).status, 201)
    assert.notEqual(browser.secrets[1], token)
    await service().database.transaction(removeOldSessions)
    assert.equal((await rows()).length, 1)
  })
})

describeService(
  'sessions: a proxy that is not trusted',
  service => {
    test('429 - what somebody says of an address is not believed', async () => {
      for (let number = 1; number <= 10; number += 1) {
        const reply = await tryFrom(service(), `198.51.100.${number}`, `somebody${number}`)
        assertFailure(reply, 401, 'rest_wrong_login')
      }
      assertFailure(await tryFrom(service(), '198.51.100.11', 'another'), 429, 'rest_too_many_requests')
    })
  },
  { trustProxy: [] },
)

describeService('sessions: their end', service => {
  test('200 - log out ends this session at once and removes the cookie', async () => {
    const [one, other] = [await service().admin(), await service().admin()]
    const reply = await one.delete('/session')
    assert.deepEqual([reply.status, reply.body], [200, { ended: true }])
    assert.match(reply.headers.get('set-cookie')!, /^affiliated_session=; .*Max-Age=0$/)
    assertFailure(await one.get('/session'), 401, 'rest_session_required')
    assert.equal((await other.get('/session')).status, 200)
  })

  test('200 - a new password ends the other sessions of the account, and only these', async () => {
    const admin = await service().admin()
    await newAdministrator(admin, 'changing')
    const [one, other] = [service().visitor(), service().visitor()]
    await one.logIn('changing', PASSWORD)
    await other.logIn('changing', PASSWORD)
    const reply = await one.post('/password', {
      current_password: PASSWORD,
      new_password: 'another password',
    })
    assert.equal(reply.status, 200)
    assert.equal((await one.get('/session')).status, 200)
    assertFailure(await other.get('/session'), 401, 'rest_session_required')
    assert.equal((await admin.get('/session')).status, 200)
    const { id } = (await one.get('/session')).body.user
    const remembered = (await deviceRows(service())).filter(({ user_id }) => user_id === id)
    assert.deepEqual(remembered, [])
    assertFailure(await other.logIn('changing', PASSWORD), 401, 'rest_wrong_login')
    assert.equal((await other.logIn('changing', 'another password')).status, 201)
  })

  test('400 - the current password is wrong, or the new one too short; ten tries are allowed', async () => {
    const admin = await service().admin()
    await newAdministrator(admin, 'careless')
    const careless = service().visitor()
    await careless.logIn('careless', PASSWORD)
    const short = await careless.post('/password', { current_password: PASSWORD, new_password: 'short' })
    assertFailure(short, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(short.body.data.params), ['new_password'])
    for (let number = 1; number <= 10; number += 1) {
      const wrong = await careless.send('POST', '/password', {
        body: { current_password: 'wrong', new_password: 'long enough' },
        headers: { 'x-forwarded-for': `198.18.5.${number}` },
      })
      assertFailure(wrong, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(wrong.body.data.params), ['current_password'])
    }
    const last = await careless.post('/password', { current_password: PASSWORD, new_password: 'long enough' })
    assertFailure(last, 429, 'rest_too_many_requests')
  })

  test('200 - a password can be changed while strangers fail to log in', async () => {
    const admin = await service().admin()
    await newAdministrator(admin, 'undisturbed')
    const undisturbed = service().visitor()
    await undisturbed.logIn('undisturbed', PASSWORD)
    for (let number = 1; number <= 11; number += 1) await tryFrom(service(), '198.18.10.1', 'undisturbed')
    const changed = { current_password: PASSWORD, new_password: 'another password' }
    assert.equal((await undisturbed.post('/password', changed)).status, 200)
  })

  test('400 - what is secret in a query, which proxies write into their logs', async () => {
    const visitor = service().visitor()
    const query = new URLSearchParams({ login: 'admin', password: ADMIN_PASSWORD, code: '000000' })
    for (const body of [undefined, { password: ADMIN_PASSWORD, code: '000000' }]) {
      const refused = await visitor.send('POST', `/session?${query}`, { body })
      assertFailure(refused, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(refused.body.data.params), ['password', 'code'])
      assert.match(refused.body.message, /password: must stand in the body/)
    }
    const body = { password: ADMIN_PASSWORD }
    assert.equal((await visitor.send('POST', '/session?login=admin', { body })).status, 201)
    const admin = await service().admin()
    const created = await admin.send('POST', '/users?password=long+enough', {
      body: { login: 'queried', email: 'queried@example.com' },
    })
    assertFailure(created, 400, 'rest_invalid_param')
    const source = 'name=shop&type=stripe&context=shop&secret=whsec_0123456789'
    const asked = await service().send('POST', `/sources?${source}`)
    assert.deepEqual([asked.status, Object.keys(asked.body.data.params)], [400, ['secret']])
  })

  test('401 - twelve hours after the last use, of which one is noted each minute', async () => {
    const admin = await service().admin()
    const twelve = 12 * 3600
    await setExpiry(service(), now() + twelve - 30)
    await admin.get('/session')
    assert.ok((await sessionRows(service())).every(row => row.expires_at < now() + twelve - 20))
    await setExpiry(service(), now() + 60)
    const { body } = await admin.get('/session')
    const [extended] = (await sessionRows(service())).filter(row => row.expires_at > now() + twelve - 10)
    assert.ok(extended)
    assert.equal(Date.parse(`${body.expires}Z`) / 1000, extended.expires_at)
    await setExpiry(service(), now() - 1)
    assertFailure(await admin.get('/session'), 401, 'rest_session_required')
    assertFailure(await admin.get('/affiliates'), 401, 'rest_session_required')
    await service().database.transaction(removeOldSessions)
    assert.ok((await sessionRows(service())).every(row => row.expires_at > now()))
  })

  test('401 - thirty days after the log-in, however often the session is used', async () => {
    const admin = await service().admin()
    const thirty = 30 * 24 * 3600
    const began = (created_at: number) =>
      service().database.transaction(tx => tx.updateTable('sessions').set({ created_at }).execute())
    await began(now() - thirty + 3600)
    const { body } = await admin.get('/session')
    const left = Date.parse(`${body.expires}Z`) / 1000 - now()
    assert.ok(left > 3590 && left <= 3600, `${left} s`)
    await began(now() - thirty - 1)
    assertFailure(await admin.get('/session'), 401, 'rest_session_required')
    assertFailure(await admin.get('/affiliates'), 401, 'rest_session_required')
  })
})
