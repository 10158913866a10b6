import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Secret, TOTP } from 'otpauth'
import {
  assertFailure,
  describeService,
  giveSecretKey,
  type Visitor,
  withoutTable,
} from '../../../test/harness.ts'
import { findUser, lockUser } from '../users/store.ts'
import { findFactor, setConfirmed, setStep } from './store.ts'

const PASSWORD = 'a password of somebody'

test('codes are those of RFC 6238, appendix B', () => {
  const secret = Secret.fromUTF8('12345678901234567890')
  const at = (seconds: number) => TOTP.generate({ secret, digits: 8, timestamp: seconds * 1000 })
  assert.deepEqual([59, 1111111109, 20000000000].map(at), ['94287082', '07081804', '65353130'])
})

describeService('second factor', service => {
  giveSecretKey()
  interface Person {
    id: number
    login: string
    session: Visitor
    admin: Visitor
  }

  const join = async (login: string): Promise<Person> => {
    const admin = await service().admin()
    const args = { login, email: `${login}@example.com`, role: 'reader', password: PASSWORD }
    const { id } = (await admin.post('/users', args)).body
    const session = service().visitor()
    assert.equal((await session.logIn(login, PASSWORD)).status, 201)
    return { id, login, session, admin }
  }

  const codeOf = (secret: string, stepsLater = 0) =>
    TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() + stepsLater * 30_000 })

  /** @returns the secret of the app, and the recovery codes */
  const setUp = async ({ id, session }: Person): Promise<{ secret: string; codes: string[] }> => {
    const begun = await session.post('/second-factor', { current_password: PASSWORD })
    assert.equal(begun.status, 201, JSON.stringify(begun.body))
    const { secret, uri } = begun.body
    assert.ok(uri.startsWith('otpauth://totp/affiliated:') && uri.includes(secret), uri)
    const wrong = await session.post('/second-factor/confirmation', { code: '000000' })
    assertFailure(wrong, 400, 'rest_invalid_param')
    const { status, body } = await session.post('/second-factor/confirmation', { code: codeOf(secret) })
    assert.equal(status, 201, JSON.stringify(body))
    // As if it had been a while ago: no test waits for 30 seconds.
    await service().database.transaction(tx => setStep(tx, id, 0))
    return { secret, codes: body.recovery_codes }
  }

  /** Each from a network of their own, so that the failures of one keep nobody else out. */
  const from = (login: string) => ({
    'x-forwarded-for': `198.51.${Number.parseInt(hash('md5', login).slice(0, 2), 16)}.7`,
  })

  const logIn = (login: string, code?: string) =>
    service()
      .visitor()
      .send('POST', '/session', {
        body: { login, password: PASSWORD, ...(code !== undefined && { code }) },
        headers: from(login),
      })

  test('201 - after more right codes whose session could not be stored', async () => {
    const person = await join('unstored')
    const { secret } = await setUp(person)
    await withoutTable(service(), 'sessions', async () => {
      for (let number = 1; number <= 11; number += 1) {
        assert.equal((await logIn('unstored', codeOf(secret))).status, 500)
      }
    })
    assert.equal((await logIn('unstored', codeOf(secret))).status, 201)
  })

  test('201 - a code is asked for beside the password, and taken once', async () => {
    const person = await join('careful')
    const other = service().visitor()
    await other.logIn('careful', PASSWORD)
    const { secret } = await setUp(person)
    assertFailure(await other.get('/session'), 401, 'rest_session_required')
    assert.equal((await person.session.get('/session')).status, 200)

    assertFailure(await logIn('careful'), 401, 'rest_second_factor_required')
    assertFailure(await logIn('careful', '000000'), 401, 'rest_wrong_code')
    const code = codeOf(secret)
    assert.equal((await logIn('careful', code)).status, 201)
    assertFailure(await logIn('careful', code), 401, 'rest_wrong_code')
    assertFailure(await logIn('careful', codeOf(secret, -1)), 401, 'rest_wrong_code')
    const spaced = codeOf(secret, 1)
    assert.equal((await logIn('careful', `${spaced.slice(0, 3)} ${spaced.slice(3)}`)).status, 201)
    assertFailure(await logIn('careful', codeOf(secret, 9)), 401, 'rest_wrong_code')
    const { body } = await person.admin.get(`/users/${person.id}`)
    assert.equal(body.second_factor, true)
    const log = await person.admin.get(`/audit?record=user&record_id=${person.id}&order=desc`)
    assert.equal(log.body[0].action, 'user.second_factor')
  })

  test('401 - without the password nobody hears that there is a second factor', async () => {
    const person = await join('quiet')
    const { secret } = await setUp(person)
    const body = { login: 'quiet', password: 'another password', code: codeOf(secret) }
    const tried = await service()
      .visitor()
      .send('POST', '/session', { body, headers: from('quiet') })
    assertFailure(tried, 401, 'rest_wrong_login')
  })

  test('401 - one that is confirmed while somebody logs in by the password alone is asked for', async () => {
    const { id, session } = await join('hasty')
    await session.post('/second-factor', { current_password: PASSWORD })
    const without = await service().database.transaction(async tx => {
      await lockUser(tx, id)
      // While it looks at the account and hashes the password, there is no second factor.
      const reply = logIn('hasty')
      await delay(500)
      await setConfirmed(tx, id, 1)
      return { reply }
    })
    assertFailure(await without.reply, 401, 'rest_second_factor_required')
  })

  test('201 - each recovery code stands in for the app once', async () => {
    const person = await join('lost')
    const { codes } = await setUp(person)
    assert.equal(new Set(codes).size, 10)
    assert.match(codes[0]!, /^(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}$/)
    assert.equal((await logIn('lost', codes[0]!.toLowerCase().replaceAll('-', ''))).status, 201)
    assertFailure(await logIn('lost', codes[0]), 401, 'rest_wrong_code')
    const state = await person.session.get('/second-factor')
    assert.deepEqual([state.body.active, state.body.recovery_codes], [true, 9])
    const password = { current_password: PASSWORD }
    const { body } = await person.session.post('/second-factor/recovery-codes', password)
    assertFailure(await logIn('lost', codes[1]), 401, 'rest_wrong_code')
    assert.equal((await logIn('lost', body.recovery_codes[0])).status, 201)
  })

  test('429 - codes cannot be guessed, with whatever browser', async () => {
    const person = await join('guessed')
    await setUp(person)
    for (let n = 0; n < 10; n++) await logIn('guessed', String(n).padStart(6, '0'))
    assertFailure(await logIn('guessed', '999999'), 429, 'rest_too_many_requests')
  })

  test('201 - whoever guesses with the right password does not keep out a browser that was logged in with by a code', async () => {
    const person = await join('owner')
    const { secret } = await setUp(person)
    const own = service().visitor()
    const attempt = (visitor: Visitor, code: string) =>
      visitor.send('POST', '/session', {
        body: { login: 'owner', password: PASSWORD, code },
        headers: from('owner'),
      })
    const { headers } = await attempt(own, codeOf(secret))
    own.cookie = headers
      .getSetCookie()
      .map(cookie => cookie.split(';', 1)[0])
      .join('; ')
    for (let n = 0; n < 11; n++) await attempt(service().visitor(), String(n).padStart(6, '0'))
    assertFailure(await attempt(service().visitor(), codeOf(secret, 1)), 429, 'rest_too_many_requests')
    // That had the password alone when the factor was set up.
    assertFailure(await attempt(person.session, codeOf(secret, 1)), 429, 'rest_too_many_requests')
    assert.equal((await attempt(own, codeOf(secret, 1))).status, 201)
    for (let n = 0; n < 10; n++) await attempt(own, String(n).padStart(6, '0'))
    assertFailure(await attempt(own, '999999'), 429, 'rest_too_many_requests')
  })

  test('201 - right passwords and codes are no failed tries, however many there are', async () => {
    const person = await join('often')
    const { secret } = await setUp(person)
    const password = { current_password: PASSWORD }
    for (let n = 0; n < 11; n++) {
      assert.equal((await person.session.post('/second-factor/recovery-codes', password)).status, 201)
    }
    const wrong = { current_password: 'a guess that is wrong' }
    for (let n = 0; n < 10; n++) {
      const guess = await person.session.post('/second-factor/recovery-codes', wrong)
      assertFailure(guess, 400, 'rest_invalid_param')
    }
    const locked = await person.session.post('/second-factor/recovery-codes', password)
    assertFailure(locked, 429, 'rest_too_many_requests')
    // One wrong code was sent while it was set up, and the right one counts no more.
    for (let n = 0; n < 9; n++) assertFailure(await logIn('often', `00000${n}`), 401, 'rest_wrong_code')
    assertFailure(await logIn('often', codeOf(secret, 1)), 429, 'rest_too_many_requests')
  })

  test('400 - an open session alone neither sets it up nor removes it', async () => {
    const person = await join('absent')
    const wrong = { current_password: 'a guess that is wrong' }
    assertFailure(await person.session.post('/second-factor', wrong), 400, 'rest_invalid_param')
    const { secret } = await setUp(person)
    assertFailure(await person.session.post('/second-factor/removal', wrong), 400, 'rest_invalid_param')
    assertFailure(
      await person.session.post('/second-factor', { current_password: PASSWORD }),
      409,
      'rest_second_factor_active',
    )
    assertFailure(await logIn('absent'), 401, 'rest_second_factor_required')
    const stored = await findFactor(service().database.reader, person.id)
    assert.ok(!stored!.secret.includes(secret), 'the secret is sealed')
    assert.equal(
      (await person.session.post('/second-factor/removal', { current_password: PASSWORD })).status,
      200,
    )
    assert.equal((await logIn('absent')).status, 201)
  })

  test('200 - an administrator lets somebody in who has lost everything, and nobody themselves', async () => {
    const person = await join('helped')
    await setUp(person)
    const path = `/users/${person.id}/second-factor`
    assertFailure(await person.session.delete(path), 403, 'rest_forbidden')
    assertFailure(await person.admin.delete('/users/1/second-factor'), 400, 'rest_invalid_param')
    const { status, body } = await person.admin.delete(path)
    assert.deepEqual([status, body.second_factor], [200, false])
    assert.equal((await logIn('helped')).status, 201)
    assert.ok(await findUser(service().database.reader, person.id))
  })

  test('200 - the own sessions are listed, and one or all others ended', async () => {
    const { session } = await join('many')
    const [phone, laptop] = [service().visitor(), service().visitor()]
    for (const visitor of [phone, laptop]) await visitor.logIn('many', PASSWORD)
    const { body } = await session.get('/sessions')
    assert.equal(body.length, 3)
    assert.equal(body.filter(({ current }: { current: boolean }) => current).length, 1)
    assert.equal(body[0].network, '127.0.0.0')
    const other = (await phone.get('/sessions')).body.find(({ current }: { current: boolean }) => current)
    assert.equal((await session.delete(`/sessions/${other.id}`)).status, 200)
    assertFailure(await phone.get('/session'), 401, 'rest_session_required')
    assertFailure(await session.delete(`/sessions/${other.id}`), 404, 'invalid_session_id')
    const admin = await service().admin()
    assertFailure(
      await admin.delete(`/sessions/${(await laptop.get('/sessions')).body[0].id}`),
      404,
      'invalid_session_id',
    )
    assert.equal((await session.delete('/sessions')).status, 200)
    assertFailure(await laptop.get('/session'), 401, 'rest_session_required')
    assert.equal((await session.get('/session')).status, 200)
  })
})
