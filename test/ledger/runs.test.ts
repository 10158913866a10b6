/**
 * Whatever happens to payout runs, and to referrals and payouts meanwhile: the books agree, and nobody is paid twice.
 * A thousand histories on each engine: `LONG=1 nice node --test --test-global-setup=test/setup.ts test/ledger/runs.test.ts`;
 * SEED=… repeats those of a seed.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { createUser } from '../../src/accounts/users/rules.ts'
import { features } from '../../src/app.ts'
import { commandLine } from '../../src/base/actor.ts'
import { Failure } from '../../src/base/errors.ts'
import { sealEntries } from '../../src/events/seal.ts'
import type { RequestContext } from '../../src/events/write.ts'
import { checkDatabase } from '../../src/operations/check/rules.ts'
import * as affiliates from '../../src/programme/affiliates/rules.ts'
import { rules as payouts } from '../../src/programme/payouts/rules.ts'
import { rules as referrals } from '../../src/programme/referrals/rules.ts'
import { beginApproval } from '../../src/programme/runs/approving.ts'
import { beginCancelling } from '../../src/programme/runs/cancelling.ts'
import * as runs from '../../src/programme/runs/rules.ts'
import { onBehalfOf } from '../../src/settings/rules.ts'
import type { Database } from '../../src/storage/database.ts'
import { engines, openDatabase } from '../harness.ts'

/** Each on a database of its own, so that no check reads what those before have left. */
const ROUNDS = process.env.LONG && !process.env.SEED ? 40 : 1
const HISTORIES = process.env.LONG ? 25 : 6
const LENGTH = 60
const AFFILIATES = 4

/** Without these a round has shown nothing. Three at a time, one of them is refused throughout now and then. */
const NEEDED = ['approve', 'results', 'cancel'] as const
/** How often a round is done at most, each time with other histories, until all of them were. */
const MORE = 10

interface Books {
  readonly database: Database
  readonly context: RequestContext
}

async function booksOn(engine: string, t: TestContext): Promise<Books> {
  const fresh = await engines[engine]!()
  const database = await openDatabase(fresh.url)
  t.after(async () => {
    await database.close()
    await fresh.remove()
  })
  const operator = onBehalfOf(commandLine, database)
  const admin = await createUser(operator, { login: 'a', email: 'a@example.com', role: 'administrator' })
  return { database, context: { ...operator, actor: { ...commandLine.actor, userId: admin.id } } }
}

async function newAffiliate({ context }: Books, name: string): Promise<number> {
  const email = `${name}@example.com`
  const args = { create_user: true, payment_email: email, status: 'active' } as const
  return (await affiliates.create(context, args as never)).id
}

const owe = ({ context }: Books, affiliate_id: number, amount: number) =>
  referrals.create(context, {
    affiliate_id,
    amount,
    type: amount < 0 ? 'refund' : 'sale',
    status: 'unpaid',
  } as never)

/** Every check, and that no referral is paid by two payouts, nor any item of a run by more than it had. */
async function assertSound({ database }: Books): Promise<void> {
  // No service is there to do it.
  await sealEntries(database)
  assert.deepEqual((await checkDatabase(database, features)).problems, [])
  const { rows: twice } = await sql`
    SELECT referral_id FROM payout_referrals JOIN payouts ON payouts.id = payout_id
      WHERE known = 1 AND status = 'paid' GROUP BY referral_id HAVING count(*) > 1`.execute(database.reader)
  assert.deepEqual(twice, [])
  const { rows: wrong } = await sql`
    SELECT run_items.id FROM run_items LEFT JOIN payouts ON payouts.run_item_id = run_items.id AND payouts.status = 'paid'
      GROUP BY run_items.id, run_items.status, run_items.amount
      HAVING coalesce(sum(payouts.amount), 0) <> CASE WHEN run_items.status = 'paid' THEN run_items.amount ELSE 0 END`.execute(
    database.reader,
  )
  assert.deepEqual(wrong, [])
  const { rows: late } = await sql`
    SELECT record_id FROM events AS download WHERE action = 'payout_run.download' AND EXISTS (SELECT 1 FROM events
      WHERE action = 'payout_run.cancel' AND record_id = download.record_id AND id < download.id)`.execute(
    database.reader,
  )
  assert.deepEqual(late, [], 'files were downloaded of runs that were cancelled')
}

const operations = [
  'owe',
  'owe',
  'refund',
  'prepare',
  'approve',
  'approve',
  'approve',
  'results',
  'results',
  'results',
  'results',
  'cancel',
  // Whoever has begun it ends before it is done.
  'begin approval',
  'begin cancelling',
  // As the background of this process and of others does.
  'continue one',
  'continue all',
  'prepare again',
  'download',
  'hand over',
  'close',
  'settle',
  'settle',
  'pay by hand',
  'edit',
  'fail payout',
  'fail payout',
  'delete payout',
] as const

type Operation = { do: (typeof operations)[number]; a: number; b: number }

const operation: fc.Arbitrary<Operation> = fc.record({
  do: fc.constantFrom(...operations),
  a: fc.nat(1_000_000),
  b: fc.nat(1_000_000),
})

const pick = <T>(values: readonly T[], number: number): T | undefined => values[number % (values.length || 1)]

/** What runs have been refused meanwhile is no error of those who continue them. */
async function continueAll({ context }: Books): Promise<void> {
  try {
    await runs.proceedAll(context, () => false)
  } catch (error) {
    throw new Error('The background failed.', { cause: error })
  }
}

/** Does one operation, on whatever there is that it can be done to. */
async function act(books: Books, people: readonly number[], { do: what, a, b }: Operation): Promise<unknown> {
  const { context, database } = books
  const ids = async (table: 'payout_runs' | 'run_items' | 'referrals' | 'payouts') =>
    (
      await database.reader
        .selectFrom(table)
        .select('id')
        .orderBy('id', 'desc')
        .limit(table === 'payout_runs' ? 2 : 6)
        .execute()
    ).map(row => row.id)
  const affiliate = pick(people, a)!
  const run = async () => pick(await ids('payout_runs'), a >> 1) ?? 1
  switch (what) {
    case 'owe':
      return owe(books, affiliate, (b % 5000) / 100 + 0.01)
    case 'refund':
      return owe(books, affiliate, -((b % 1000) / 100 + 0.01))
    case 'prepare':
      return runs.prepare(context, { minimum: b % 20 } as never)
    case 'approve': {
      // Often the newest, which others change meanwhile.
      const found = b % 4 ? await runs.prepare(context, {}) : await runs.reading.get(context, await run())
      return runs.approve(context, { payout_run_id: found.id, hash: found.hash })
    }
    case 'results': {
      const id = await run()
      const { reference } = await runs.reading.get(context, id)
      const outcome = pick(['paid', 'paid', 'failed', 'returned', 'unknown'], b)!
      const lines = people
        .filter((_, index) => b % 3 === 0 || (a >> index) % 2 === 0)
        .map(one => `${reference}A${one},${outcome}`)
      return runs.recordResults(context, {
        payout_run_id: id,
        content: ['reference,status', `${reference}A${affiliate},${outcome}`, ...lines].join('\n'),
      })
    }
    case 'cancel':
      return runs.cancel(context, { payout_run_id: await run(), not_handed_over: b % 2 === 0 })
    case 'begin approval':
      return beginApproval(
        context,
        await runs.prepare(context, {}).then(({ id, hash }) => ({ payout_run_id: id, hash })),
      )
    case 'begin cancelling':
      return beginCancelling(context, { payout_run_id: await run(), not_handed_over: b % 2 === 0 })
    case 'continue one':
      return runs.proceed(context, await run(), b % 2 ? 0 : 1000)
    case 'continue all':
      return continueAll(books)
    case 'prepare again':
      return runs.edit(context, { payout_run_id: await run(), ...(b % 2 && { exclude: [affiliate] }) })
    case 'download': {
      let file = ''
      for await (const part of (await runs.file(context, 'csv', { payout_run_id: await run() })).text)
        file += part
      return file
    }
    case 'hand over':
      return runs.handOver(context, 'csv', { payout_run_id: await run() })
    case 'close':
      return runs.close(context, await run())
    case 'settle': {
      const item = pick(await ids('run_items'), a) ?? 1
      const status = pick(['paid', 'failed', 'returned', 'unknown'] as const, b)!
      return runs.settleItem(context, { run_item_id: item, status })
    }
    case 'pay by hand':
      return payouts.create(context, {
        affiliate_id: affiliate,
        referrals: [pick(await ids('referrals'), b) ?? 1],
      } as never)
    case 'edit':
      return referrals.edit(context, {
        referral_id: pick(await ids('referrals'), a) ?? 1,
        ...(b % 2
          ? { amount: (b % 3000) / 100 + 0.01 }
          : { status: pick(['rejected', 'unpaid', 'pending'], b >> 1) }),
      } as never)
    case 'fail payout': {
      const found = await payouts.get(context, pick(await ids('payouts'), a) ?? 1)
      return payouts.edit(context, {
        payout_id: found.id,
        affiliate_id: found.affiliate_id,
        status: b % 2 ? 'failed' : 'paid',
      })
    }
    case 'delete payout':
      return payouts.remove(context, pick(await ids('payouts'), a) ?? 1)
  }
}

for (const engine of Object.keys(engines)) {
  describe(`payout runs (${engine})`, () => {
    for (let round = 1; round <= ROUNDS; round += 1) {
      test(`round ${round}: ${HISTORIES} random histories, three operations at a time: the books agree, nobody is paid twice`, async t => {
        const books = await booksOn(engine, t)
        const done = new Map<string, number>()
        let number = 0
        const property = fc.asyncProperty(
          fc.array(operation, { minLength: LENGTH, maxLength: LENGTH }),
          async history => {
            const people: number[] = []
            for (let index = 0; index < AFFILIATES; index += 1) {
              number += 1
              people.push(await newAffiliate(books, `person${number}`))
              await owe(books, people[index]!, 20)
            }
            for (let start = 0; start < history.length; start += 3) {
              const some = history.slice(start, start + 3).map(async one => {
                try {
                  await act(books, people, one)
                  done.set(one.do, (done.get(one.do) ?? 0) + 1)
                } catch (error) {
                  // What cannot be done is refused; anything else is a fault.
                  if (!(error instanceof Failure)) throw error
                }
              })
              await Promise.all(some)
            }
            await continueAll(books)
            await assertSound(books)
          },
        )
        const seed = Number(process.env.SEED ?? randomInt(2 ** 31))
        t.diagnostic(`seed ${seed}`)
        const missing = () => NEEDED.filter(name => !done.has(name))
        for (let again = 0; again === 0 || (again < MORE && missing().length > 0); again += 1) {
          await fc.assert(property, {
            seed: seed + again,
            numRuns: HISTORIES,
            endOnFailure: true,
            includeErrorInReport: true,
          })
        }
        t.diagnostic([...done].map(([name, count]) => `${name} ${count}`).join(', '))
        assert.deepEqual(missing(), [], 'never done')
      })
    }

    test('a process that ends between the chunks of an approval, or of a cancellation, leaves a run that goes on', async t => {
      const books = await booksOn(engine, t)
      const { context, database } = books
      const payees = 70
      for (let index = 0; index < payees; index += 1) {
        await owe(books, await newAffiliate(books, `chunk${index}`), 10)
      }
      const run = await runs.prepare(context, {})
      assert.equal(run.payees, payees)
      await beginApproval(context, { payout_run_id: run.id, hash: run.hash })
      const reserved = async () =>
        (await database.reader.selectFrom('referrals').select('id').where('run_item_id', '!=', 0).execute())
          .length
      // One step: every item is as it was; another one: the first chunk.
      await runs.proceed(context, run.id, 0)
      assert.equal(await reserved(), 0)
      await runs.proceed(context, run.id, 0)
      const chunk = await reserved()
      assert.ok(chunk > 0 && chunk < payees)
      assert.equal((await runs.reading.get(context, run.id)).status, 'approving')
      await assertSound(books)
      const other = await runs.prepare(context, {})
      await assert.rejects(runs.approve(context, { payout_run_id: other.id, hash: other.hash }), Failure)
      // What changes in between is found, and nothing of it stays reserved.
      const last = await database.reader
        .selectFrom('run_items')
        .select(['id', 'affiliate_id'])
        .where('run_id', '=', run.id)
        .orderBy('id', 'desc')
        .executeTakeFirstOrThrow()
      const refund = await owe(books, last.affiliate_id, -1)
      await runs.proceedAll(context, () => false)
      const refused = await runs.reading.get(context, run.id)
      assert.deepEqual([refused.status, refused.done, await reserved()], ['draft', 0, 0])
      assert.match(refused.refusal, new RegExp(`Affiliate ${last.affiliate_id} is owed another amount`))
      await assertSound(books)
      await referrals.remove(context, refund.row.id)
      await beginApproval(context, { payout_run_id: run.id, hash: run.hash })
      await runs.proceedAll(context, () => false)
      const approved = await runs.reading.get(context, run.id)
      assert.deepEqual([approved.status, approved.done, await reserved()], ['approved', payees, payees])
      await assertSound(books)
      await beginCancelling(context, { payout_run_id: run.id })
      await runs.proceed(context, run.id, 0)
      assert.equal(await reserved(), payees - chunk)
      await assertSound(books)
      await runs.proceedAll(context, () => false)
      assert.equal(await reserved(), 0)
      await assertSound(books)
    })
  })
}
