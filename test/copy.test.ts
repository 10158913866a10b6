import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { schema } from '../src/app.ts'
import { formatRate } from '../src/base/money.ts'
import { sealEntries } from '../src/events/seal.ts'
import { verifyChain } from '../src/events/verify.ts'
import { write } from '../src/events/write.ts'
import { copyDatabase } from '../src/operations/copy.ts'
import { erasePerson } from '../src/operations/privacy/rules.ts'
import { changeSettings, loadSettings } from '../src/settings/rules.ts'
import { type Tx, within } from '../src/storage/database.ts'
import {
  affiliated,
  engines,
  type FreshDatabase,
  openDatabase,
  operatorOf,
  type Service,
  startService,
  unopened,
} from './harness.ts'

const copied = schema.filter(({ copied }) => copied !== 'never').map(({ name }) => name)

for (const [from, to] of [
  ['SQLite', 'PostgreSQL'],
  ['PostgreSQL', 'SQLite'],
] as const) {
  describe(`copy from ${from} to ${to}`, () => {
    let service: Service
    let target: FreshDatabase
    /** What is copied by the command, which wants a source that no service has open. */
    let source: string
    before(async () => {
      service = await startService(from)
      target = await unopened[to]!()
      await affiliated([
        'demo',
        '--affiliates',
        '1500',
        '--payouts',
        '2500',
        '--database',
        service.databaseUrl,
      ])
      const { body } = await service.get('/payouts?order=desc&number=1')
      // The last identifier is gone, and must not come again.
      await service.delete(`/payouts/${body[0].id}`)
      await service.newAffiliate('ähnlich', { notes: 'a "quoted"\nnote 😀', rate: 0 })
      // The audit log is sealed within a second; a copy wants a source that nobody changes.
      await delay(1500)
      source = from === 'SQLite' ? await backedUp() : service.databaseUrl
    })
    after(async () => {
      await service.close()
      await target.remove()
    })

    async function backedUp(): Promise<string> {
      const file = `${service.databaseUrl.slice('sqlite:'.length)}.backup`
      await affiliated(['backup', file, '--database', service.databaseUrl])
      return `sqlite:${file}`
    }

    const copy = () => affiliated(['copy', '--json', '--from', source, '--to', target.url])

    test('a copy that was broken off goes on, and ends with everything', async () => {
      const [origin, aim] = await Promise.all([openDatabase(source), openDatabase(target.url)])
      const breakOff = (step: string, done: number) => {
        if (step === 'copying payouts' && done >= 1000) throw new Error('broken off')
      }
      await assert.rejects(copyDatabase(origin, aim, breakOff), /broken off/)
      await Promise.all([origin.close(), aim.close()])
      for (const args of [['serve', '--port', '0'], ['check'], ['users', 'list']]) {
        const refused = await affiliated([...args, '--database', target.url])
        assert.equal(refused.code, 1, args.join(' '))
        assert.match(refused.stderr, /^error: This database is a copy that is not complete/)
      }

      const { code, stdout, stderr } = await copy()
      assert.equal(code, 0, stderr)
      const rows: Record<string, number> = Object.fromEntries(
        JSON.parse(stdout).tables.map((one: { table: string; rows: number }) => [one.table, one.rows]),
      )
      for (const name of copied) {
        const query = sql<{ count: number }>`SELECT count(*) AS count FROM ${sql.table(name)}`
        const [counted] = (await query.execute(service.database.reader)).rows
        assert.equal(rows[name], counted!.count, name)
      }
      const { users, affiliates, payouts } = rows
      assert.deepEqual({ users, affiliates, payouts }, { users: 1502, affiliates: 1501, payouts: 2499 })
      assert.ok(rows.payout_referrals! > 2500 && rows.audit_seals! >= 1)
      const whole = await affiliated(['check', '--database', target.url])
      assert.equal(whole.code, 0, whole.stderr)
    })

    test('every table is declared, which says how it is copied', async () => {
      const { rows } = await sql<{ name: string }>`
        SELECT name FROM ${sql.raw(
          service.database.engine.name === 'SQLite'
            ? // Its search index is made of tables, and written anew.
              "sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'search\\_%' ESCAPE '\\'"
            : "(SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public') AS tables",
        )}`.execute(service.database.reader)
      const known = [...schema.map(({ name }) => name), 'schema_version']
      assert.deepEqual(rows.map(({ name }) => name).sort(), known.sort())
    })

    test('a service on the copy answers as the one on the original, and gives out new identifiers', async () => {
      const copied = await openDatabase(target.url)
      const ids = await Promise.all(
        [service.database, copied].map(({ engine, reader }) => engine.lastIdentity(reader, 'payouts')),
      )
      assert.deepEqual(ids, [2500, 2500])
      const lists = await Promise.all(
        [service.database, copied].map(({ reader }) =>
          reader
            .selectFrom('affiliates')
            .selectAll()
            .orderBy('payment_email', 'desc')
            .orderBy('id')
            .execute(),
        ),
      )
      // The drivers make their rows in different ways.
      const [original, copy] = lists.map(list => list.map(row => ({ ...row })))
      assert.deepEqual(copy, original)
      const key = await copied.reader.selectFrom('api_keys').selectAll().execute()
      assert.equal(key[0]?.public_key, service.key.publicKey)
      await copied.close()
    })

    test('a target with data is refused, and left as it is', async () => {
      const { code, stderr } = await copy()
      assert.equal(code, 1)
      assert.match(
        stderr,
        /^error: The target has or had data \(users\)\. Copy into a database that is new\.$/m,
      )
    })

    test('a database is not copied into itself', async () => {
      const { code, stderr } = await affiliated(['copy', '--from', source, '--to', source])
      const problem = 'error: --from and --to name the same database.'
      assert.deepEqual([code, stderr], [2, `${problem}\nAdd --help to see what the command takes.\n`])
    })

    test('a database that another process has open is refused', async () => {
      const [open, other] = from === 'SQLite' ? [service.databaseUrl, target.url] : [target.url, source]
      const opened = await openDatabase(open)
      const pair = from === 'SQLite' ? ['--from', open, '--to', other] : ['--from', other, '--to', open]
      const { code, stderr } = await affiliated(['copy', ...pair])
      await opened.close()
      assert.equal(code, 1)
      assert.match(stderr, /^error: The database .* is in use; stop the service first\.$/m)
    })

    test('a source that changes meanwhile is noticed, and nothing half is left', async () => {
      const fresh = await unopened[to]!()
      const aim = await openDatabase(fresh.url)
      let changed = false
      const change = (step: string) => {
        if (step !== 'copying payouts' || changed) return
        changed = true
        void service.patch('/affiliates/1', { notes: 'changed' })
      }
      const slowly = async () => {
        await service.patch('/affiliates/1', { notes: 'before' })
        return copyDatabase(service.database, aim, change)
      }
      await assert.rejects(
        slowly(),
        /The table (affiliates|events|audit_\w+) was changed while it was copied/,
      )
      assert.deepEqual(await aim.reader.selectFrom('affiliates').select('id').execute(), [])
      await sealEntries(service.database)
      await copyDatabase(service.database, aim, () => {})
      await aim.close()
      await fresh.remove()
    })

    test('settings that were changed while a copy was broken off are copied as they are', async () => {
      const { aim, breakOff, end } = await brokenOff()
      await breakOff()
      const settings = operatorOf(service.database)
      await changeSettings(settings, { default_rate: 31, rate_types: ['flat', 'percentage', 'tiered'] })
      await sealEntries(service.database)
      await copyDatabase(service.database, aim, () => {})
      const { defaultRate, rateTypes } = await loadSettings(aim.reader)
      assert.deepEqual([formatRate(defaultRate), rateTypes], ['31', ['flat', 'percentage', 'tiered']])
      await end()
    })

    test('a person who was erased while a copy was broken off calls for a new target', async () => {
      const { aim, breakOff, end } = await brokenOff()
      const { user_id } = await service.newAffiliate(`leaving-${from.toLowerCase()}`)
      await breakOff()
      await erasePerson(operatorOf(service.database), user_id)
      await sealEntries(service.database)
      for (let time = 0; time < 2; time += 1) {
        await assert.rejects(
          copyDatabase(service.database, aim, () => {}),
          /events is no longer what the source has.* new, empty one/,
        )
      }
      await end()
    })

    async function brokenOff() {
      const fresh = await unopened[to]!()
      const aim = await openDatabase(fresh.url)
      const breakOff = async () => {
        await sealEntries(service.database)
        const atTheCheck = (step: string) => {
          if (step.startsWith('checking')) throw new Error('broken off')
        }
        await assert.rejects(copyDatabase(service.database, aim, atTheCheck), /broken off/)
      }
      const end = async () => {
        await aim.close()
        await fresh.remove()
      }
      return { aim, breakOff, end }
    }
  })
}

test('what was committed late, and not sealed before the service was killed, is sealed in the copy', async t => {
  const source = await engines.PostgreSQL!()
  const database = await openDatabase(source.url)
  const target = await engines.SQLite!()
  const copy = await openDatabase(target.url)
  t.after(async () => {
    await Promise.all([database.close(), copy.close()])
    await Promise.all([source.remove(), target.remove()])
  })
  const log = (id: number, tx?: Tx) =>
    write(operatorOf(tx ? within(database, tx) : database), async inner => inner.log('user.create', id))
  const [goOn, began] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const late = database.transaction(async tx => {
    await log(1, tx)
    await sql`SELECT 1`.execute(tx)
    began.resolve()
    await goOn.promise
  })
  await began.promise
  await log(2)
  await sealEntries(database)
  goOn.resolve()
  await late
  await copyDatabase(database, copy, () => {})
  const verdict = await verifyChain(copy.reader)
  assert.deepEqual([verdict.problem, verdict.entries, verdict.unsealed], [undefined, 2, 0])
})
