/** What becomes of the data of earlier versions. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { balancesOf } from '../../src/programme/ledger/rules.ts'
import type { Database, Tx } from '../../src/storage/database.ts'
import { assumedCurrencies } from '../../src/storage/migrations/conversions.ts'
import { salesMonths } from '../../src/storage/migrations/sales-months.ts'
import { visitDaysOfAll } from '../../src/storage/migrations/visit-days.ts'
import { migrate, migrations } from '../../src/storage/migrations.ts'
import { openPostgres } from '../../src/storage/postgres/database.ts'
import { BUSY_TIMEOUT_MS } from '../../src/storage/sqlite/connect.ts'
import { openSqlite } from '../../src/storage/sqlite/database.ts'
import { type FreshDatabase, openDatabase, runCommand, unopened } from '../harness.ts'
import { until } from '../load.ts'

/** The schema of 0.1. */
const VERSION_OF_0_1 = 5
const logOf01 = new URL('../fixtures/log-of-0.1.json', import.meta.url)

const open = (url: string): Database | Promise<Database> =>
  url.startsWith('sqlite:') ? openSqlite(url, [], {}) : openPostgres(url, [], {})

const first =
  "INSERT INTO affiliates VALUES (1, 1, NULL, NULL, '', '', 'active', 999, 12345, 77, 900, '', 10, 10)"
const payouts = [
  [1, 1, '1,2,3', 1000, 'paid', 100],
  [2, 1, '', 500, 'failed', 200],
  [3, 1, '1000', 250, 'paid', 300],
  // To one who is gone, and with a number that nobody gave out.
  [4, 9, '2000000000000', 4, 'paid', 400],
  [5, 1, '', 0, 'paid', 500],
] as const

async function fillAsBefore(tx: Tx): Promise<void> {
  const run = (statement: string) => sql.raw(statement).execute(tx)
  await run(
    "INSERT INTO users VALUES (1, 'a', 'a', 'a@b.co', 'a@b.co', 'Zoë', '', 'Zoë', 'zoë', 'administrator', '', 1, 1)",
  )
  await run(first)
  for (const [id, affiliate, referrals, amount, status, at] of payouts) {
    await run(
      `INSERT INTO payouts VALUES (${id}, ${affiliate}, '${referrals}', ${amount}, '', '', '${status}', 1, ${at}, ${at})`,
    )
    for (const referral of referrals.split(',').filter(Boolean)) {
      await run(`INSERT INTO payout_referrals (referral_id, payout_id) VALUES (${referral}, ${id})`)
    }
  }
}

/** Made by 0.1, and opened by this version. */
async function databaseOf01(t: TestContext, { url, remove }: FreshDatabase): Promise<Database> {
  t.after(remove)
  const old = await open(url)
  await migrate(old, { last: VERSION_OF_0_1 })
  await old.transaction(fillAsBefore)
  await old.close()
  const database = await openDatabase(url)
  t.after(() => database.close())
  return database
}

for (const [engine, fresh] of Object.entries(unopened)) {
  describe(`a database of 0.1 (${engine})`, () => {
    test('its payouts become transfers at their dates, and nobody has earned or is owed anything', async t => {
      const database = await databaseOf01(t, await fresh())
      const { reader } = database
      const transfers = await reader.selectFrom('ledger_transfers').selectAll().orderBy('id').execute()
      const alike = { debit: 'external', credit: 'paid_out', reason: 'payout.create' }
      const none = { referral_id: null, run_item_id: null, event_id: null }
      assert.deepEqual(
        transfers.map(({ id, ...transfer }) => ({ ...transfer })),
        [
          { affiliate_id: 1, amount: 1000, ...alike, payout_id: 1, ...none, at: 100 },
          { affiliate_id: 1, amount: 250, ...alike, payout_id: 3, ...none, at: 300 },
          { affiliate_id: 9, amount: 4, ...alike, payout_id: 4, ...none, at: 400 },
        ],
      )
      const zero = {
        commission: 0n,
        pending: 0n,
        unpaid: 0n,
        reserved: 0n,
        paid_out: 0n,
        external: 0n,
        difference: 0n,
        written_off: 0n,
      }
      assert.deepEqual(await balancesOf(reader, 1), { ...zero, external: -1250n, paid_out: 1250n })
      assert.deepEqual(await balancesOf(reader, 1, 299), { ...zero, external: -1000n, paid_out: 1000n })
      assert.deepEqual(await balancesOf(reader, 1, 99), zero)
      assert.deepEqual(await balancesOf(reader, 9), { ...zero, external: -4n, paid_out: 4n })
      const affiliate = await reader
        .selectFrom('affiliates')
        .select(['earnings', 'unpaid_earnings', 'referrals', 'visits', 'updated_at'])
        .executeTakeFirstOrThrow()
      assert.deepEqual(
        { ...affiliate },
        { earnings: 0, unpaid_earnings: 0, referrals: 0, visits: 0, updated_at: 10 },
      )
    })

    test('names are found without their accents', async t => {
      const database = await databaseOf01(t, await fresh())
      const user = await database.reader.selectFrom('users').selectAll().executeTakeFirstOrThrow()
      assert.deepEqual([user.display_name, user.display_name_key, user.role], ['Zoë', 'zoe', 'administrator'])
    })

    test('no new referral has a number that a payout names', async t => {
      const database = await databaseOf01(t, await fresh())
      assert.equal(await database.engine.lastIdentity(database.reader, 'referrals'), 1000)
      const known = await database.reader.selectFrom('payout_referrals').select('known').distinct().execute()
      assert.deepEqual(
        known.map(row => row.known),
        [0],
      )
    })

    test('visits that were recorded before there were sums of all days are in them', async t => {
      const { url, remove } = await fresh()
      t.after(remove)
      const old = await open(url)
      await migrate(old, { last: migrations.indexOf(visitDaysOfAll) })
      await old.transaction(async tx => {
        for (const [id, referral, at] of [
          [1, 0, -1],
          [2, 7, 86_399],
          [3, 0, 86_400],
          [4, 0, 172_799],
        ]) {
          await sql
            .raw(
              `INSERT INTO visits (id, affiliate_id, referral_id, rest_id, url, url_key, referrer, referrer_key, campaign, context, ip, created_at, updated_at)
                VALUES (${id}, 1, ${referral}, '', '', '', '', '', 'c', '', '', ${at}, 0)`,
            )
            .execute(tx)
        }
        await sql.raw("INSERT INTO visit_days VALUES (1, 1, 'c', 5, 4, 3)").execute(tx)
      })
      await old.close()
      const database = await openDatabase(url)
      t.after(() => database.close())
      for (const table of ['visit_days', 'visit_totals'] as const) {
        const days = await database.reader.selectFrom(table).selectAll().orderBy('day').execute()
        assert.deepEqual(
          days.map(({ day, visits, unique_visits, converted }) => [day, visits, unique_visits, converted]),
          [
            [-1, 1, 1, 0],
            [0, 1, 1, 1],
            [1, 7, 6, 3],
          ],
        )
      }
    })

    test('what was sold before there were sums of months is in them', async t => {
      const { url, remove } = await fresh()
      t.after(remove)
      const old = await open(url)
      await migrate(old, { last: migrations.indexOf(salesMonths) })
      await old.transaction(async tx => {
        for (const [status, type, total, at] of [
          ['paid', 'sale', 1_500_000, -1],
          ['pending', 'lead', 'NULL', 0],
          ['unpaid', 'sale', 2_600_000, 2_678_399],
          ['rejected', 'sale', 7, 5],
          ['unpaid', 'refund', 7, 5],
          ['unpaid', 'sale', 7, 2_678_400],
        ]) {
          await sql
            .raw(
              `INSERT INTO referrals (affiliate_id, visit_id, rest_id, customer_id, parent_id, description, description_key, status, amount, currency,
                custom, context, campaign, reference, reference_key, products, created_at, type, payout_id, order_total, reason, run_item_id,
                unique_reference, request_hash, updated_at)
                VALUES (1, 0, '', 0, 0, '', '', '${status}', 1, 'USD', '', '', '', '', '', '', ${at}, '${type}', 0, ${total}, '', 0, 0, '', 0)`,
            )
            .execute(tx)
        }
      })
      await old.close()
      const database = await openDatabase(url)
      t.after(() => database.close())
      const months = await database.reader.selectFrom('sales_months').selectAll().orderBy('month').execute()
      assert.deepEqual(
        months.map(({ month, sales, volume_parts, volume_rest }) => [
          month,
          sales,
          volume_parts,
          volume_rest,
        ]),
        [
          [-2_678_400, 1, 1, 500_000],
          [0, 2, 2, 600_000],
          [2_678_400, 1, 0, 7],
        ],
      )
    })

    test('a refund that was reported before it was kept who named its currency - keeps the one that it has', async t => {
      const { url, remove } = await fresh()
      t.after(remove)
      const old = await open(url)
      await migrate(old, { last: migrations.indexOf(assumedCurrencies) })
      await old.transaction(tx =>
        sql`INSERT INTO conversions (kind, context, reference, reference_key, aliases, part, cumulative, amount, currency, tax,
            shipping, discount, lines, customer_id, country, visit_id, coupon, campaign, source_id, occurred_at, candidates,
            created_at, affiliate_id, customer, metadata, updated_at)
          VALUES ('refund', 'shop', 'a', 'a', '', '1', 0, 500, 'USD', 0, 0, 0, '', 0, '', 0, '', '', 0, 1, '', 1, 0, '', '', 1)`.execute(
          tx,
        ),
      )
      await old.close()
      const database = await openDatabase(url)
      t.after(() => database.close())
      const columns = ['currency', 'currency_assumed'] as const
      const { ...row } = await database.reader
        .selectFrom('conversions')
        .select(columns)
        .executeTakeFirstOrThrow()
      assert.deepEqual(row, { currency: 'USD', currency_assumed: 0 })
      for (const column of [...columns, 'part', 'id'])
        await assert.rejects(
          database.transaction(tx => sql.raw(`UPDATE conversions SET ${column} = 1`).execute(tx)),
          /only added to/,
        )
    })

    test('is left to a program of that version by every command but the one that migrates', async t => {
      const { url, remove } = await fresh()
      t.after(remove)
      const old = await open(url)
      await migrate(old, { last: VERSION_OF_0_1 })
      await old.close()
      for (const command of [
        ['users', 'list'],
        ['users', 'create', '--login', 'x', '--email', 'x@example.com'],
        ['keys', 'list'],
        ['settings', 'get'],
        ['audit', 'export'],
        ['check', '--repair'],
        ['copy', '--from', url, '--to', 'sqlite:nowhere.db'],
      ]) {
        const named = command[0] === 'copy' ? command : [...command, '--database', url]
        const { code, stderr } = await runCommand(named)
        assert.equal(code, 1, command.join(' '))
        assert.match(stderr, /has schema 5, .* run `affiliated migrate`/)
      }
      const after = await open(url)
      t.after(() => after.close())
      const { rows } = await sql<{ version: number }>`SELECT version FROM schema_version`.execute(
        after.reader,
      )
      assert.equal(Number(rows[0]!.version), VERSION_OF_0_1)
    })

    // Written by 0.1 on PostgreSQL: 7 was committed late and is not sealed yet, 8 was rolled back, bob is erased.
    test('its audit log stays whole, is sealed on, and its events have positions', async t => {
      const { url, remove } = await fresh()
      t.after(remove)
      const old = await open(url)
      await migrate(old, { last: VERSION_OF_0_1 })
      const tables: Record<string, object[]> = JSON.parse(await readFile(logOf01, 'utf8'))
      await old.transaction(async tx => {
        await tx.deleteFrom('audit_chain').execute()
        for (const [table, rows] of Object.entries(tables)) {
          for (const row of rows) {
            const columns = sql.join(Object.keys(row).map(column => sql.ref(column)))
            await sql`INSERT INTO ${sql.table(table)} (${columns}) VALUES (${sql.join(Object.values(row))})`.execute(
              tx,
            )
          }
        }
      })
      await old.close()

      // What verifies reads only: the first start, or this, brings the database up to date and seals what is left.
      const migrated = await runCommand(['migrate', '--database', url])
      assert.equal(migrated.code, 0, migrated.stderr)
      const verified = await runCommand(['audit', 'verify', '--json', '--database', url])
      assert.equal(verified.code, 0, verified.stderr)
      const { seals, entries, unsealed } = JSON.parse(verified.stdout)
      assert.deepEqual([seals, entries, unsealed], [4, 9, 0])
      const database = await openDatabase(url)
      t.after(() => database.close())
      const after = await database.reader.selectFrom('audit_seals').selectAll().orderBy('number').execute()
      assert.deepEqual(
        after.map(seal => [seal.entries, seal.first_position, seal.hash]),
        [
          ['1-3', 1, hashOf(1)],
          ['5-6', 4, hashOf(2)],
          ['4,9', 6, hashOf(3)],
          ['7,10', 8, after[3]!.hash],
        ],
      )
      function hashOf(number: number): string {
        const [seal] = (tables.audit_seals as { number: number; hash: string }[]).filter(
          one => one.number === number,
        )
        return seal!.hash
      }
    })

    test('a service of 0.1 that still runs cannot add a seal of events that it read before', async t => {
      const { url, remove } = await fresh()
      const old = await open(url)
      t.after(() => old.close())
      await migrate(old, { last: VERSION_OF_0_1 })
      const sealing = sql`INSERT INTO audit_seals (number, sealed_at, entries, entry_count, previous_hash, hash)
        VALUES (1, 1, '1', 1, '', 'hash')`
      const database = await openDatabase(url)
      t.after(() => database.close())
      t.after(remove)
      await assert.rejects(
        old.transaction(tx => sealing.execute(tx)),
        /only added to/,
      )
    })

    test('transfers can be neither changed nor removed', async t => {
      const { url, remove } = await fresh()
      t.after(remove)
      const database = await openDatabase(url)
      t.after(() => database.close())
      await database.transaction(tx =>
        sql`INSERT INTO ledger_transfers (affiliate_id, amount, debit, credit, reason, at)
            VALUES (1, 1, 'commission', 'unpaid', 'test', 1)`.execute(tx),
      )
      for (const statement of [
        'DELETE FROM ledger_transfers',
        'UPDATE ledger_transfers SET amount = 2',
        'UPDATE ledger_transfers SET event_id = 2',
      ]) {
        await assert.rejects(
          database.transaction(tx => sql.raw(statement).execute(tx)),
          /only added to/,
        )
      }
    })
  })
}

test('a database that another process migrates is waited for, longer than for any other write (SQLite)', async t => {
  const { url, remove } = await unopened.SQLite!()
  t.after(remove)
  const old = await open(url)
  await migrate(old, { last: VERSION_OF_0_1 })
  await old.close()
  const other = new DatabaseSync(url.slice('sqlite:'.length))
  other.exec('BEGIN IMMEDIATE')
  const opening = openDatabase(url)
  await delay(2 * BUSY_TIMEOUT_MS)
  other.exec('COMMIT')
  other.close()
  await (await opening).close()
})

test('a payout that a service of 0.1 still writes while its database is migrated is in the ledger (PostgreSQL)', async t => {
  const { url, remove } = await unopened.PostgreSQL!()
  t.after(remove)
  const old = await open(url)
  t.after(() => old.close())
  await migrate(old, { last: VERSION_OF_0_1 })
  await old.transaction(fillAsBefore)
  const opening = await old.transaction(async tx => {
    await sql`INSERT INTO payouts VALUES (6, 1, '', 7, '', '', 'paid', 1, 600, 600)`.execute(tx)
    const migrating = openDatabase(url)
    await until(async () => {
      const { rows } = await sql`SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
        WHERE datname = current_database() AND NOT granted`.execute(old.reader)
      return rows.length > 0
    })
    return { migrating }
  })
  const database = await opening.migrating
  t.after(() => database.close())
  assert.equal((await balancesOf(database.reader, 1)).paid_out, 1257n)
})
