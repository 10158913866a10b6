/**
 * Whatever row is wrong beside the rules is found, and named: one for each account, status and figure that there is, one for each
 * check of the programme, and all that the database refuses to change. Each fault is undone by rolling it back.
 */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import { describeService, giveSecretKey } from '../../../../test/harness.ts'
import { features, schema } from '../../../app.ts'
import { fillWithDemo } from '../../../operations/demo/demo.ts'
import type { Tx } from '../../../storage/database.ts'
import { accounts } from '../holdings.ts'
import { checks as ledgerChecks } from './rules.ts'

interface Fault {
  /** 1: transfers; 2: what is pending and owed; 3: what was paid, and the affiliates' figures; 4: once at most, and as it was approved; 5: refunded whole. */
  readonly invariant: number
  readonly sql: string
  /** What is said of it, with the row. */
  readonly named: RegExp
}

const first = (table: string, where: string) => `(SELECT min(id) FROM ${table} WHERE ${where})`
const raise = (table: string, where: string) =>
  `UPDATE ${table} SET amount = amount + 1 WHERE id = ${first(table, where)}`
const copied = 'affiliate_id, amount, debit, credit, reason, at'
const reserved = `run_item_id <> 0 AND status = 'unpaid'`

const faults: readonly Fault[] = [
  ...accounts.map(account => ({
    invariant: 1,
    sql: `UPDATE balances SET amount = amount + 1 WHERE account = '${account}'
      AND affiliate_id = (SELECT min(affiliate_id) FROM balances WHERE account = '${account}')`,
    named: new RegExp(`^balances: affiliate \\d+, account ${account}: .* where its transfers come to`),
  })),
  ...[
    raise('ledger_transfers', 'amount > 0'),
    `UPDATE ledger_transfers SET affiliate_id = affiliate_id + 1 WHERE id = ${first('ledger_transfers', 'amount > 0')}`,
    `DELETE FROM ledger_transfers WHERE id = ${first('ledger_transfers', 'amount > 0')}`,
    `INSERT INTO ledger_transfers (${copied}) SELECT ${copied} FROM ledger_transfers WHERE id = ${first('ledger_transfers', 'amount > 0')}`,
  ].map(statement => ({ invariant: 1, sql: statement, named: /^balances: affiliate \d+, account \w+: / })),
  ...[
    `at = at - ${400 * 86_400}`,
    'referral_id = referral_id + 1',
    'payout_id = 1',
    'event_id = (SELECT min(id) FROM events)',
    'event_id = 1000000000',
  ].map(change => ({
    invariant: 1,
    sql: `UPDATE ledger_transfers SET ${change} WHERE id = ${first('ledger_transfers', `event_id IS NOT NULL AND ${change.startsWith('payout') ? 'payout_id <> 1' : 'referral_id IS NOT NULL'}`)}`,
    named:
      /^ledger_transfers \d+: the entry of the audit log that it names, \d+, is (?:not there|of another)/,
  })),
  ...['pending', 'unpaid'].flatMap(status => {
    const named = new RegExp(
      `^balances: affiliate \\d+, ${status === 'pending' ? status : 'unpaid and reserved'}: `,
    )
    const one = first('referrals', `status = '${status}' AND amount > 0`)
    return [
      raise('referrals', `status = '${status}'`),
      `UPDATE referrals SET status = 'rejected' WHERE id = ${one}`,
      `UPDATE referrals SET affiliate_id = affiliate_id + 1 WHERE id = ${one}`,
      `DELETE FROM referrals WHERE id = ${one}`,
    ].map(statement => ({ invariant: 2, sql: statement, named }))
  }),
  ...[
    raise('payouts', `status = 'paid'`),
    `UPDATE payouts SET status = 'failed' WHERE id = ${first('payouts', `status = 'paid' AND amount > 0`)}`,
    `UPDATE payouts SET affiliate_id = affiliate_id + 1 WHERE id = ${first('payouts', `status = 'paid' AND amount > 0`)}`,
  ].map(statement => ({
    invariant: 3,
    sql: statement,
    named: /^balances: affiliate \d+, paid_out: .*paid payouts/,
  })),
  {
    invariant: 3,
    sql: raise('referrals', `status = 'paid'`),
    named: /^balances: affiliate \d+, paid_out, external and difference: .* where the paid referrals come to/,
  },
  ...['earnings', 'unpaid_earnings', 'referrals', 'visits'].map(figure => ({
    invariant: 3,
    sql: `UPDATE affiliates SET ${figure} = ${figure} + 1 WHERE id = ${first('affiliates', 'id > 0')}`,
    named: new RegExp(`^affiliates: affiliate \\d+, ${figure}: `),
  })),
  {
    invariant: 3,
    sql: 'DELETE FROM visits WHERE id = (SELECT id FROM visits ORDER BY created_at DESC, id DESC LIMIT 1)',
    named: /^visit_days: affiliate \d+, visits of .* where the visits come to /,
  },
  ...['visits', 'unique_visits', 'converted'].map(count => ({
    invariant: 3,
    sql: `UPDATE visit_totals SET ${count} = ${count} + 1
      WHERE (day, campaign, part) IN (SELECT day, campaign, part FROM visit_totals ORDER BY 1, 2, 3 LIMIT 1)`,
    named: /^visit_totals: .* where the days of its affiliates come to/,
  })),
  ...[
    ...['sales', 'volume_parts', 'volume_rest'].map(
      name => `UPDATE sales_months SET ${name} = ${name} + 1 WHERE`,
    ),
    'DELETE FROM sales_months WHERE',
  ].map(change => ({
    invariant: 3,
    sql: `${change} (affiliate_id, month) IN (SELECT affiliate_id, month FROM sales_months WHERE sales > 0 ORDER BY 1, 2 LIMIT 1)`,
    named: /^sales_months: affiliate \d+, \w+ of the month from .* where the referrals come to/,
  })),
  {
    invariant: 3,
    sql: `UPDATE referrals SET created_at = created_at - 90000000 WHERE id = ${first('referrals', `type = 'sale' AND status = 'paid'`)}`,
    named: /^sales_months: affiliate \d+, sales of the month from /,
  },
  {
    invariant: 4,
    sql: `INSERT INTO payout_referrals (referral_id, payout_id, known)
      SELECT id, (SELECT min(id) FROM payouts WHERE status = 'paid' AND id <> payout_id), 1
      FROM referrals WHERE id = ${first('referrals', 'payout_id <> 0')}`,
    named: /^referrals \d+: only one of it and payout \d+ says that the payout pays it/,
  },
  {
    invariant: 4,
    sql: `INSERT INTO payout_referrals (referral_id, payout_id, known)
      SELECT id, (SELECT min(id) FROM payouts WHERE status = 'failed'), 0
      FROM referrals WHERE id = ${first('referrals', `status = 'unpaid'`)}`,
    named: /^payouts \d+: its referrals are not what the index payout_referrals has/,
  },
  {
    invariant: 4,
    sql: `UPDATE referrals SET status = 'paid', payout_id = (SELECT min(id) FROM payouts WHERE status = 'paid') WHERE id = ${first('referrals', reserved)}`,
    named: /^referrals \d+: only one of it and payout \d+ says/,
  },
  {
    invariant: 4,
    sql: `UPDATE payout_runs SET status = 'closed' WHERE id = (SELECT run_id FROM run_items WHERE status = 'unknown')`,
    named:
      /^run_items \d+: its outcome is unknown, and its run is closed: record whether it was paid or has failed/,
  },
  {
    invariant: 4,
    sql: `UPDATE referrals SET run_item_id = 0 WHERE id = ${first('referrals', reserved)}`,
    named: /^run_items \d+: it is not the sum of the referrals that it has reserved/,
  },
  {
    invariant: 4,
    sql: `UPDATE referrals SET run_item_id = (SELECT run_item_id FROM referrals WHERE id = ${first('referrals', reserved)})
      WHERE id = ${first('referrals', `status = 'paid'`)}`,
    named: /^referrals \d+: it is reserved, and no open item of a payout run has it/,
  },
  {
    invariant: 4,
    sql: raise('run_items', `status = 'reserved'`),
    named: /^balances: affiliate \d+, reserved: .* where the open items of payout runs come to/,
  },
  {
    invariant: 4,
    sql: raise('run_items', `status = 'paid'`),
    named: /^run_items \d+: .* is paid of it, where its payouts come to/,
  },
  {
    invariant: 4,
    sql: `UPDATE run_items SET payee_name = 'Another' WHERE id = ${first('run_items', `status = 'reserved'`)}`,
    named: /^run_items \d+: its payee is not who was approved/,
  },
  {
    invariant: 4,
    sql: `UPDATE payout_runs SET hash = 'another' WHERE id = ${first('payout_runs', `status = 'approved'`)}`,
    named: /^payout_runs \d+: its items are not those that hash stands for/,
  },
  {
    invariant: 4,
    sql: `UPDATE payout_runs SET payer = '{}' WHERE id = ${first('payout_runs', `status = 'approved'`)}`,
    named: /^payout_runs \d+: .* or its payer is another/,
  },
  {
    invariant: 4,
    sql: `UPDATE payment_details SET account = 'a•••@example.org' WHERE id = ${first('payment_details', `sealed <> ''`)}`,
    named: /^payment_details \d+: the sealed account is not the one that the record shows/,
  },
  {
    invariant: 4,
    sql: `UPDATE payment_details SET sealed = 'zz' WHERE id = ${first('payment_details', `sealed <> ''`)}`,
    named: /^payment_details \d+: .* What is stored is no sealed text/,
  },
  {
    invariant: 4,
    sql: `UPDATE sources SET secret = 'zz' WHERE id = ${first('sources', 'id > 0')}`,
    named: /^sources \d+: What is stored is no sealed text/,
  },
  {
    invariant: 4,
    sql: `UPDATE sources SET secret = 'deadbeef' || substr(secret, 9) WHERE id = ${first('sources', `secret <> ''`)}`,
    named: /sealed by the secret key deadbeef/,
  },
  {
    invariant: 4,
    sql: `UPDATE links SET affiliate_id = affiliate_id + 1 WHERE id = ${first('links', `code = cast(affiliate_id as text)`)}`,
    named: /^links \d+: it is the default link of affiliate \d+, and credits affiliate \d+/,
  },
  {
    invariant: 5,
    sql: `DELETE FROM payment_names WHERE name = (SELECT min(reference) FROM conversions)`,
    named: /^conversions \d+: its names are not all of one payment in the index payment_names/,
  },
  {
    invariant: 5,
    sql: `UPDATE referrals SET status = 'unpaid', amount = 100 WHERE id = ${first('referrals', `reason = 'refunded'`)}`,
    named: /^conversions \d+: nothing is left of the sale, and 1.00 stands because of it \(referral \d+\)/,
  },
]

class RolledBack extends Error {}

describeService('faults of rows', service => {
  giveSecretKey()
  before(async () => {
    await fillWithDemo(service().database, features)
    const { body: group } = await service().post('/groups', { name: 'In a run' })
    const { id } = await service().newAffiliate('in-a-run', { status: 'active', group_id: group.id })
    const earned = { affiliate_id: id, amount: 20, status: 'unpaid' }
    const { body: paid } = await service().post('/referrals', earned)
    // Of each account something: a payout of more than was earned, and what was written off.
    await service().newPayout(id, { referrals: [paid.id], amount: 25 })
    await service().post('/referrals', { ...earned, amount: 3, type: 'write_off' })
    const approved = async () => {
      await service().post('/referrals', earned)
      const { body: run } = await service().post('/payout-runs', { group_id: group.id })
      const { status } = await service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
      assert.equal(status, 200)
      return run
    }
    for (const outcome of ['paid', 'unknown']) {
      const run = await approved()
      const content = `reference,status\n${run.reference}A${id},${outcome}\n`
      const { body } = await service().post(`/payout-runs/${run.id}/results`, { content })
      assert.equal(body.recorded[outcome], 1)
    }
    await approved()
    const details = { affiliate_id: id, method: 'paypal', holder: 'P', paypal_email: 'p@example.com' }
    assert.equal((await service().post('/payment-details', details)).status, 201)
    const shop = { name: 'shop', type: 'woocommerce', context: 'shop', secret: 'a secret of the shop' }
    assert.equal((await service().post('/sources', shop)).status, 201)
  })

  /** What each check says of a fault. */
  async function foundBy({ sql: statement }: Fault): Promise<Map<string, string[]>> {
    const { database } = service()
    const found = new Map<string, string[]>()
    const corrupt = async (tx: Tx): Promise<never> => {
      for (const allowing of database.engine.allowChanges('ledger_transfers'))
        await sql.raw(allowing).execute(tx)
      const { rows } = await sql.raw(`${statement} RETURNING 1 AS changed`).execute(tx)
      assert.equal(rows.length, 1, statement)
      for (const check of features.flatMap(({ checks }) => checks)) {
        const problems: string[] = []
        for await (const problem of check(tx)) problems.push(problem)
        if (problems.length > 0) found.set(check.name, problems)
      }
      throw new RolledBack()
    }
    await database.transaction(corrupt).catch(error => {
      if (!(error instanceof RolledBack)) throw error
    })
    return found
  }

  test('each is found and named, and no check is without one', { timeout: 120_000 }, async () => {
    const tripped = new Set<string>()
    for (const fault of faults) {
      const found = await foundBy(fault)
      const all = [...found.values()].flat()
      assert.ok(
        all.some(problem => fault.named.test(problem)),
        `${fault.sql}\n${all.join('\n')}`,
      )
      for (const name of found.keys()) tripped.add(name)
    }
    const programme = features.filter(({ kind }) => kind.name !== 'user').flatMap(({ checks }) => checks)
    const missing = programme.filter(({ name }) => !tripped.has(name)).map(({ name }) => name)
    assert.deepEqual(missing, [], 'add a row to `faults` that each of these checks finds')
    for (const { name } of ledgerChecks) assert.ok(tripped.has(name), name)
    assert.deepEqual([...new Set(faults.map(({ invariant }) => invariant))], [1, 2, 3, 4, 5])
  })

  test('what may not be changed is refused, in each column and row', async () => {
    const { database } = service()
    const run = (statement: string) => database.transaction(tx => sql.raw(statement).execute(tx))
    const tables = schema.filter(({ appendOnly }) => appendOnly)
    /** Filled in where nobody was credited at first. */
    const credit = new Set(['conversions.affiliate_id', 'conversions.updated_at'])
    for (const name of ['ledger_transfers', 'conversions', 'events']) {
      assert.ok(
        tables.some(table => table.name === name),
        name,
      )
    }
    for (const { name, key } of tables) {
      const [column] = [key].flat()
      const only = `${column} = (SELECT min(${column}) FROM ${name})`
      const { rows } = await sql.raw(`SELECT * FROM ${name} WHERE ${only}`).execute(database.reader)
      if (rows.length === 0) continue
      await assert.rejects(run(`DELETE FROM ${name} WHERE ${only}`), name)
      const columns = Object.keys(Object.assign({}, rows[0])).filter(one => !credit.has(`${name}.${one}`))
      for (const one of columns) {
        await assert.rejects(run(`UPDATE ${name} SET ${one} = ${one} WHERE ${only}`), `${name}.${one}`)
      }
    }
  })
})
