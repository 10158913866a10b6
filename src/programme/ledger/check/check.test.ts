import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { describeService } from '../../../../test/harness.ts'
import { features, schema } from '../../../app.ts'
import { DAY_SECONDS } from '../../../base/time.ts'
import { checkDatabase } from '../../../operations/check/rules.ts'
import { fillWithDemo } from '../../../operations/demo/demo.ts'

describeService('the check of the ledger', service => {
  const problems = async () => {
    const { problems } = await checkDatabase(service().database, features)
    // What is changed here beside the service is also not what the log says.
    return problems.filter(problem => !problem.includes('not what the log says'))
  }
  const run = (statement: string) => service().database.transaction(tx => sql.raw(statement).execute(tx))

  test('names the row that is wrong, whichever it is', async () => {
    const { id } = await service().newAffiliate('checked')
    const earned = async (amount: number, status: string): Promise<number> =>
      (await service().post('/referrals', { affiliate_id: id, amount, status })).body.id
    const [owed, paid] = [await earned(10, 'unpaid'), await earned(5, 'unpaid')]
    await earned(3, 'pending')
    const payout = await service().newPayout(id, { referrals: [paid] })
    const other = await service().newPayout(id, { referrals: [], amount: 2 })
    // Of old ones only the sums remain, sooner or later.
    const [yesterday, before] = [1, 2].map(days => Math.floor(Date.now() / (1000 * DAY_SECONDS)) - days)
    const dateOf = (day: number) => new Date(day * 1000 * DAY_SECONDS).toISOString().slice(0, 10)
    for (const day of [before!, yesterday!])
      await service().post('/visits', { affiliate_id: id, date: dateOf(day) })
    assert.deepEqual(await problems(), [])
    const of = `affiliate ${id}`
    const account = (name: string) => `affiliate_id = ${id} AND account = '${name}'`
    const wrong: [damage: string, mend: string, named: string[]][] = [
      [
        `UPDATE balances SET amount = amount + 200 WHERE ${account('commission')}`,
        `UPDATE balances SET amount = amount - 200 WHERE ${account('commission')}`,
        [`balances: ${of}, account commission: -16.00 where its transfers come to -18.00.`],
      ],
      [
        `UPDATE balances SET amount = 1200 WHERE ${account('unpaid')}`,
        `UPDATE balances SET amount = 1000 WHERE ${account('unpaid')}`,
        [
          `balances: ${of}, account unpaid: 12.00 where its transfers come to 10.00.`,
          `balances: ${of}, unpaid and reserved: 12.00 where the unpaid referrals come to 10.00.`,
          `affiliates: ${of}, unpaid_earnings: 10.00 where the balances unpaid and reserved come to 12.00.`,
        ],
      ],
      [
        `UPDATE referrals SET amount = 900 WHERE id = ${owed}`,
        `UPDATE referrals SET amount = 1000 WHERE id = ${owed}`,
        [`balances: ${of}, unpaid and reserved: 10.00 where the unpaid referrals come to 9.00.`],
      ],
      [
        `UPDATE referrals SET amount = 301 WHERE status = 'pending'`,
        `UPDATE referrals SET amount = 300 WHERE status = 'pending'`,
        [`balances: ${of}, pending: 3.00 where the pending referrals come to 3.01.`],
      ],
      [
        `UPDATE payouts SET amount = 100 WHERE id = ${other.id}`,
        `UPDATE payouts SET amount = 200 WHERE id = ${other.id}`,
        [`balances: ${of}, paid_out: 7.00 where the paid payouts come to 6.00.`],
      ],
      [
        `UPDATE referrals SET amount = 400 WHERE id = ${paid}`,
        `UPDATE referrals SET amount = 500 WHERE id = ${paid}`,
        [
          `balances: ${of}, paid_out, external and difference: 5.00 where the paid referrals come to 4.00.`,
          `affiliates: ${of}, earnings: 5.00 where the paid referrals come to 4.00.`,
        ],
      ],
      [
        `UPDATE affiliates SET referrals = 7 WHERE id = ${id}`,
        `UPDATE affiliates SET referrals = 2 WHERE id = ${id}`,
        [`affiliates: ${of}, referrals: 7 where the unpaid and paid referrals come to 2.`],
      ],
      [
        `UPDATE visit_totals SET converted = 2 WHERE day = ${yesterday}`,
        `UPDATE visit_totals SET converted = 0 WHERE day = ${yesterday}`,
        [
          `visit_totals: ${dateOf(yesterday!)}, campaign '', visits/unique/converted: 1/1/2 where the days of its affiliates come to 1/1/0.`,
        ],
      ],
      [
        `UPDATE visit_days SET visits = 3 WHERE day = ${yesterday}`,
        `UPDATE visit_days SET visits = 1 WHERE day = ${yesterday}`,
        [
          `visit_totals: ${dateOf(yesterday!)}, campaign '', visits/unique/converted: 1/1/0 where the days of its affiliates come to 3/1/0.`,
          `visit_days: ${of}, visits of ${dateOf(yesterday!)} and campaign '': 3 where the visits come to 1.`,
          `affiliates: ${of}, visits: 2 where the visits by day come to 4.`,
        ],
      ],
      [
        `UPDATE visit_days SET converted = 1 WHERE day = ${yesterday}`,
        `UPDATE visit_days SET converted = 0 WHERE day = ${yesterday}`,
        [
          `visit_totals: ${dateOf(yesterday!)}, campaign '', visits/unique/converted: 1/1/0 where the days of its affiliates come to 1/1/1.`,
          `visit_days: ${of}, converted of ${dateOf(yesterday!)} and campaign '': 1 where the visits come to 0.`,
        ],
      ],
      [
        `INSERT INTO payout_referrals (referral_id, payout_id, known) VALUES (${paid}, ${other.id}, 1)`,
        `DELETE FROM payout_referrals WHERE payout_id = ${other.id}`,
        [
          `payouts ${other.id}: its referrals are not what the index payout_referrals has.`,
          `referrals ${paid}: only one of it and payout ${other.id} says that the payout pays it; restore a backup.`,
        ],
      ],
      [
        `UPDATE payout_referrals SET known = 0 WHERE payout_id = ${payout.id}`,
        `UPDATE payout_referrals SET known = 1 WHERE payout_id = ${payout.id}`,
        [
          `referrals ${paid}: only one of it and payout ${payout.id} says that the payout pays it; restore a backup.`,
        ],
      ],
    ]
    for (const [damage, mend, named] of wrong) {
      await run(damage)
      assert.deepEqual((await problems()).sort(), named.sort(), damage)
      await run(mend)
      assert.deepEqual(await problems(), [], mend)
    }
  })

  test('names a sale of which nothing is left, and something stands', async () => {
    const { id } = await service().newAffiliate('taken', {
      status: 'active',
      rate: 10,
      rate_type: 'percentage',
    })
    const named = { context: 'shop', reference: 'whole', currency: 'USD' }
    const sale = { kind: 'sale', ...named, amount: 50, affiliate_id: id }
    const [{ referral_id }] = (await service().post('/conversions', sale)).body.referrals
    await service().post('/conversions', { kind: 'refund', ...named, part: '1', amount: 50 })
    assert.deepEqual(await problems(), [])
    const stands = `nothing is left of the sale, and 1.00 stands because of it (referral ${referral_id}).`
    await run(`UPDATE referrals SET status = 'unpaid', amount = 100 WHERE id = ${referral_id}`)
    const found = await problems()
    assert.ok(
      found.some(text => text.endsWith(stands)),
      found.join('\n'),
    )
    await run(`UPDATE referrals SET status = 'rejected', amount = 0 WHERE id = ${referral_id}`)
    assert.deepEqual(await problems(), [])
  })

  test('names what the database no longer refuses', async () => {
    const { engine } = service().database
    const tables = schema.filter(({ appendOnly }) => appendOnly).map(({ name }) => name)
    for (const table of tables) for (const statement of engine.allowChanges(table)) await run(statement)
    const named = (await problems()).filter(text => /^Schema: trigger .* is missing/.test(text))
    assert.equal(named.length, tables.length * engine.refused.length)
    assert.match(named.join('\n'), /trigger ledger_transfers_update\b.* is missing/)
  })
})

describeService('the check of a demo', service => {
  test('nothing is wrong, and some are owed, waiting and paid, by what shops have reported and rules say', async () => {
    const { database } = service()
    assert.equal(await fillWithDemo(database, features), true)
    assert.deepEqual((await checkDatabase(database, features)).problems, [])
    const rows = await database.reader.selectFrom('referrals').select('status').distinct().execute()
    assert.deepEqual(rows.map(row => row.status).sort(), ['draft', 'paid', 'pending', 'rejected', 'unpaid'])
    const judged = await database.reader
      .selectFrom('referrals')
      .innerJoin('rules', 'rules.id', 'referrals.rule_id')
      .innerJoin('conversions', 'conversions.id', 'referrals.conversion_id')
      .select('rules.name')
      .distinct()
      .execute()
    assert.ok(judged.length >= 3, JSON.stringify(judged))
    const kinds = await database.reader.selectFrom('conversions').select('kind').distinct().execute()
    for (const kind of ['lead', 'renewal', 'refund', 'dispute_won']) {
      assert.ok(
        kinds.some(row => row.kind === kind),
        kind,
      )
    }
    const { body: nobodys } = await service().get('/conversions?unattributed=1')
    assert.ok(nobodys.length > 0)
  })
})
