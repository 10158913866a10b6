import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import {
  ADMIN_PASSWORD,
  assertFailure,
  describeService,
  giveSecretKey,
  operatorOf,
  runCommand,
  temporaryFolder,
} from '../../../test/harness.ts'
import { createKey } from '../../accounts/keys/rules.ts'
import { schema } from '../../app.ts'
import { verifyChain } from '../../events/verify.ts'
import { rules } from '../../programme/payouts/rules.ts'
import type { Column, Table } from '../../storage/table.ts'
import { erasePerson } from './rules.ts'

describeService('what a person may ask for', service => {
  giveSecretKey()
  const run = (args: string[], input = '') =>
    runCommand([...args, '--database', service().databaseUrl], input)

  test('users export: everything about somebody, and nothing secret or about others', async () => {
    const ada = await service().newAffiliate('ada', { notes: 'likes chess' })
    await service().newAffiliate('bob', { notes: 'likes go' })
    await service().newPayout(ada.id, { amount: 5, payout_method: 'bank' })
    const { database } = service()
    const args = { user_id: ada.user_id, name: 'hers', permissions: ['payouts.read'] }
    const { token } = await createKey(operatorOf(database), args, ['payouts.read'])
    const { code, stdout } = await run(['users', 'export', 'ADA@example.com'])
    assert.equal(code, 0)
    assert.equal(stdout.trim().split('\n').length, 1)
    const data = JSON.parse(stdout)
    assert.equal(data.account.email, 'ada@example.com')
    assert.deepEqual([data.sessions, data.devices], [[], []])
    assert.equal(data.affiliate.notes, 'likes chess')
    assert.deepEqual([data.payouts.length, data.payouts[0].amount], [1, 5])
    assert.deepEqual([data.keys.length, data.keys[0].name], [1, 'hers'])
    assert.deepEqual(
      data.audit.map((entry: any) => entry.action),
      ['affiliate.create', 'key.create'],
    )
    for (const absent of ['bob', 'likes go', token, 'token_hash', 'password']) {
      assert.equal(stdout.includes(absent), false, absent)
    }
    assert.equal((await run(['users', 'export', 'nobody'])).code, 1)
  })

  test('users export: of many records and entries, each once', async () => {
    const { database } = service()
    const busy = await service().newAffiliate('busy', { status: 'active' })
    const context = operatorOf(database)
    const actor = { ...context.actor, userId: busy.user_id }
    const pay = (affiliate_id: number, count: number) =>
      rules.createMany(
        { ...context, actor },
        Array.from({ length: count }, () => ({ affiliate_id, amount: 1, status: 'paid' as const })),
      )
    for (const count of [1000, 1000, 300]) await pay(busy.id, count)
    // By the account, about somebody else.
    await pay((await service().newAffiliate('quiet')).id, 1)
    const { stdout } = await run(['users', 'export', 'busy@example.com'])
    const exported = JSON.parse(stdout)
    const idsOf = (rows: { id: number }[]) => rows.map(({ id }) => id)
    const stored = database.reader.selectFrom('payouts').select('id').where('affiliate_id', '=', busy.id)
    assert.deepEqual(idsOf(exported.payouts), idsOf(await stored.orderBy('id').execute()))
    const about = database.reader
      .selectFrom('events')
      .select('id')
      .where(({ or, eb }) => or([eb('person_id', '=', busy.user_id), eb('actor_id', '=', busy.user_id)]))
    assert.deepEqual(idsOf(exported.audit), idsOf(await about.orderBy('id').execute()))
    assert.equal(exported.audit.length, 2302)
  })

  test('users erase: asks, then leaves nothing personal, keeps the money, and says so', async () => {
    const { database } = service()
    const zoe = await service().newAffiliate('zoe.zebra', { notes: 'zebra crossing' })
    const payout = await service().newPayout(zoe.id, { amount: 12.5, note: 'by the zebra' })
    await service().send('PATCH', `/payouts/${payout.id}`, {
      body: { affiliate_id: zoe.id, note: 'The zebra’s' },
    })
    const { body: referral } = await service().post('/referrals', {
      affiliate_id: zoe.id,
      amount: 1,
      status: 'rejected',
    })
    const reason = { rejection_reason: 'a zebra' }
    const rejected = await service().send('PATCH', `/referrals/${referral.id}`, { body: reason })
    assert.equal(rejected.status, 200, JSON.stringify(rejected.body))
    const details = { method: 'paypal', holder: 'Zoe Zebra', paypal_email: 'zoe@zebra.example' }
    for (const holder of ['Zoe Zebra', 'Zebra Inc.']) {
      const entered = await service().post('/payment-details', { affiliate_id: zoe.id, ...details, holder })
      assert.equal(entered.status, 201, JSON.stringify(entered.body))
    }
    const { key, token } = await createKey(
      operatorOf(database),
      { user_id: zoe.user_id, name: 'k', permissions: ['payouts.read'] },
      ['payouts.read'],
    )
    for (const answer of ['', 'no\n', 'y\n']) {
      const refused = await run(['users', 'erase', 'zoe.zebra@example.com'], answer)
      assert.equal(refused.code, 1)
      assert.match(refused.stderr, /Nothing was erased/)
    }
    assert.equal((await service().get(`/affiliates/${zoe.id}`)).body.payment_email, 'zoe.zebra@example.com')
    const unasked = await run(['users', 'erase', 'zoe.zebra@example.com'])
    assert.match(unasked.stderr, /go on: \nerror: Nothing was erased: .*--yes/)
    const erased = await run(['users', 'erase', 'zoe.zebra@example.com'], 'zoe.zebra@example.com\n')
    assert.equal(erased.code, 0, erased.stderr)
    assert.match(erased.stdout, /Its API key was revoked/)
    const { body } = await service().get(`/affiliates/${zoe.id}?user=1`)
    assert.deepEqual([body.payment_email, body.user.user_login], ['', `erased-${zoe.user_id}`])
    assert.equal((await service().get(`/payouts/${payout.id}`)).body.amount, 12.5)
    assertFailure(
      await service().get('/payouts', { key: { publicKey: key.public_key, token } }),
      401,
      'rest_forbidden',
    )
    for (const { name } of database.schema) {
      const { rows } = await sql`SELECT * FROM ${sql.table(name)}`.execute(database.reader)
      assert.equal(/zebra/i.test(JSON.stringify(rows)), false, name)
    }
    assert.equal((await verifyChain(database.reader)).problem, undefined)
    const admin = await service().admin()
    const log = await admin.get(`/audit?action=user.erase&record_id=${zoe.user_id}`)
    assert.deepEqual([log.body.length, log.body[0].actor], [1, 'command line'])
    const again = await run(['users', 'erase', `erased-${zoe.user_id}`, '--yes', '--json'])
    assert.equal(JSON.parse(again.stdout).erased, true)
  })

  test('200 - an erased account is erased again: only what was entered since, else nothing', async () => {
    const admin = await service().admin()
    const twice = await service().newAffiliate('twice', { notes: 'hums' })
    const { body: taking } = await admin.post('/users', {
      login: `erased-${twice.user_id}`,
      email: 'taking@example.com',
    })
    const erase = async () => {
      assert.equal((await admin.post(`/erasures/users/${twice.user_id}`)).status, 200)
      const { body: account } = await admin.get(`/users/${twice.user_id}`)
      const log = await admin.get(`/audit?action=user.erase&record_id=${twice.user_id}`)
      return [account.login, log.body.length]
    }
    const name = `erased-${twice.user_id}-x`
    assert.deepEqual(await erase(), [name, 1])
    await admin.patch(`/users/${taking.id}`, { first_name: 'Still' })
    assert.deepEqual(await erase(), [name, 1])
    await admin.post(`/erasures/users/${taking.id}`)
    assert.deepEqual(await erase(), [name, 1])
    const body = { payment_email: 'twice.again@example.com' }
    const edited = await service().send('PATCH', `/affiliates/${twice.id}`, { body })
    assert.equal(edited.status, 200, JSON.stringify(edited.body))
    assert.deepEqual(await erase(), [name, 2])
    assert.deepEqual(await erase(), [name, 2])
    assert.equal((await service().get(`/affiliates/${twice.id}`)).body.payment_email, '')
  })

  test('410 - a retry of what was about somebody who is erased: nothing of them is answered, or made again', async () => {
    const NDJSON = 'application/x-ndjson'
    const named = (key: string) => ({ headers: { 'idempotency-key': key } })
    const made = { create_user: true, payment_email: 'gone.first@example.com' }
    const lines = ['gone.second@example.com', 'stays@example.com']
      .map(payment_email => JSON.stringify({ create_user: true, payment_email }))
      .join('\n')
    const sale = { kind: 'sale', context: 'erased', reference: 'order 1', amount: 10 }
    const buyer = { id: 'gone.buyer@example.com', email: 'gone.buyer@example.com', first_name: 'Gonzalo' }
    // Nobody is known by it, with whom it could be erased.
    const unknown = { ...sale, reference: 'order 2', customer: { first_name: 'Gonzalo' } }
    const early = { ...unknown, kind: 'refund', part: '1', reference: 'order 3', customer: buyer }
    for (const report of [unknown, early]) {
      const { status, body } = await service().post('/conversions', report, named(report.reference))
      assert.deepEqual([status, body.conversion?.customer], [201, {}], JSON.stringify(body))
    }
    const asked = () =>
      Promise.all([
        service().post('/affiliates', made, named('one')),
        service().post('/affiliates', lines, {
          headers: { 'content-type': NDJSON, 'idempotency-key': 'many' },
        }),
        service().post('/conversions', { ...sale, customer: buyer }, named('sale')),
      ])
    const [first, many, sold] = await asked()
    const results = many.body.split('\n', 2).map((line: string) => JSON.parse(line))
    const { user_id, affiliate_id } = first.body
    const pay = () => service().post('/payouts', { affiliate_id, amount: 1, note: 'gone.' }, named('payout'))
    assert.equal((await pay()).status, 201)
    const { customer_id } = sold.body.conversion
    await run(['users', 'erase', 'gone.first@example.com', '--yes'])
    await run(['users', 'erase', 'gone.second@example.com', '--yes'])
    const ended = await run(['customers', 'erase', String(customer_id), '--yes'])
    assert.equal(ended.code, 0, ended.stderr)
    for (const { name } of service().database.schema) {
      const { rows } = await sql`SELECT * FROM ${sql.table(name)}`.execute(service().database.reader)
      assert.doesNotMatch(JSON.stringify(rows), /gone\.|Gonzalo/, name)
    }
    const [again, manyAgain, soldAgain] = await asked()
    assertFailure(again, 410, 'rest_answer_erased')
    assertFailure(soldAgain, 410, 'rest_answer_erased')
    assertFailure(await pay(), 410, 'rest_answer_erased')
    const [erased, stays] = manyAgain.body.split('\n', 2).map((line: string) => JSON.parse(line))
    assert.deepEqual([erased.line, erased.status, erased.code], [1, 410, 'rest_answer_erased'])
    assert.deepEqual(stays, results[1])
    assert.doesNotMatch(JSON.stringify([again.body, manyAgain.body, soldAgain.body]), /gone\.|Gonzalo/)
    const { body } = await service().get(`/affiliates?user_id=${user_id}&user=1`)
    assert.equal(body[0].user.user_login, `erased-${user_id}`)
    assert.deepEqual((await service().get('/affiliates?search=gone')).body, [])
  })

  test('what was said of one person - is erased with them, though the payout is another’s by now', async () => {
    const [one, other] = [
      await service().newAffiliate('said.of'),
      await service().newAffiliate('not.said.of'),
    ]
    const { id } = await service().newPayout(one.id, { amount: 1, note: 'a walrus' })
    const body = { affiliate_id: other.id, note: 'an otter' }
    assert.equal((await service().send('PATCH', `/payouts/${id}`, { body })).status, 200)
    const said = async () => {
      const { reader } = service().database
      const rows = await reader.selectFrom('events').select('personal').where('record_id', '=', id).execute()
      return (
        JSON.stringify(rows)
          .match(/walrus|otter/g)
          ?.sort() ?? []
      )
    }
    assert.deepEqual(await said(), ['otter', 'walrus', 'walrus'])
    await run(['users', 'erase', 'said.of@example.com', '--yes'])
    assert.deepEqual(await said(), ['otter'])
    await run(['users', 'erase', 'not.said.of@example.com', '--yes'])
    assert.deepEqual(await said(), [])
  })

  test('customers erase: also one who was deleted, of whom conversions and the log tell', async () => {
    const customer = { id: 'left 1', email: 'left@example.com', first_name: 'Leticia' }
    const sale = { kind: 'sale', context: 'left', reference: 'order 1', amount: 10, customer }
    const { customer_id: id } = (await service().post('/conversions', sale)).body.conversion
    assert.equal((await service().send('DELETE', `/customers/${id}`)).status, 200)
    const told = await run(['customers', 'export', `${id}`])
    assert.match(told.stdout, /Leticia/)
    const erased = await run(['customers', 'erase', `#${id}`], 'left@example.com\n')
    assert.equal(erased.code, 0, erased.stderr)
    for (const { name } of service().database.schema) {
      const { rows } = await sql`SELECT * FROM ${sql.table(name)}`.execute(service().database.reader)
      assert.doesNotMatch(JSON.stringify(rows), /left@|Leticia/, name)
    }
    assert.equal((await run(['customers', 'erase', '999', '--yes'])).code, 1)
  })

  test('in the area: a manager erases customers, an administrator accounts, and nobody their own', async () => {
    const admin = await service().admin()
    const manager = service().visitor()
    const account = {
      login: 'manager',
      email: 'manager@example.com',
      role: 'manager',
      password: ADMIN_PASSWORD,
    }
    const { id } = (await admin.post('/users', account)).body
    await manager.logIn('manager', ADMIN_PASSWORD)
    const { body: customer } = await service().post('/customers', { email: 'gone@example.com' })
    const path = `/erasures/customers/${customer.customer_id}`
    assert.equal((await manager.post(path)).status, 200)
    const { body } = await service().get(`/customers/${customer.customer_id}`)
    assert.equal(body.email, '')
    assertFailure(await manager.post('/erasures/customers/999'), 404, 'invalid_customer')
    assertFailure(await manager.post('/erasures/users/1'), 403, 'rest_forbidden')
    assertFailure(await admin.post('/erasures/users/1'), 400, 'rest_invalid_param')
    assert.equal((await admin.post(`/erasures/users/${id}`)).status, 200)
    assert.equal((await admin.get(`/users/${id}`)).body.login, `erased-${id}`)
    assertFailure(await manager.get('/session'), 401, 'rest_session_required')
  })

  test('the last administrator cannot be erased; another one can, and is out at once', async () => {
    const admin = await service().admin()
    const refused = await run(['users', 'erase', 'admin', '--yes'])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /last administrator/)
    const other = {
      login: 'other',
      email: 'other@example.com',
      role: 'administrator',
      password: ADMIN_PASSWORD,
    }
    const { database } = service()
    const created = await admin.post('/users', other)
    assert.equal(created.status, 201)
    const visitor = service().visitor()
    await visitor.logIn('other', ADMIN_PASSWORD)
    assert.equal((await visitor.get('/session')).status, 200)
    const { sessions, devices } = JSON.parse((await run(['users', 'export', 'other'])).stdout)
    assert.deepEqual([sessions.length, devices.length], [1, 1])
    assert.match(devices[0].expires, /^\d{4}-\d\d-\d\d /)
    assert.equal((await run(['users', 'erase', 'other', '--yes'])).code, 0)
    const known = database.reader.selectFrom('devices').where('user_id', '=', created.body.id)
    assert.deepEqual(await known.selectAll().execute(), [])
    assert.equal((await visitor.get('/session')).status, 401)
    assert.equal((await visitor.logIn('other', ADMIN_PASSWORD)).status, 401)
  })

  test('no row is left of them in a table that keeps none of an erased person', async () => {
    const { user_id } = await service().newAffiliate('vanishing')
    const { body: buyer } = await service().post('/customers', { email: 'vanishing@example.net', user_id })
    const ids: Readonly<Record<string, number>> = { users: user_id, customers: buyer.id }
    const { database } = service()
    const tables = schema.filter(({ removedWithPerson }) => removedWithPerson)
    const personIn = ({ columns }: Table) =>
      Object.entries<Column>(columns).find(([, { references }]) => references?.person)!
    await database.transaction(async tx => {
      for (const { name, columns } of tables) {
        const values = Object.values<Column>(columns).map(({ type, references }) => {
          const value = references?.person ? ids[references.table] : type === 'text' ? 'hers' : 1
          return sql`${value}`
        })
        const into = sql`${sql.table(name)} (${sql.join(Object.keys(columns).map(column => sql.ref(column)))})`
        await sql`INSERT INTO ${into} VALUES (${sql.join(values)})`.execute(tx)
      }
    })
    await erasePerson(operatorOf(database), user_id)
    const left: string[] = []
    for (const table of tables) {
      const [column, { references }] = personIn(table)
      const isTheirs = sql`${sql.ref(column)} = ${ids[references!.table]}`
      const { rows } = await sql`SELECT 1 FROM ${sql.table(table.name)} WHERE ${isTheirs}`.execute(
        database.reader,
      )
      if (rows.length > 0) left.push(table.name)
    }
    assert.deepEqual(left, [])
    const names = ['customer_names', 'devices', 'recovery_codes', 'second_factors', 'sessions']
    assert.deepEqual(tables.map(({ name }) => name).toSorted(), names)
  })
})

test('what is erased is nowhere in the file any more (SQLite)', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const file = join(folder.path, 'erased.db')
  const run = (...args: string[]) => runCommand([...args, '--database', `sqlite:${file}`])
  const names = ['--first-name', 'Zebedee', '--last-name', 'Zanzibar']
  await run('users', 'create', '--login', 'zebedee', '--email', 'zebedee@example.com', ...names)
  assert.match((await readFile(file)).toString('latin1'), /zanzibar/i)
  assert.equal((await run('users', 'erase', 'zebedee', '--yes')).code, 0)
  assert.doesNotMatch((await readFile(file)).toString('latin1'), /zanzibar|zebedee/i)
  assert.deepEqual(await readdir(folder.path), ['erased.db'])
})
