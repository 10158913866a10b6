/** Runs in several chunks, between which something changes, and what is asked of a run at the same moment. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { engines, openDatabase, operatorOf } from '../../../test/harness.ts'
import { addPayees } from '../../../test/many-referrals.ts'
import { createUser } from '../../accounts/users/rules.ts'
import { Failure } from '../../base/errors.ts'
import { edit } from '../affiliates/rules.ts'
import { rules as payouts } from '../payouts/rules.ts'
import { beginApproval, reserveSome, verify } from './approving.ts'
import { prepareSome } from './preparing.ts'
import {
  approve,
  approvedAsFar,
  cancel,
  file,
  itemReading,
  prepare,
  proceed,
  reading,
  recordResults,
  settleItem,
} from './rules.ts'
import { runs } from './store.ts'

/** More than the two chunks of fifty, of which the last is the one that changes. */
const PAYEES = 101

/** A new database with affiliates who are owed by referrals. */
async function filled(
  t: TestContext,
  fresh: (typeof engines)[string],
  payees: { payees: number; each: number },
) {
  const { url, remove } = await fresh()
  t.after(remove)
  const database = await openDatabase(url)
  t.after(() => database.close())
  await addPayees(database, payees)
  return { database, context: operatorOf(database) }
}

describe('an approval', () => {
  for (const [engine, fresh] of Object.entries(engines)) {
    test(`${engine}: gives back what it has reserved when somebody changes between chunks`, async t => {
      const { database, context } = await filled(t, fresh, { payees: PAYEES, each: 2 })
      const sums = async () => {
        const rows = await database.reader.selectFrom('balances').selectAll().execute()
        const of = (account: string) =>
          rows.filter(row => row.account === account).reduce((sum, row) => sum + BigInt(row.amount), 0n)
        return [of('unpaid'), of('reserved')]
      }
      const before = await sums()
      const { id, hash } = await prepare(context, {})
      const begun = await beginApproval(context, { payout_run_id: id, hash })
      await verify(context, begun)
      for (const chunk of [1, 2]) {
        assert.equal(await reserveSome(context, begun), true)
        assert.equal((await reading.get(context, id)).done, chunk * 50)
      }
      assert.notDeepEqual(await sums(), before)
      const { affiliate_id: last } = await database.reader
        .selectFrom('run_items')
        .select('affiliate_id')
        .where('status', '=', 'included')
        .executeTakeFirstOrThrow()
      await edit(context, { affiliate_id: last, status: 'rejected' })

      await assert.rejects(
        async () => {
          await proceed(context, id, Number.POSITIVE_INFINITY)
          await approvedAsFar(context, id)
        },
        new RegExp(`Affiliate ${last} .*left out`),
      )
      const { status, done } = await reading.get(context, id)
      assert.deepEqual([status, done], ['draft', 0])
      assert.deepEqual(await sums(), before)
      const held = await database.reader
        .selectFrom('referrals')
        .select('id')
        .where('run_item_id', '!=', 0)
        .execute()
      assert.deepEqual(held, [])

      // As it is now, it can be paid.
      const anew = await prepare(context, {})
      assert.equal(anew.payees, PAYEES - 1)
      assert.equal((await approve(context, { payout_run_id: anew.id, hash: anew.hash })).status, 'approved')
    })
  }
})

test('an approval of many compares them step by step, and names who has changed after the first', async t => {
  const { database, context } = await filled(t, engines.SQLite!, { payees: 1001, each: 1 })
  const { id } = await prepare(context, {})
  const whole = () => proceed(context, id, Number.POSITIVE_INFINITY)
  await whole()
  const { hash } = await reading.get(context, id)
  const begun = await beginApproval(context, { payout_run_id: id, hash })
  await verify(context, begun)
  const { affiliate_id: last } = await database.reader
    .selectFrom('run_items')
    .select('affiliate_id')
    .orderBy('affiliate_id', 'desc')
    .executeTakeFirstOrThrow()
  await edit(context, { affiliate_id: last, status: 'rejected' })
  assert.equal((await reading.get(context, id)).status, 'approving')
  const refused = async (act: () => Promise<unknown>) => {
    const failure = await act().then(
      () => undefined,
      (error: unknown) => error,
    )
    assert.ok(failure instanceof Failure)
    return failure
  }
  const own = await refused(whole)
  assert.match(own.message, new RegExp(`Affiliate ${last} is left out now`))
  assert.equal((await reading.get(context, id)).status, 'draft')
  assert.deepEqual(Object.keys(Object(own.data.affiliates)), [String(last)])
  // Where another process has found it.
  const others = await refused(() => approvedAsFar(context, id))
  assert.deepEqual([others.message, others.data], [own.message, own.data])
  await edit(context, { affiliate_id: last, status: 'active' })
  await beginApproval(context, { payout_run_id: id, hash })
  await whole()
  assert.equal((await reading.get(context, id)).status, 'approved')
})

describe('a draft that is prepared again', () => {
  for (const [engine, fresh] of Object.entries(engines)) {
    test(`${engine}: takes nothing that a slower process has read before`, async t => {
      const { database, context } = await filled(t, fresh, { payees: 3, each: 1 })
      const begun = { prepared_to: 0, digest: '', hash: '', payees: 0, amount: 0, excluded: 0 }
      const { id } = await prepare(context, {})
      const run = await database.transaction(async tx => runs.update(tx, (await runs.lock(tx, id))!, begun))
      const slow = operatorOf({
        ...database,
        reader: database.reader,
        background: () => database,
        async transaction(work) {
          const [{ affiliate_id: one } = { affiliate_id: 0 }] = await database.reader
            .selectFrom('balances')
            .select('affiliate_id')
            .orderBy('affiliate_id')
            .execute()
          await edit(context, { affiliate_id: one, status: 'rejected' })
          await database.transaction(tx => runs.set(tx, id, { ...begun, updated_at: run.updated_at! + 1 }))
          return database.transaction(work)
        },
      })
      assert.equal(await prepareSome(slow, run), true)
      assert.equal((await reading.get(context, id)).payees, 0)
      await proceed(context, id)
      assert.equal((await reading.get(context, id)).payees, 2)
    })
  }
})

describe('results in several chunks', () => {
  for (const [engine, fresh] of Object.entries(engines)) {
    test(`${engine}: are said by the run and its history as far as they are recorded`, async t => {
      const { database, context } = await filled(t, fresh, { payees: 45, each: 1 })
      await createUser(context, { login: 'a', email: 'a@example.com', role: 'administrator' })
      const { id, hash } = await prepare(context, {})
      await approve(context, { payout_run_id: id, hash })
      const items = await database.reader
        .selectFrom('run_items')
        .select(['affiliate_id', 'reference'])
        .where('run_id', '=', id)
        .where('status', '=', 'reserved')
        .orderBy('affiliate_id')
        .execute()
      const content = ['reference,status', ...items.map(({ reference }) => `${reference},paid`)].join('\n')
      const record = () => recordResults(context, { payout_run_id: id, content, file_name: 'bank.csv' })
      const told = async () => (await reading.get(context, id)).last_results
      const logged = () =>
        database.reader
          .selectFrom('events')
          .select('after_values')
          .where('action', '=', 'payout_run.record')
          .orderBy('id')
          .execute()

      // The first payee can be paid, and the last one of the third chunk cannot.
      const [first, last] = [items[0]!.affiliate_id, items.at(-1)!.affiliate_id]
      await database.transaction(tx =>
        sql`CREATE UNIQUE INDEX refusing ON payouts (status) WHERE affiliate_id IN (${sql.lit(first)}, ${sql.lit(last)})`.execute(
          tx,
        ),
      )
      await assert.rejects(record)
      assert.equal(await told(), 'bank.csv (csv): 40 paid; the rest is being recorded')
      assert.equal((await logged()).length, 1)

      await database.transaction(tx => sql`DROP INDEX refusing`.execute(tx))
      assert.equal((await record()).recorded.paid, 5)
      assert.equal(await told(), 'bank.csv (csv): 5 paid; 40 recorded before')
      assert.equal((await record()).recorded.paid, 0)
      const texts = (await logged()).map(({ after_values }) => JSON.parse(after_values).last_results)
      assert.deepEqual(texts, [
        'bank.csv (csv): 20 paid; the rest is being recorded',
        'bank.csv (csv): 5 paid; 40 recorded before',
      ])
    })
  }
})

describe('a file of a run', () => {
  for (const [engine, fresh] of Object.entries(engines)) {
    test(`${engine}: whoever cancels at the same moment is asked about it`, async t => {
      const { context } = await filled(t, fresh, { payees: 3, each: 1 })
      for (let round = 0; round < 6; round += 1) {
        const { id, hash } = await prepare(context, {})
        await approve(context, { payout_run_id: id, hash })
        const both = [
          () => file(context, 'csv', { payout_run_id: id }),
          () => cancel(context, { payout_run_id: id }),
        ]
        const first = round % 2
        const done = await Promise.allSettled([both[first]!(), both[1 - first]!()])
        assert.equal(done.filter(({ status }) => status === 'fulfilled').length, 1)
        await cancel(context, { payout_run_id: id, not_handed_over: true })
      }
    })
  }

  test('that is downloaded while the run is cancelled is not a whole one', async t => {
    const { context } = await filled(t, engines.SQLite!, { payees: 3, each: 1 })
    const { id, hash } = await prepare(context, {})
    await approve(context, { payout_run_id: id, hash })
    const { text } = await file(context, 'csv', { payout_run_id: id })
    await cancel(context, { payout_run_id: id, not_handed_over: true })
    await assert.rejects(async () => {
      for await (const _part of text);
    }, /was cancelled/)
  })
})

test('what is paid to one affiliate by several payouts comes back as a whole', async t => {
  const { database, context } = await filled(t, engines.SQLite!, { payees: 1, each: 10_001 })
  await createUser(context, { login: 'a', email: 'a@example.com', role: 'administrator' })
  const balances = () => database.reader.selectFrom('balances').selectAll().orderBy('account').execute()
  const before = await balances()
  const { id, hash } = await prepare(context, {})
  await approve(context, { payout_run_id: id, hash })
  await proceed(context, id, Number.POSITIVE_INFINITY)
  const [item] = await database.reader.selectFrom('run_items').selectAll().where('run_id', '=', id).execute()
  await settleItem(context, { run_item_id: item!.id, status: 'paid' })
  const made = await database.reader
    .selectFrom('payouts')
    .selectAll()
    .where('run_item_id', '=', item!.id)
    .execute()
  assert.deepEqual([made.length, made.reduce((sum, { amount }) => sum + amount, 0)], [2, item!.amount])
  await payouts.remove(context, made[0]!.id)
  assert.equal((await itemReading.get(context, item!.id)).status, 'returned')
  assert.equal((await payouts.get(context, made[1]!.id)).status, 'failed')
  assert.deepEqual(
    (await balances()).filter(({ amount }) => amount !== 0),
    before,
  )
})
