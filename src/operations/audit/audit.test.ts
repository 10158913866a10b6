import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import {
  ADMIN_PASSWORD,
  describeService,
  openDatabase,
  operatorOf,
  type Service,
} from '../../../test/harness.ts'
import { until } from '../../../test/load.ts'
import { sealAll, sealEntries } from '../../events/seal.ts'
import { entriesAfter } from '../../events/store.ts'
import { verifyChain } from '../../events/verify.ts'
import type { Tx } from '../../storage/database.ts'
import { erasePerson } from '../privacy/rules.ts'

class Undone extends Error {}

/** Does what somebody could who has the database and no scruples, looks what `verify` says, and undoes it. */
async function problemAfter({ database }: Service, ...statements: string[]): Promise<string> {
  let problem: string | undefined
  const tamper = async (tx: Tx) => {
    for (const trigger of ['update', 'delete', 'erase']) await dropTrigger(tx, 'events', trigger)
    for (const trigger of ['update', 'delete']) await dropTrigger(tx, 'audit_seals', trigger)
    for (const statement of statements) await sql.raw(statement).execute(tx)
    problem = (await verifyChain(tx)).problem
    throw new Undone()
  }
  const dropTrigger = (tx: Tx, table: string, name: string) =>
    sql
      .raw(`DROP TRIGGER ${table}_${name}${database.engine.name === 'SQLite' ? '' : ` ON ${table}`}`)
      .execute(tx)
  await assert.rejects(database.transaction(tamper), Undone)
  assert.equal((await verifyChain(database.reader)).problem, undefined)
  return problem ?? 'nothing was found'
}

/** By itself: what the last of them have asked for may still come. */
describeService('the audit log of clients who hang up', service => {
  test('names the address of a client who hangs up at whatever moment', async () => {
    const { database, url, key } = service()
    const { hostname, port } = new URL(url)
    const sendAndHangUp = async (number: number) => {
      const socket = connect(Number(port), hostname).on('error', () => {})
      await once(socket, 'connect')
      const body = JSON.stringify({ create_user: true, payment_email: `hasty${number}@example.com` })
      const head = ['POST /v1/affiliates HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${key.token}`]
      const about = ['Content-Type: application/json', `Content-Length: ${body.length}`]
      socket.write([...head, ...about, '', body].join('\r\n'))
      for (let turns = 0; turns < number % 10; turns += 1) await turn()
      socket.resetAndDestroy()
    }
    for (let number = 0; number < 100; number += 1) await sendAndHangUp(number)
    await service().newAffiliate('patient')
    const created = (await entriesAfter(database.reader, 0, 10_000)).filter(
      ({ action }) => action === 'affiliate.create',
    )
    assert.ok(created.length > 1, `${created.length} were created`)
    assert.deepEqual(new Set(created.map(({ address }) => address)), new Set(['127.0.0.1']))
  })
})

describeService('the audit log', service => {
  const last = async (count: number) =>
    (await entriesAfter(service().database.reader, 0, 10_000)).slice(-count)

  test('every change by an API key is told of, with what was there before and after', async () => {
    const { key } = service()
    const affiliate = await service().newAffiliate('ada', { notes: 'met at the fair', rate: 7.5 })
    await service().patch(`/affiliates/${affiliate.id}`, { status: 'active', rate: 8, notes: '' })
    await service().patch(`/affiliates/${affiliate.id}`, { account_email: 'new@example.com' })
    await service().patch(`/affiliates/${affiliate.id}`, { status: 'active' })
    const payout = await service().newPayout(affiliate.id, { amount: 27.87, referrals: [3, 1] })
    await service().patch(`/payouts/${payout.id}`, { affiliate_id: affiliate.id, status: 'failed' })
    await service().delete(`/payouts/${payout.id}`)
    await service().delete(`/affiliates/${affiliate.id}`)
    const admin = await service().admin()
    const { body } = await admin.get('/audit?number=7&orderby=id&order=desc&actor=key')
    const [removed, unpaid, failed, paid, email, edited, created] = body as any[]
    for (const entry of body) {
      assert.deepEqual(
        [entry.actor, entry.actor_name, entry.user_id, entry.login, entry.address],
        ['key', key.publicKey, 1, 'admin', '127.0.0.1'],
      )
      assert.ok(Math.abs(Date.parse(`${entry.date}Z`) - Date.now()) < 60_000)
    }
    assert.equal(created.action, 'affiliate.create')
    assert.equal(created.before, null)
    assert.equal(created.after.notes, 'met at the fair')
    assert.equal(created.after.account_login, 'ada@example.com')
    assert.equal(created.after.rate, '7.5')
    assert.deepEqual(
      [edited.action, edited.before, edited.after],
      [
        'affiliate.edit',
        { rate: '7.5', status: 'pending', notes: 'met at the fair' },
        { rate: '8', status: 'active', notes: '' },
      ],
    )
    assert.deepEqual(
      [email.action, email.record_id, email.before, email.after],
      ['user.edit', affiliate.user_id, { email: 'ada@example.com' }, { email: 'new@example.com' }],
    )
    assert.deepEqual([paid.action, paid.after.amount, paid.after.referrals], ['payout.create', 27.87, '3,1'])
    assert.deepEqual(
      [failed.action, failed.before, failed.after],
      ['payout.fail', { status: 'paid' }, { status: 'failed' }],
    )
    assert.deepEqual([unpaid.action, unpaid.before.amount, unpaid.after], ['payout.delete', 27.87, null])
    assert.deepEqual([removed.action, removed.before.status], ['affiliate.delete', 'active'])
  })

  test('what fails leaves no entry', async () => {
    const before = (await last(1))[0]!.id
    assert.equal((await service().post('/affiliates', { user_id: 999_999 })).status, 400)
    assert.equal((await service().post('/payouts', { affiliate_id: 999_999 })).status, 400)
    assert.equal((await service().delete('/payouts/999999')).status, 404)
    assert.deepEqual(await entriesAfter(service().database.reader, before, 10), [])
  })

  test('what people do in the administration area is told of, and nothing secret with it', async () => {
    const visitor = service().visitor()
    await visitor.logIn('admin', 'not this one')
    await visitor.logIn('my password typed in the wrong field', 'x')
    const admin = await service().admin()
    const user = (
      await admin.post('/users', {
        login: 'second',
        email: 'second@example.com',
        role: 'administrator',
        password: 'hidden-from-the-log',
      })
    ).body
    await admin.patch(`/users/${user.id}`, { first_name: 'Sec', password: 'hidden-as-well' })
    const key = (await admin.post('/keys', { name: 'shop', permissions: ['payouts.read'], user_id: user.id }))
      .body
    await admin.delete(`/keys/${key.id}`)
    await admin.patch('/settings', { default_rate: 15 })
    await admin.post('/password', { current_password: 'wrong', new_password: 'hidden-forever' })
    await admin.post('/password', { current_password: ADMIN_PASSWORD, new_password: ADMIN_PASSWORD })
    await admin.delete('/session')
    const entries = await last(12)
    assert.deepEqual(
      entries.map(({ action, actor_kind, record_id }) => [action, actor_kind, record_id]),
      [
        ['session.refuse', 'visitor', 1],
        ['session.refuse', 'visitor', null],
        ['session.create', 'session', 1],
        ['user.create', 'session', user.id],
        ['user.password', 'session', user.id],
        ['user.edit', 'session', user.id],
        ['key.create', 'session', key.id],
        ['key.revoke', 'session', key.id],
        ['settings.edit', 'session', null],
        ['session.refuse', 'session', 1],
        ['user.password', 'session', 1],
        ['session.delete', 'session', 1],
      ],
    )
    const everything = JSON.stringify(await last(10_000))
    for (const secret of ['hidden', 'scrypt', 'affiliated_sk_', 'wrong field', ...admin.secrets]) {
      assert.equal(everything.includes(secret), false, secret)
    }
    const { rows } = await sql<{ hash: string }>`
      SELECT token_hash AS hash FROM api_keys UNION SELECT token_hash FROM sessions
      UNION SELECT token_hash FROM devices
      UNION SELECT password_hash FROM users WHERE password_hash <> ''`.execute(service().database.reader)
    for (const { hash } of rows) assert.equal(everything.includes(hash), false)
  })

  test('200 - filters: who, what, which record, when; 401 without a session', async () => {
    const admin = await service().admin()
    const ask = async (query: string) => {
      const { status, body } = await admin.get(`/audit?number=-1&${query}`)
      assert.equal(status, 200)
      return body as any[]
    }
    const all = await ask('')
    const expect = async (query: string, matches: (entry: any) => boolean) => {
      const found = await ask(query)
      assert.deepEqual(found, all.filter(matches), query)
      assert.ok(found.length > 0 && found.length < all.length, query)
    }
    await expect('actor=key', entry => entry.actor === 'key')
    await expect('actor=visitor,command%20line', entry => ['visitor', 'command line'].includes(entry.actor))
    await expect(
      `actor_name=${service().key.publicKey}`,
      entry => entry.actor_name === service().key.publicKey,
    )
    await expect('user_id=1', entry => entry.user_id === 1)
    await expect('action=payout.fail', entry => entry.action === 'payout.fail')
    await expect(
      'record=affiliate&record_id=1',
      entry => entry.record === 'affiliate' && entry.record_id === 1,
    )
    assert.equal((await ask('date[start]=2020-01-01')).length, all.length)
    assert.deepEqual(await ask('date[end]=2020-01-01'), [])
    assert.equal((await admin.get('/audit?action=affiliate.fly')).status, 400)
    assert.equal((await service().visitor().get('/audit')).status, 401)
    assert.equal((await service().get('/audit')).status, 404)
  })

  test('the database refuses to change or remove what is written', async () => {
    const { database } = service()
    await service().newAffiliate('written')
    await sealEntries(database)
    for (const statement of [
      "UPDATE events SET action = 'x'",
      "UPDATE events SET personal = 'x'",
      'DELETE FROM events',
      "UPDATE audit_seals SET hash = 'x'",
      'DELETE FROM audit_seals',
    ]) {
      await assert.rejects(
        database.transaction(tx => sql.raw(statement).execute(tx)),
        /only added to/,
        statement,
      )
    }
  })

  test('entries are sealed within a second, without being asked to', async () => {
    const { database } = service()
    for (let round = 0; round < 3; round += 1) {
      await service().newAffiliate(`sealed${round}`)
      await until(async () => (await verifyChain(database.reader)).unsealed === 0)
    }
    const verdict = await verifyChain(database.reader)
    assert.equal(verdict.problem, undefined)
    assert.ok(verdict.seals >= 3)
  })

  test('a change of any column, a missing entry, a missing seal: each is found and named', async () => {
    await sealAll(service().database)
    const { seals } = await verifyChain(service().database.reader)
    const [entry] = (await last(10_000)).filter(
      ({ personal, actor_id }) => personal !== '' && actor_id !== null,
    )
    const columns = Object.entries(entry!).filter(([name]) => name !== 'id')
    assert.equal(columns.length, 13)
    for (const [name, value] of columns) {
      const other = typeof value === 'number' || name.endsWith('_id') ? '987654' : "'other'"
      assert.match(
        await problemAfter(service(), `UPDATE events SET ${name} = ${other} WHERE id = ${entry!.id}`),
        name === 'personal' ? new RegExp(`^Entry ${entry!.id}`) : /^Seal \d+ does not fit/,
        name,
      )
    }
    assert.match(
      await problemAfter(service(), `UPDATE events SET personal = '' WHERE id = ${entry!.id}`),
      /no erasure/,
    )
    assert.match(
      await problemAfter(service(), `UPDATE events SET id = 987654 WHERE id = ${entry!.id}`),
      new RegExp(`^Entry ${entry!.id} is missing`),
    )
    assert.match(
      await problemAfter(service(), `DELETE FROM events WHERE id = ${entry!.id}`),
      new RegExp(`^Entry ${entry!.id} is missing`),
    )
    assert.match(
      await problemAfter(service(), 'DELETE FROM audit_seals WHERE number = 2'),
      /^Seal 2 is missing/,
    )
    for (const change of [
      'sealed_at = 1',
      "entries = '1'",
      'entry_count = 99',
      'first_position = 987654',
      "previous_hash = 'x'",
      "hash = 'x'",
      'number = 987654',
    ]) {
      assert.match(
        await problemAfter(service(), `UPDATE audit_seals SET ${change} WHERE number = 2`),
        /^Seal [23]/,
      )
    }
    assert.match(
      await problemAfter(service(), `DELETE FROM audit_seals WHERE number = ${seals}`),
      /ends at seal/,
    )
    assert.match(
      await problemAfter(
        service(),
        `INSERT INTO events (id, at, actor_kind, actor_name, address, action, record_kind, before_values, after_values, personal_hash, personal)
         VALUES (-5, 1, 'key', '', '', 'payout.create', 'payout', '', '', '', '')`,
      ),
      /^Entry -5 is in no seal/,
    )
  })

  test('several that seal at the same moment make one chain', async () => {
    const others = await Promise.all([1, 2, 3].map(() => openDatabase(service().databaseUrl)))
    try {
      for (let round = 0; round < 5; round += 1) {
        const writes = Array.from({ length: 8 }, (_, n) => service().newAffiliate(`race${round}-${n}`))
        await Promise.all([...writes, ...others.map(sealEntries)])
        await Promise.all(others.map(sealEntries))
      }
      // Whoever locks the chain's end, as the service may, can have looked before the last was committed.
      await sealAll(service().database)
      const verdict = await verifyChain(service().database.reader)
      assert.deepEqual([verdict.problem, verdict.unsealed], [undefined, 0])
    } finally {
      await Promise.all(others.map(other => other.close()))
    }
  })

  test('erasing a person leaves the chain whole', async () => {
    const { database } = service()
    const affiliate = await service().newAffiliate('vanishing', { notes: 'lives in Vanishington' })
    await sealEntries(database)
    await erasePerson(operatorOf(database), affiliate.user_id)
    await sealEntries(database)
    assert.equal((await verifyChain(database.reader)).problem, undefined)
    assert.equal(/vanishing/i.test(JSON.stringify(await last(10_000))), false)
    const admin = await service().admin()
    const { body } = await admin.get(`/audit?record=affiliate&record_id=${affiliate.id}`)
    assert.equal(body[0].erased, true)
    assert.equal(body[0].after.status, 'pending')
  })
})
