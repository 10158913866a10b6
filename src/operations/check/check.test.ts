/** What was changed beside the service is found, and named. */
import assert from 'node:assert/strict'
import { chmodSync, cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import {
  describeService,
  engines,
  giveSecretKey,
  openDatabase,
  operatorOf,
  serviceOn,
  temporaryFolder,
  withoutTable,
} from '../../../test/harness.ts'
import { until } from '../../../test/load.ts'
import { createKey } from '../../accounts/keys/rules.ts'
import { features } from '../../app.ts'
import { countAnew } from '../../events/counts.ts'
import { sealAll } from '../../events/seal.ts'
import { verifyChain } from '../../events/verify.ts'
import type { Engine } from '../../storage/database.ts'
import { fillWithDemo } from '../demo/demo.ts'
import { erasePerson } from '../privacy/rules.ts'
import { checkDatabase, repair } from './rules.ts'

type Damage = [damage: string, mend: string, named: RegExp]

/** What stands in the place of what the program made, under its name. */
const objectDamages: Record<Engine['name'], Damage[]> = {
  SQLite: [
    [
      'DROP INDEX "links.code_key";\nCREATE INDEX "links.code_key" ON links (code_key)',
      'DROP INDEX "links.code_key";\nCREATE UNIQUE INDEX "links.code_key" ON links (code_key)',
      /Schema: index links.code_key was changed/,
    ],
  ],
  PostgreSQL: [
    [
      'DROP INDEX "links.code_key";\nCREATE INDEX "links.code_key" ON links (code_key)',
      'DROP INDEX "links.code_key";\nCREATE UNIQUE INDEX "links.code_key" ON links (code_key)',
      /Schema: index links.code_key was changed/,
    ],
    [
      'ALTER TABLE links ADD COLUMN extra bigint',
      'ALTER TABLE links DROP COLUMN extra',
      /^Schema: links was changed: it is "…, destination text [^,]*, extra bigint, id [^,]*, …", and must be "…, destination text [^,]*, id [^,]*, …"; restore a backup\.$/m,
    ],
    [
      'CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
      `CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'The audit log is only added to.'; END $$`,
      /Schema: trigger events_delete of events was changed: .*RETURN NEW/,
    ],
    [
      'ALTER TABLE audit_seals DISABLE TRIGGER audit_seals_update',
      'ALTER TABLE audit_seals ENABLE ALWAYS TRIGGER audit_seals_update',
      /Schema: trigger audit_seals_update of audit_seals was changed: .*disabled/,
    ],
    [
      'CREATE RULE no_entries AS ON INSERT TO events DO INSTEAD NOTHING',
      'DROP RULE no_entries ON events',
      /Schema: rule no_entries of events was added/,
    ],
    [
      'ALTER TABLE payouts DROP CONSTRAINT payouts_amount_check',
      'ALTER TABLE payouts ADD CONSTRAINT payouts_amount_check CHECK (amount >= 0)',
      /Schema: constraint payouts_amount_check of payouts is missing/,
    ],
  ],
}

describeService('check', service => {
  const problems = async () => (await checkDatabase(service().database, features)).problems
  const run = (statements: string) =>
    service().database.transaction(async tx => {
      for (const statement of statements.split(';\n')) await sql.raw(statement).execute(tx)
    })

  test('names each value, record and object that was changed beside the service', async () => {
    const { database } = service()
    // Otherwise what is damaged below could be counted.
    await countAnew(database)
    const { id } = await service().newAffiliate('checked')
    const notes = 'longer than other texts in the log '.repeat(100)
    await service().patch(`/affiliates/${id}`, { rate: 20, payment_email: 'paid@example.com', notes })
    const sale = { context: 'checked', reference: 'order 1', amount: 9.99 }
    const sold = await service().post('/conversions', { kind: 'sale', ...sale, affiliate_id: id })
    await service().patch(`/affiliates/${id}`, { status: 'active' })
    const earning = await service().post('/conversions', {
      kind: 'sale',
      ...sale,
      reference: 'order 2',
      references: ['session 2'],
      affiliate_id: id,
    })
    await service().post('/conversions', { kind: 'refund', ...sale, reference: 'order 2', part: 'all' })
    const refunded = await service().patch(`/referrals/${earning.body.referrals[0].referral_id}`, {
      amount: 100,
    })
    assert.deepEqual([sold.status, refunded.status, refunded.body.status], [201, 200, 'rejected'])
    await service().post('/links', { affiliate_id: id, code: 'spring' })
    const custom = { note: 'longer than the log keeps a text '.repeat(100) }
    await service().post('/referrals', { affiliate_id: id, custom })
    const gone = await service().newAffiliate('gone')
    await service().delete(`/affiliates/${gone.id}`)
    const erased = await service().newAffiliate('erased')
    await service().delete(`/affiliates/${erased.id}`)
    await erasePerson(operatorOf(database), erased.user_id)
    const payout = await service().newPayout(id, { amount: 5 })
    const { body: rule } = await service().post('/rules', {
      name: 'tried',
      rate_type: 'percentage',
      rate: 12,
    })
    const { body: newer } = await service().patch(`/rules/${rule.id}`, { rate: 13 })
    assert.notEqual(newer.id, rule.id)
    await (await service().admin()).patch('/settings', { default_rate: 25 })
    const permissions = ['payouts.read']
    const { key } = await createKey(
      operatorOf(database),
      { user_id: 1, name: 'reads', permissions },
      permissions,
    )
    assert.deepEqual(await problems(), [])
    const wrong: Damage[] = [
      [
        "UPDATE payment_names SET name = 'gone' WHERE name = 'order 1'",
        "UPDATE payment_names SET name = 'order 1' WHERE name = 'gone'",
        new RegExp(`conversions ${sold.body.conversion.id}: its names are not all of one payment`),
      ],
      [
        "UPDATE payment_names SET payment_id = 'other' WHERE name = 'session 2'",
        "UPDATE payment_names SET payment_id = (SELECT payment_id FROM payment_names WHERE name = 'order 2') WHERE name = 'session 2'",
        new RegExp(`conversions ${earning.body.conversion.id}: its names are not all of one payment`),
      ],
      [
        'UPDATE affiliates SET rate = 900000',
        'UPDATE affiliates SET rate = 200000',
        /affiliates \d+: .* rate \("90", and the log says "20"\)/,
      ],
      [
        `UPDATE affiliates SET payment_email = 'x@y.z', payment_email_key = 'x@y.z' WHERE id = ${id}`,
        `UPDATE affiliates SET payment_email = 'paid@example.com', payment_email_key = 'paid@example.com' WHERE id = ${id}`,
        /affiliates \d+: not what the log says: .*payment_email/,
      ],
      [
        `UPDATE payouts SET note = 'by hand' WHERE id = ${payout.id}`,
        `UPDATE payouts SET note = '' WHERE id = ${payout.id}`,
        /payouts \d+: not what the log says: .*note/,
      ],
      [
        `UPDATE users SET email = 'x@y.z', email_key = 'x@y.z' WHERE id = (SELECT user_id FROM affiliates WHERE id = ${id})`,
        `UPDATE users SET email = 'checked@example.com', email_key = 'checked@example.com' WHERE id = (SELECT user_id FROM affiliates WHERE id = ${id})`,
        /users \d+: not what the log says: .*email/,
      ],
      [
        `UPDATE rules SET rate_type = 'flat' WHERE id = ${newer.id}`,
        `UPDATE rules SET rate_type = 'percentage' WHERE id = ${newer.id}`,
        /rules \d+: not what the log says: rate_type \("flat", and the log says "percentage"\)/,
      ],
      [
        `UPDATE payouts SET amount = 1 WHERE id = ${payout.id}`,
        `UPDATE payouts SET amount = 500 WHERE id = ${payout.id}`,
        /payouts \d+: not what the log says: amount/,
      ],
      [
        `UPDATE users SET role = 'administrator' WHERE id = (SELECT user_id FROM affiliates WHERE id = ${id})`,
        `UPDATE users SET role = '' WHERE id > 1`,
        /users \d+: not what the log says: role/,
      ],
      [
        `UPDATE api_keys SET permissions = 'payouts.read,payouts.create' WHERE id = ${key.id}`,
        `UPDATE api_keys SET permissions = 'payouts.read' WHERE id = ${key.id}`,
        /api_keys \d+: not what the log says: permissions/,
      ],
      [
        `UPDATE users SET first_name = 'Known' WHERE id = ${erased.user_id}`,
        `UPDATE users SET first_name = '' WHERE id = ${erased.user_id}`,
        /users \d+: erased according to the log/,
      ],
      [
        "UPDATE settings SET value = '90' WHERE name = 'default_rate'",
        "UPDATE settings SET value = '25' WHERE name = 'default_rate'",
        /settings: default_rate is "90", and the log says "25"/,
      ],
      [
        'DROP INDEX payouts_amount',
        'CREATE INDEX payouts_amount ON payouts (amount, id, status)',
        /Schema: index payouts_amount is missing/,
      ],
      [
        "INSERT INTO settings (name, value) VALUES ('payment_details_days', '7')",
        "DELETE FROM settings WHERE name = 'payment_details_days'",
        /settings: payment_details_days is 7, and the log does not say that it was ever set, so it must be/,
      ],
      ...objectDamages[database.engine.name],
      [
        `INSERT INTO payouts (id, affiliate_id, referrals, amount, payout_method, payout_method_key, status, owner, created_at, updated_at)
          VALUES (900, ${id}, '', 1, '', '', 'failed', 1, 1, 1)`,
        'DELETE FROM payouts WHERE id = 900',
        /payouts 900: no entry of the log says who made it/,
      ],
    ]
    for (const [damage] of wrong) await run(damage)
    const all = await problems()
    for (const [, , named] of wrong) {
      assert.ok(
        all.some(problem => named.test(problem)),
        `${named} in ${all.join('\n')}`,
      )
    }
    for (const [, mend] of wrong) await run(mend)
    assert.deepEqual(await problems(), [])
    await run(`DELETE FROM payouts WHERE id = ${payout.id}`)
    assert.match(
      (await problems()).join('\n'),
      /payouts \d+: the log says that it exists, and it is not there/,
    )
  })

  test('search keys that are stale are written anew', async () => {
    await run("UPDATE users SET login_key = 'other' WHERE id = 1")
    assert.match(
      (await problems()).join('\n'),
      /users 1: stale search key of login; run `affiliated check --repair`/,
    )
    assert.deepEqual(await repair(service().database), { repaired: 1, failed: [] })
    assert.doesNotMatch((await problems()).join('\n'), /stale/)
  })

  test('search keys that another row has stay, and keep no other from being written anew', async () => {
    const [one, two] = [await service().newAffiliate('twin.one'), await service().newAffiliate('twin.two')]
    await run(`UPDATE links SET code = '${one.id}' WHERE code = '${two.id}'`)
    await run("UPDATE users SET login_key = 'other' WHERE id = 1")
    const { repaired, failed } = await repair(service().database)
    assert.equal(repaired, 1)
    assert.match(failed.join('\n'), /^links \d+: its search key cannot be written anew: .+$/)
    await run(`UPDATE links SET code = '${two.id}' WHERE code_key = '${two.id}'`)
    const credit = (id: number) => run(`UPDATE links SET affiliate_id = ${id} WHERE code_key = '${two.id}'`)
    await credit(one.id)
    assert.match(
      (await problems()).join('\n'),
      new RegExp(
        `links \\d+: it is the default link of affiliate ${two.id}, and credits affiliate ${one.id}`,
      ),
    )
    await credit(two.id)
    assert.doesNotMatch((await problems()).join('\n'), /stale/)
  })
})

describeService('check of a demo', service => {
  test('nothing is wrong, nor in a currency whose decimals are not those of the default', async () => {
    const admin = await service().admin()
    assert.equal((await admin.patch('/settings', { currency: 'KWD' })).status, 200)
    // So large that its indexes are made at the end.
    await fillWithDemo(service().database, features, { affiliates: 1000, payouts: 4000 })
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })
})

for (const engine of Object.keys(engines)) {
  test(`names a table that is missing, and says that the rest was not checked (${engine})`, async t => {
    const service = await serviceOn(await engines[engine]!())
    t.after(() => service.close())
    await withoutTable(service, 'payouts', async () => {
      const { problems } = await checkDatabase(service.database, features)
      assert.ok(problems.some(problem => /^Schema: .*payouts is missing; restore a backup\.$/.test(problem)))
      assert.match(problems.at(-1)!, /^What comes after it was not checked: .*payouts.*\.$/)
    })
  })

  test(`only reads: nothing is sealed, written or migrated (${engine})`, async t => {
    const fresh = await engines[engine]!()
    const service = await serviceOn(fresh)
    t.after(() => service.close())
    const database = await openDatabase(fresh.url, { existing: true, readOnly: true })
    t.after(() => database.close())
    assert.deepEqual((await checkDatabase(database, features)).problems, [])
    await assert.rejects(database.transaction(tx => sql`DELETE FROM api_keys`.execute(tx)))
    const old = sql`UPDATE schema_version SET version = version - 1`
    await service.database.transaction(tx => old.execute(tx))
    await assert.rejects(
      openDatabase(fresh.url, { existing: true, readOnly: true }),
      /run `affiliated migrate`/,
    )
    await service.database.transaction(tx => sql`UPDATE schema_version SET version = version + 1`.execute(tx))
  })
}

test('reads from a folder that can only be read (SQLite)', async t => {
  const folder = await temporaryFolder()
  t.after(() => {
    chmodSync(folder.path, 0o700)
    return folder.remove()
  })
  const database = await openDatabase(`sqlite:${join(folder.path, 'a.db')}`)
  await database.close()
  assert.ok(!existsSync(join(folder.path, 'a.db-wal')))
  cpSync(join(folder.path, 'a.db'), join(folder.path, 'b.db'))
  chmodSync(join(folder.path, 'b.db'), 0o400)
  chmodSync(folder.path, 0o500)
  const copy = await openDatabase(`sqlite:${join(folder.path, 'b.db')}`, { existing: true, readOnly: true })
  assert.equal((await verifyChain(copy.reader)).problem, undefined)
  assert.deepEqual((await checkDatabase(copy, features)).problems, [])
  await copy.close()
})

describeService('check of what nobody can edit', service => {
  giveSecretKey()
  test('what was reported, approved and entered is compared with the log', async () => {
    const { database } = service()
    const { id } = await service().newAffiliate('payee', { status: 'active' })
    const sale = {
      kind: 'sale',
      context: 'checked',
      reference: 'order',
      amount: 9.99,
      tax: 1,
      affiliate_id: id,
    }
    const posted = async (path: string, body: object) => {
      const reply = await service().post(path, body)
      assert.ok(reply.status < 300, JSON.stringify(reply.body))
      return reply.body
    }
    await posted('/conversions', sale)
    await service().patch('/referrals/1', { status: 'unpaid' })
    // Counted without an event.
    await (await service().admin()).patch('/settings', { programme_page: 'https://shop.example/' })
    const { code } = await posted('/links', { affiliate_id: id })
    const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36' }
    await fetch(`${service().url}/r/${code}`, { redirect: 'manual', headers: browser })
    await until(async () => (await service().get('/links')).body.some(({ visits }: any) => visits > 0))
    await posted('/payment-details', {
      affiliate_id: id,
      method: 'paypal',
      holder: 'P',
      paypal_email: 'p@example.com',
    })
    const run = await posted('/payout-runs', { method: 'csv' })
    await posted(`/payout-runs/${run.id}/approve`, { hash: run.hash })
    await until(async () => (await service().get(`/payout-runs/${run.id}`)).body.status === 'approved')
    const problems = async () => (await checkDatabase(database, features)).problems
    // The service would write over the end of the chain with the next seal.
    await sealAll(database)
    assert.deepEqual(await problems(), [])
    await database.transaction(async tx => {
      for (const statement of [
        ...database.engine.allowChanges('conversions'),
        `UPDATE conversions SET amount = 9990, tax = 7, currency = 'EUR'`,
        'UPDATE payout_runs SET approved_by = 99, amount = 7, closed_at = 7',
        'UPDATE payment_details SET usable_from = 7',
        `UPDATE referrals SET products = '[]1'`,
        `UPDATE audit_chain SET missing = 'x'`,
      ])
        await sql.raw(statement).execute(tx)
    })
    const found = (await problems()).join('\n')
    for (const named of [
      /conversions 1: .*amount \(99.9, and the log says 9.99\), currency \("EUR", .*, tax \(/,
      /payout_runs 1: .*amount \(0.07, .*approved_by \(99, and the log says 1\), closed_at/,
      /payment_details 1: .*usable_from/,
      /referrals: a value is damaged, and what comes after it was not checked: /,
      /Audit log: The end of the chain was changed: what it waits for is "x"/,
    ])
      assert.match(found, named)
  })
})

describeService('check of a payout that is created as failed, by a payout run', service => {
  test('its first event says the whole record, as any that creates one', async () => {
    const { database } = service()
    const { id: affiliate_id } = await service().newAffiliate('payee', { status: 'active' })
    const posted = async (path: string, body: object) => {
      const reply = await service().post(path, body)
      assert.ok(reply.status < 300, JSON.stringify(reply.body))
      return reply.body
    }
    const ended = async (status: string) => {
      await posted('/referrals', { affiliate_id, amount: 5, status: 'unpaid' })
      const run = await posted('/payout-runs', { method: 'csv' })
      await posted(`/payout-runs/${run.id}/approve`, { hash: run.hash })
      const [item] = (await service().get(`/payout-runs/${run.id}/items`)).body
      return (await posted(`/run-items/${item.id}`, { status })).payout_id as number
    }
    const payouts = [await ended('failed'), await ended('returned')]
    const paid = await ended('paid')
    const { id } = (await service().get(`/run-items?payout_id=${paid}`)).body[0]
    await posted(`/run-items/${id}`, { status: 'returned' })
    const events = (await service().get('/events?record=payout&number=1000')).body
    assert.deepEqual(
      events.map(({ type, record_id, data, changes }: any) => [
        type,
        record_id,
        data?.status ?? changes?.status,
      ]),
      [
        ['payout.fail', payouts[0], 'failed'],
        ['payout.return', payouts[1], 'failed'],
        ['payout.create', paid, 'paid'],
        ['payout.return', paid, ['paid', 'failed']],
      ],
    )
    const problems = async () => (await checkDatabase(database, features)).problems
    assert.deepEqual(await problems(), [])
    await database.transaction(async tx => {
      for (const statement of [
        `UPDATE payouts SET note = 'by hand' WHERE id = ${payouts[0]}`,
        `INSERT INTO payouts (id, affiliate_id, referrals, amount, payout_method, payout_method_key, status, owner, created_at, updated_at)
          VALUES (${payouts[0]! + 900}, ${affiliate_id}, '', 1, '', '', 'failed', 1, 1, 1)`,
      ])
        await sql.raw(statement).execute(tx)
    })
    const found = (await problems()).join('\n')
    assert.match(found, new RegExp(`payouts ${payouts[0]}: not what the log says: note`))
    assert.match(found, new RegExp(`payouts ${payouts[0]! + 900}: no entry of the log says who made it`))
  })
})

describeService('check of a long text that was logged whole, as until 0.2', service => {
  test('nothing is wrong, and a change of it is told briefly', async () => {
    const { database } = service()
    const affiliate_id = (await service().newAffiliate('many-referrals')).id
    const referrals = Array.from({ length: 500 }, (_, index) => 10_000 + index).join()
    const admin = await service().admin()
    const { id } = (await admin.post('/payouts', { affiliate_id, amount: 5, referrals })).body
    const { rows } = await sql<{ after_values: string }>`SELECT after_values FROM events
      WHERE record_kind = 'payout' AND record_id = ${id}`.execute(database.reader)
    const whole = JSON.stringify({ ...JSON.parse(rows[0]!.after_values), referrals })
    await database.transaction(async tx => {
      for (const statement of [
        ...database.engine.allowChanges('events'),
        `UPDATE events SET after_values = '${whole}' WHERE record_kind = 'payout' AND record_id = ${id}`,
      ])
        await sql.raw(statement).execute(tx)
    })
    const ofPayouts = async () =>
      (await checkDatabase(database, features)).problems.filter(problem => problem.startsWith('payouts'))
    assert.deepEqual(await ofPayouts(), [])
    await database.transaction(tx =>
      sql`UPDATE payouts SET referrals = ${`${referrals},7`} WHERE id = ${id}`.execute(tx),
    )
    const changed = (await ofPayouts()).join('\n')
    assert.match(changed, /referrals \("sha256:.* characters\)", and the log says "sha256:/)
    assert.doesNotMatch(changed, /10001/)
  })
})

describeService('check of a record that is older than one of its fields', service => {
  test('nothing is wrong with what its log could not have', async () => {
    const { database } = service()
    const { id } = await service().newAffiliate('older')
    const change = `UPDATE events SET after_values = replace(after_values, '"group_id":0', '"other":0')
      WHERE record_kind = 'affiliate' AND record_id = ${id}`
    await database.transaction(async tx => {
      for (const statement of [...database.engine.allowChanges('events'), change])
        await sql.raw(statement).execute(tx)
    })
    const { rows } = await sql<{ after_values: string }>`SELECT after_values FROM events
      WHERE record_kind = 'affiliate' AND record_id = ${id}`.execute(database.reader)
    assert.match(rows[0]!.after_values, /"other":0/)
    const { problems } = await checkDatabase(database, features)
    assert.deepEqual(
      problems.filter(problem => problem.startsWith('affiliates')),
      [],
    )
    // JSON, and not what it has to be: the rest is checked none the less.
    await database.transaction(tx =>
      sql`UPDATE events SET after_values = 'null' WHERE record_kind = 'affiliate' AND record_id = ${id}`.execute(
        tx,
      ),
    )
    const damaged = (await checkDatabase(database, features)).problems.join('\n')
    assert.match(damaged, /affiliates: a value is damaged, and what comes after it was not checked: /)
  })
})

describeService('check while the service writes', service => {
  test('finds nothing in a record that is edited all the time', async t => {
    const { id } = await service().newAffiliate('busy', { rate: 1 })
    let isOver = false
    const editing = Array.from({ length: 4 }, async (_, editor) => {
      for (let time = 0; !isOver; time += 1) {
        const { status } = await service().patch(`/affiliates/${id}`, { rate: editor + (time % 10) })
        assert.equal(status, 200)
      }
    })
    t.after(async () => {
      isOver = true
      await Promise.all(editing)
    })
    for (let time = 0; time < 10; time += 1) {
      assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
    }
  })
})
