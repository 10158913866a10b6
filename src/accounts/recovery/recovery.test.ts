import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { assertFailure, engines, operatorOf, type Service, serviceOn } from '../../../test/harness.ts'
import { MailServer } from '../../../test/mail.ts'
import { GuardedDatabase } from '../../storage/guarded.ts'
import { createUser } from '../users/rules.ts'
import { Post } from './post.ts'
import { Recovery } from './rules.ts'

const PASSWORD = 'a password of somebody'
const NEW = 'another password of theirs'

for (const [engine, fresh] of Object.entries(engines)) {
  describe(`forgotten passwords (${engine})`, () => {
    let service: Service
    let mail: MailServer
    before(async () => {
      mail = await MailServer.listen()
      const options = { smtpUrl: mail.url, from: 'service@example.com', publicUrl: 'https://shop.example/' }
      service = await serviceOn(await fresh(), { mail: options })
    })
    after(async () => {
      await service.close()
      await mail.close()
    })

    const join = (login: string, role: 'reader' | '' = 'reader') =>
      createUser(operatorOf(service.database), {
        login,
        email: `${login}@example.com`,
        role,
        password: PASSWORD,
      })

    const ask = (login: string, address = '203.0.113.7') =>
      service.visitor().send('POST', '/forgotten-password', {
        body: { login },
        headers: { 'x-forwarded-for': address, host: 'evil.example' },
      })

    const use = (token: string, new_password = NEW) =>
      service.visitor().post('/new-password', { token, new_password })

    const tokenIn = (text: string) => /https:\/\/shop\.example\/admin\/new-password#(\S+)/.exec(text)![1]!

    test('200 - a link comes by e-mail, sets a new password once, and ends the sessions', async () => {
      const user = await join('forgetful')
      const session = service.visitor()
      await session.logIn('forgetful', PASSWORD)
      assert.equal((await ask('FORGETFUL@example.com')).status, 200)
      const letter = await mail.next()
      assert.deepEqual(letter.to, ['forgetful@example.com'])
      assert.ok(!letter.text.includes('evil.example'))
      const token = tokenIn(letter.text)
      assertFailure(await use(token, 'password'), 400, 'rest_invalid_param')
      assert.equal((await use(token)).status, 200)
      assertFailure(await use(token), 400, 'rest_recovery_ended')
      assertFailure(await session.get('/session'), 401, 'rest_session_required')
      assertFailure(await service.visitor().logIn('forgetful', PASSWORD), 401, 'rest_wrong_login')
      assert.equal((await service.visitor().logIn('forgetful', NEW)).status, 201)
      const admin = await service.admin()
      const { body } = await admin.get(`/audit?record=user&record_id=${user.id}&order=asc`)
      assert.deepEqual(body.map((entry: { action: string }) => entry.action).slice(-2), [
        'user.forgotten',
        'user.password',
      ])
      assert.ok(!JSON.stringify(body).includes(token))
    })

    test('400 - an older link, one that has ended, and one of who has lost the role', async () => {
      const user = await join('late')
      const { database } = service
      await ask('late', '203.0.113.20')
      const older = tokenIn((await mail.next()).text)
      await ask('late', '203.0.113.20')
      const newer = tokenIn((await mail.next()).text)
      assertFailure(await use(older), 400, 'rest_recovery_ended')
      const expire = (expires_at: number) =>
        database.transaction(tx =>
          tx.updateTable('recoveries').set({ expires_at }).where('user_id', '=', user.id).execute(),
        )
      const hourAway = Math.floor(Date.now() / 1000) + 3600
      await expire(hourAway - 3601)
      assertFailure(await use(newer), 400, 'rest_recovery_ended')
      await expire(hourAway)
      const madeAt = (created_at: number) =>
        database.transaction(tx =>
          tx.updateTable('recoveries').set({ created_at }).where('user_id', '=', user.id).execute(),
        )
      // The clock was wrong by a day.
      await madeAt(hourAway + 86_400)
      await expire(hourAway + 86_400)
      assertFailure(await use(newer), 400, 'rest_recovery_ended')
      await madeAt(hourAway - 3600)
      await expire(hourAway)
      const admin = await service.admin()
      await admin.patch(`/users/${user.id}`, { role: '' })
      assertFailure(await use(newer), 400, 'rest_recovery_ended')
    })

    test('400 - a link that was sent before the password or the address was changed', async () => {
      const admin = await service.admin()
      const { id } = await join('robbed')
      const link = async (login: string) => {
        assert.equal((await ask(login, '203.0.113.50')).status, 200)
        return tokenIn((await mail.next()).text)
      }
      const toOldAddress = await link('robbed')
      assert.equal((await admin.patch(`/users/${id}`, { email: 'safe@example.com' })).status, 200)
      assertFailure(await use(toOldAddress), 400, 'rest_recovery_ended')
      const older = await link('robbed')
      const session = service.visitor()
      await session.logIn('robbed', PASSWORD)
      const change = { current_password: PASSWORD, new_password: NEW }
      assert.equal((await session.post('/password', change)).status, 200)
      assertFailure(await use(older, PASSWORD), 400, 'rest_recovery_ended')
      const current = await link('robbed')
      assert.equal(
        (await admin.patch(`/users/${id}`, { email: 'safe@example.com', first_name: 'R' })).status,
        200,
      )
      assert.equal((await use(current, `${NEW} 2`)).status, 200)
    })

    test('no link is made for an address that has changed since the account was found', async () => {
      const { id } = await join('moving')
      const context = operatorOf(service.database)
      let transactions = 0
      const database = new GuardedDatabase(service.database, {
        before: async tx => {
          transactions += 1
          // The first two count the attempt and the letter.
          if (transactions < 3) return
          const moved = { email: 'moved@example.com', email_key: 'moved@example.com' }
          await tx.updateTable('users').set(moved).where('id', '=', id).execute()
        },
      })
      const post = { publicUrl: '', send: () => assert.fail('a letter'), close: async () => {} }
      const recovery = new Recovery(post as never, error => assert.fail(error as Error))
      await recovery.ask({ ...context, database, address: '203.0.113.60' }, 'moving')
      await recovery.close()
      assert.equal(transactions, 3)
      const links = service.database.reader.selectFrom('recoveries').selectAll().where('user_id', '=', id)
      assert.deepEqual(await links.execute(), [])
    })

    test('200 - the same answer whoever is asked for, before anybody is looked for', async () => {
      await join('present')
      await join('roleless', '')
      const answers = [
        await ask('present', '203.0.113.30'),
        await ask('nobody', '203.0.113.31'),
        await ask('roleless', '203.0.113.32'),
      ]
      for (const { status, body } of answers) assert.deepEqual([status, body], [200, { asked: true }])
      assert.deepEqual((await mail.next()).to, ['present@example.com'])
      assert.deepEqual(mail.waiting, [])
      // Nothing of an account is read before the answer: a letter that cannot go out delays nobody.
      const slow = new Recovery({ send: () => new Promise(() => {}) } as never, () => assert.fail())
      await slow.ask({ ...operatorOf(service.database), address: '203.0.113.33' }, 'present')
    })

    test('a mail server that says nothing does not keep the service from ending', async () => {
      await join('unheard')
      const silent = createServer().listen(0, '127.0.0.1')
      await once(silent, 'listening')
      const { port } = silent.address() as AddressInfo
      const failures: Error[] = []
      const post = new Post({ smtpUrl: `smtp://127.0.0.1:${port}`, from: 'a@b.example', publicUrl: '' })
      const recovery = new Recovery(post, error => failures.push(error as Error))
      const connected = once(silent, 'connection')
      await recovery.ask({ ...operatorOf(service.database), address: '203.0.113.35' }, 'unheard')
      const [socket] = await connected
      const ended = once(socket.resume(), 'close')
      await recovery.close()
      await ended
      silent.close()
      assert.deepEqual(
        failures.map(({ name }) => name),
        ['AbortError'],
      )
    })

    test('a mail server that answers byte by byte, and never to the end, is given up', async t => {
      await join('trickled')
      const slow = createServer(socket => {
        socket.on('error', () => {}).write('220 here\r\n250-')
        const trickle = setInterval(() => socket.write('a'), 20)
        socket.on('close', () => clearInterval(trickle))
      }).listen(0, '127.0.0.1')
      t.after(() => slow.close())
      await once(slow, 'listening')
      const { port } = slow.address() as AddressInfo
      const options = { smtpUrl: `smtp://127.0.0.1:${port}`, from: 'a@b.example', publicUrl: '' }
      const failure = await new Promise<Error>(resolve => {
        const recovery = new Recovery(new Post(options, 500), error => resolve(error as Error))
        void recovery.ask({ ...operatorOf(service.database), address: '203.0.113.36' }, 'trickled')
        t.after(() => recovery.close())
      })
      assert.equal((failure.cause as Error).name, 'TimeoutError')
    })

    test('429 - few letters for one account, by any of its names, and few for one who asks', async () => {
      await join('bothered')
      for (const name of ['bothered', 'BOTHERED', 'bothered@example.com']) {
        assert.equal((await ask(name, '203.0.113.40')).status, 200)
        await mail.next()
      }
      assert.equal((await ask('bothered@example.com', '203.0.113.41')).status, 200)
      await ask('bothered', '203.0.113.42')
      assertFailure(await ask('bothered', '203.0.113.43'), 429, 'rest_too_many_requests')
      for (let n = 0; n < 10; n++) await ask(`unknown ${n}`, '203.0.113.44')
      assertFailure(await ask('unknown', '203.0.113.44'), 429, 'rest_too_many_requests')
      assert.deepEqual(mail.waiting, [])
    })

    test('404 - there is none where no e-mail is sent', async () => {
      const first = await service.visitor().get('/session')
      assert.equal(first.body.data.recovers, true)
      const other = await serviceOn(await fresh())
      try {
        const refused = await other.visitor().post('/forgotten-password', { login: 'admin' })
        assertFailure(refused, 401, 'rest_session_required')
        assert.equal(refused.body.data.recovers, undefined)
      } finally {
        await other.close()
      }
    })
  })
}
