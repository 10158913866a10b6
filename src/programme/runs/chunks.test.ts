/** An approval in several chunks, between which something changes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { engines, openDatabase, operatorOf } from '../../../test/harness.ts'
import { addPayees } from '../../../test/many-referrals.ts'
import { edit } from '../affiliates/rules.ts'
import { beginApproval, reserveSome, verify } from './approving.ts'
import { approve, approvedAsFar, prepare, proceed, reading } from './rules.ts'

/** More than the two chunks of fifty, of which the last is the one that changes. */
const PAYEES = 101

describe('an approval', () => {
  for (const [engine, fresh] of Object.entries(engines)) {
    test(`${engine}: gives back what it has reserved when somebody changes between chunks`, async t => {
      const { url, remove } = await fresh()
      t.after(remove)
      const database = await openDatabase(url)
      t.after(() => database.close())
      await addPayees(database, { payees: PAYEES, each: 2 })
      const context = operatorOf(database)
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
