/** Two nodes on one database: what holds within one holds across them. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { revokeKey } from '../../src/accounts/keys/rules.ts'
import { createUser } from '../../src/accounts/users/rules.ts'

import { changeSettings } from '../../src/settings/rules.ts'
import type { Database, TransactionMode, Tx } from '../../src/storage/database.ts'
import {
  assertFailure,
  engines,
  listen,
  openDatabase,
  operatorOf,
  type Reply,
  Service,
  startService,
  unopened,
} from '../harness.ts'

const RACERS = 100

for (const engine of Object.keys(engines)) {
  describe(`nodes (${engine})`, () => {
    let one: Service
    let two: Service
    before(async () => {
      one = await startService(engine)
      const database = await openDatabase(one.databaseUrl)
      const { url, close } = await listen(database)
      two = new Service(url, one.databaseUrl, database, one.key, close)
    })
    after(async () => {
      await two.close()
      await one.close()
    })

    const race = (request: (node: Service, number: number) => Promise<Reply>) =>
      Promise.all(
        Array.from({ length: RACERS }, (_, number) =>
          admitted(() => request(number % 2 ? one : two, number)),
        ),
      )
    const statuses = (replies: Reply[]) =>
      Object.groupBy(replies, reply => String(reply.status)) as Record<string, Reply[]>

    test('201 - one affiliate for an account that both nodes race for', async () => {
      const user = await createUser(operatorOf(one.database), { login: 'racer', email: 'racer@example.com' })
      const replies = statuses(await race(node => node.post('/affiliates', { user_id: user.id })))
      assert.equal(replies['201']?.length, 1)
      assert.equal(replies['409']?.length, RACERS - 1)
      for (const reply of replies['409']!) assertFailure(reply, 409, 'affwp_rest_affiliate_user_exists')
    })

    test('200 - what is read is never older than the last write that was answered, on either node', async () => {
      const { id } = await one.newAffiliate('counted')
      const shown = async (node: Service, path: string) => {
        const { body } = await node.get(path)
        return Number((Array.isArray(body) ? body[0] : body).payment_email.split('@', 1)[0])
      }
      await one.patch(`/affiliates/${id}`, { payment_email: '0@example.com' })
      let answered = 0
      let writing = true
      const reading = [one, two].flatMap(node =>
        [`/affiliates/${id}`, `/affiliates?affiliate_id=${id}`].map(async path => {
          let reads = 0
          for (; writing; reads += 1) {
            const least = answered
            const seen = await shown(node, path)
            assert.ok(seen >= least, `${path} shows ${seen} after ${least} was answered`)
          }
          return reads
        }),
      )
      for (let number = 1; number <= 200; number += 1) {
        const writer = number % 2 ? one : two
        const { status } = await writer.patch(`/affiliates/${id}`, { payment_email: `${number}@example.com` })
        assert.equal(status, 200)
        answered = number
      }
      writing = false
      for (const reads of await Promise.all(reading)) assert.ok(reads > 20, `only ${reads} reads`)
    })

    test('200 - a record that nobody has changed is shown to each caller under the name that they call it by', async () => {
      await one.newAffiliate('first')
      await one.newAffiliate('second')
      const path = '/affiliates?number=1'
      const host = new URL(one.url).host
      const named = await one.get(path, { headers: { 'x-forwarded-host': 'programme.example' } })
      const plain = await one.get(path)
      assert.match(named.headers.get('link')!, /programme\.example/)
      assert.ok(plain.headers.get('link')!.includes(host))
      const { headers } = await one.get('/affiliates/1?nonsense=1')
      assert.equal(headers.get('x-ignored-arguments'), 'nonsense')
      const again = await one.get('/affiliates/1?nonsense=1')
      assert.equal(again.headers.get('x-ignored-arguments'), 'nonsense')
      assert.equal(again.headers.get('etag'), headers.get('etag'))
    })

    test('201 - one account for an e-mail address that both nodes race for', async () => {
      const args = { create_user: true, payment_email: 'same@example.com' }
      const replies = statuses(await race(node => node.post('/affiliates', args)))
      assert.equal(replies['201']?.length, 1)
      for (const reply of replies['409']!) assertFailure(reply, 409, 'existing_user_email')
    })

    test('201 - every generated login is another one', async () => {
      // A plus sign is no part of a login, so that all of these lead to the same one.
      const replies = await race((node, number) => {
        const at = Math.floor(number / 10)
        const payment_email = `a${'+'.repeat(at)}like${'+'.repeat(number % 10)}@example.com`
        return node.post('/affiliates?user=1', { create_user: true, payment_email })
      })
      assert.deepEqual(Object.keys(statuses(replies)), ['201'])
      const records = await Promise.all(replies.map(({ body }) => one.get(`/affiliates/${body.id}?user=1`)))
      const logins = new Set(records.map(({ body }) => body.user.user_login))
      assert.equal(logins.size, RACERS)
    })

    test('200 - one delete of those that race, 404 for the others', async () => {
      const affiliate = await one.newAffiliate('deleted')
      const payout = await one.newPayout(affiliate.id, { referrals: [1, 2] })
      for (const path of [`/payouts/${payout.id}`, `/affiliates/${affiliate.id}`]) {
        const replies = statuses(await race(node => node.delete(path)))
        assert.equal(replies['200']?.length, 1)
        assert.equal(replies['404']?.length, RACERS - 1)
      }
    })

    test('200 - edits and deletes that race leave whole rows', async () => {
      const affiliate = await one.newAffiliate('edited')
      const payout = await one.newPayout(affiliate.id, { referrals: [11, 12] })
      const replies = statuses(
        await race((node, number) =>
          number === RACERS / 2
            ? node.delete(`/payouts/${payout.id}`)
            : node.patch(`/payouts/${payout.id}`, {
                affiliate_id: affiliate.id,
                referrals: [number + 1, number + 2],
              }),
        ),
      )
      assert.equal((replies['200']?.length ?? 0) + (replies['404']?.length ?? 0), RACERS)
      const left = await one.database.reader
        .selectFrom('payout_referrals')
        .selectAll()
        .where('payout_id', '=', payout.id)
        .execute()
      assert.deepEqual(left, [])
    })

    test('400 - the currency does not change under a payout that is being made', async () => {
      await one.newAffiliate('paid')
      const { body } = await one.get('/affiliates?number=1')
      const change = (node: Service, currency: string) =>
        changeSettings(operatorOf(node.database), { currency }).then(
          () => currency,
          () => undefined,
        )
      for (let round = 0; round < 10; round += 1) {
        await clearPayouts(one)
        await change(one, 'USD')
        await delay(0)
        const [changed, ...made] = await Promise.all([
          change(two, 'JPY'),
          ...Array.from({ length: 8 }, (_, number) =>
            (number % 2 ? one : two).post('/payouts', { affiliate_id: body[0].id, amount: 7 }),
          ),
        ])
        const rows = await one.database.reader.selectFrom('payouts').select('amount').execute()
        assert.equal(made.length, rows.length)
        const units = changed === 'JPY' ? 7 : 700
        assert.deepEqual(new Set(rows.map(row => row.amount)), new Set([units]))
      }
      await clearPayouts(one)
      await change(one, 'USD')
    })

    test('200 - the same lines in other orders, some of them refused, on both nodes at once', async () => {
      const { id: affiliate_id } = await one.newAffiliate('lines')
      const references = Array.from({ length: 200 }, (_, number) => `lines ${number}`)
      const isRefused = (reference: string) => Number(reference.split(' ')[1]) % 50 === 7
      const lineOf = (reference: string) =>
        isRefused(reference)
          ? { kind: 'attribution', reference, affiliate_id: 987_654 }
          : {
              kind: 'sale',
              reference,
              amount: 10,
              affiliate_id,
              customer: { email: `${reference.replace(' ', '')}@example.com` },
            }
      const orders = [1, 2, 3, 4].map(seed =>
        references.toSorted((a, b) => (hash('md5', `${seed} ${a}`) < hash('md5', `${seed} ${b}`) ? -1 : 1)),
      )
      const repeats = [one, two].map(({ database }) => repeatsOf(database))
      const replies = await Promise.all(
        orders.map((order, number) =>
          (number % 2 ? one : two).post(
            '/conversions',
            order.map(reference => JSON.stringify(lineOf(reference))).join('\n'),
            { headers: { 'content-type': 'application/x-ndjson' } },
          ),
        ),
      )
      const made: string[] = []
      for (const [number, { status, body }] of replies.entries()) {
        assert.equal(status, 200, JSON.stringify(body))
        const results: { status: number }[] = body
          .trimEnd()
          .split('\n')
          .map((text: string) => JSON.parse(text))
        for (const [place, result] of results.entries()) {
          const reference = orders[number]![place]!
          assert.ok(
            (isRefused(reference) ? [400] : [200, 201]).includes(result.status),
            JSON.stringify(result),
          )
          if (result.status === 201) made.push(reference)
        }
        assert.equal(results.length, references.length)
      }
      if (engine === 'PostgreSQL') {
        const count = repeats.reduce((sum, repeatsOfOne) => sum + repeatsOfOne(), 0)
        assert.equal(count, 0, 'transactions were run again: they wait in circles')
      }
      // Each by one of the requests.
      assert.deepEqual(made.sort(), references.filter(reference => !isRefused(reference)).sort())
      const names = await one.database.reader
        .selectFrom('payment_names')
        .select('name')
        .where('name', 'like', 'lines %')
        .execute()
      assert.deepEqual(names.map(({ name }) => name).sort(), made)
    })

    test('401 - a key that was revoked on another node, within a second', async () => {
      const key = await one.newKey(['affiliates.read'])
      assert.equal((await two.get('/affiliates', { key })).status, 200)
      await revokeKey(operatorOf(one.database), key.publicKey)
      await delay(1000)
      assertFailure(await two.get('/affiliates', { key }), 401, 'rest_forbidden')
    })

    test('201 - a setting that was changed on another node, within a second', async () => {
      const affiliate = await two.newAffiliate('waiting')
      await changeSettings(operatorOf(one.database), { rate_types: ['percentage', 'flat', 'tiered'] })
      await delay(1000)
      const reply = await two.patch(`/affiliates/${affiliate.id}`, { rate_type: 'tiered' })
      assert.equal(reply.status, 200)
    })

    test('a fresh database is migrated once by nodes that start together', async () => {
      const fresh = await unopened[engine]!()
      const databases = await Promise.all(Array.from({ length: 8 }, () => openDatabase(fresh.url)))
      const versions = await databases[0]!.reader.selectFrom('rate_types').selectAll().execute()
      assert.equal(versions.length, 2)
      await Promise.all(databases.map(database => database.close()))
      await fresh.remove()
    })
  })
}

async function clearPayouts({ database }: Service): Promise<void> {
  await database.transaction(async tx => {
    await tx.deleteFrom('payout_referrals').execute()
    await tx.deleteFrom('payouts').execute()
  })
}

/** How many transactions are run again from now on. */
function repeatsOf(database: Database): () => number {
  const { transaction } = database
  let repeats = 0
  Object.assign(database, {
    transaction: (work: (tx: Tx) => Promise<unknown>, mode?: TransactionMode) => {
      let runs = 0
      const counted = (tx: Tx) => {
        runs += 1
        if (runs > 1) repeats += 1
        return work(tx)
      }
      return transaction.call(database, counted, mode)
    },
  })
  return () => repeats
}

/** What is refused because there is too much to do, and nothing was changed, is sent again when the refusal says. */
async function admitted(request: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await request()
    if (reply.body?.code !== 'rest_unavailable') return reply
    await delay(1000 * Number(reply.headers.get('retry-after')))
  }
}
