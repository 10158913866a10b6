/** How often a write goes to PostgreSQL and back, and that it is whole however it ends. */
import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { addAccount } from '../../src/accounts/users/rules.ts'
import * as affiliateRules from '../../src/programme/affiliates/rules.ts'
import { createGathered } from '../../src/records/gathered.ts'
import { type DatabaseOptions, DatabaseUnavailable } from '../../src/storage/database.ts'
import { GuardedDatabase } from '../../src/storage/guarded.ts'
import { engines, operatorOf, type Service, serviceOn } from '../harness.ts'
import { wireTo } from '../wire.ts'

async function wiredService({ isPooled = false, ...options }: DatabaseOptions & { isPooled?: boolean } = {}) {
  const fresh = await engines.PostgreSQL!()
  const wire = await wireTo(fresh.url, isPooled)
  const remove = async () => {
    await wire.close()
    await fresh.remove()
  }
  return { wire, service: await serviceOn({ url: wire.url, remove }, {}, options) }
}

type Wired = Awaited<ReturnType<typeof wiredService>>

async function closedAfter(t: TestContext, wired: Promise<Wired>): Promise<Wired> {
  const { service } = await wired
  t.after(() => service.close())
  return wired
}

const referral = (number: number) => ({
  affiliate_id: 1,
  amount: 12.5,
  context: 'shop',
  reference: `order ${number}`,
  status: 'unpaid',
})

/** Somebody who has added an address, and neither commits nor rolls back before `end`. */
const adding = async ({ database }: Service, email: string) => {
  const [isAdded, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const added = database.transaction(async tx => {
    await addAccount(tx, { email })
    isAdded.resolve()
    await end.promise
    throw new Error('given up')
  })
  await isAdded.promise
  return async () => {
    end.resolve()
    await assert.rejects(added, /given up/)
  }
}

/** Without those in which the key is looked at again, as on a machine that is so slow. */
const countOf = (trips: readonly (readonly string[])[]) =>
  trips.length - trips.filter(one => one.some(of => of.includes('from "api_keys"'))).length

const listed = (trips: readonly (readonly string[])[]) => trips.map(one => one.join('\n  ')).join('\n')

describe('trips to PostgreSQL and back', () => {
  let wired: Wired
  let service: Service
  before(async () => {
    wired = await wiredService()
    service = wired.service
    await service.newAffiliate('first')
  })
  after(() => service.close())

  const writes: Record<string, [table: string, trips: number, send: () => Promise<{ status: number }>]> = {
    'create affiliate': [
      'insert into "affiliates"',
      2,
      () => service.post('/affiliates', { create_user: true, payment_email: 'second@example.com' }),
    ],
    'edit affiliate': [
      'update "affiliates"',
      2,
      () => service.patch('/affiliates/1', { payment_email: 'other@example.com' }),
    ],
    'create referral': ['insert into "referrals"', 3, () => service.post('/referrals', referral(1))],
    'edit referral': ['update "referrals"', 2, () => service.patch('/referrals/1', { amount: 14 })],
    'create payout': [
      'insert into "payouts"',
      3,
      () => service.post('/payouts', { affiliate_id: 1, referrals: [1, 77] }),
    ],
    'create visit': [
      'insert into "visits"',
      2,
      () => service.post('/visits', { affiliate_id: 1, url: 'https://shop.example/' }),
    ],
  }
  for (const [name, [statement, most, send]] of Object.entries(writes)) {
    test(`${name}: at most ${most}`, async () => {
      const { status } = await send()
      assert.ok(status === 200 || status === 201, `${status}`)
      const { trips } = wired.wire.transactions.findLast(one =>
        one.trips.flat().some(of => of.includes(statement)),
      )!
      assert.ok(countOf(trips) <= most, `${trips.length} trips:\n${listed(trips)}`)
      assert.equal(trips.at(-1)!.at(-1), 'COMMIT')
      assert.equal(trips[0]![0], 'BEGIN')
    })
  }

  test('report sale: one more to ask what was sold before, with which the lock on it travels', async () => {
    const { id } = await service.newAffiliate('selling', { status: 'active' })
    const tripsOf = async (reference: string) => {
      const sale = { kind: 'sale', context: 'shop', reference, amount: 10, affiliate_id: id }
      assert.equal((await service.post('/conversions', sale)).status, 201)
      const statements = /insert into "conversions"/
      return wired.wire.transactions.findLast(({ trips }) => trips.flat().some(of => statements.test(of)))!
        .trips
    }
    const without = await tripsOf('without tiers')
    const conditions = [{ field: 'sales_ever', at_least: 1 }]
    assert.equal((await service.post('/rules', { name: 'tier', rate: 30, conditions })).status, 201)
    // Reads the rules.
    await tripsOf('first')
    const trips = await tripsOf('with tiers')
    assert.ok(countOf(trips) <= countOf(without) + 1, listed(trips))
    const asking = trips.find(one => one.some(of => of.includes('FROM sales_months')))!
    assert.match(asking.join('\n'), /pg_advisory_xact_lock\(-/)
  })
})

describe('new affiliates of one caller at once', () => {
  /** As requests do, but all in one turn, so it is certain which are created together. */
  const creating = async ({ database }: Service, payment_emails: readonly string[]) => {
    const context = operatorOf(new GuardedDatabase(database, {}))
    await context.settings.current()
    return payment_emails.map(async payment_email => {
      const args = { create_user: true, payment_email }
      const { created } = await createGathered('affiliate', context, args, affiliateRules)
      return created
    })
  }
  const createAll = async (service: Service, payment_emails: readonly string[]) =>
    Promise.allSettled(await creating(service, payment_emails))
  const addresses = (count: number) => Array.from({ length: count }, (_, number) => `a${number}@example.com`)
  /** How many transactions added affiliates. */
  const count = ({ transactions }: Wired['wire']) =>
    transactions.filter(({ trips }) => trips.flat().some(of => /insert into "affiliates"/i.test(of))).length
  /** Each has its link and its event. */
  const assertStored = async (service: Service, expected: readonly string[]) => {
    const { body: affiliates } = await service.get('/affiliates?number=100')
    const admin = await service.admin()
    const { body: events } = await admin.get('/audit?action=affiliate.create&number=100')
    assert.deepEqual(
      affiliates.map((one: { payment_email: string }) => one.payment_email).sort(),
      [...expected].sort(),
    )
    assert.equal(events.length, expected.length)
    for (const { affiliate_id, payment_email } of affiliates) {
      const event = events.find((one: { record_id: number }) => one.record_id === affiliate_id)
      assert.equal(event.after.payment_email, payment_email)
      assert.equal((await service.get(`/links?affiliate_id=${affiliate_id}`)).body.length, 1)
    }
  }

  test('are created together, and are the same as one by one', async t => {
    const { wire, service } = await closedAfter(t, wiredService())
    const created = await createAll(service, addresses(60))
    assert.equal(count(wire), 2)
    assert.deepEqual(
      created.map(one => one.status === 'fulfilled' && one.value.payment_email),
      addresses(60),
    )
    await assertStored(service, addresses(60))
  })

  test('are refused one by one, and no other because of it', async t => {
    const { service } = await closedAfter(t, wiredService())
    // Each address twice, in another order: one of the two is refused.
    const sent = [...addresses(40), ...addresses(40).toReversed()]
    const created = await createAll(service, sent)
    for (const address of addresses(40)) {
      const outcomes = created.flatMap(({ status }, place) => (sent[place] === address ? status : []))
      assert.deepEqual(outcomes.sort(), ['fulfilled', 'rejected'], address)
    }
    for (const one of created) {
      if (one.status === 'rejected') assert.match(one.reason.failure, /^(?:email|login)_taken$/)
    }
    await assertStored(service, addresses(40))
  })

  test('do not wait for one whose address somebody else is about to add', { timeout: 60_000 }, async t => {
    const { wire, service } = await closedAfter(t, wiredService())
    const end = await adding(service, 'a5@example.com')
    const all = await creating(service, addresses(20))
    await Promise.all(all.filter((_, place) => place !== 5))
    assert.ok(wire.transactions.some(({ trips }) => trips.flat().includes('ROLLBACK')))
    await end()
    assert.equal((await all[5]!).payment_email, 'a5@example.com')
    await assertStored(service, addresses(20))
  })

  test('are all in doubt when the COMMIT that they share has no answer', async t => {
    // With names, the text of a statement is sent only once.
    const { wire, service } = await closedAfter(t, wiredService({ isNaming: false }))
    wire.cutAt('a6@example.com', 'a7@example.com', 'COMMIT')
    const created = await createAll(service, addresses(8))
    for (const one of created) {
      assert.ok(one.status === 'rejected' && one.reason instanceof DatabaseUnavailable)
      assert.equal(one.reason.reason, 'in doubt')
    }
    await createAll(service, addresses(8))
    await assertStored(service, addresses(8))
  })

  test('of two callers, each under its own name in the log', async t => {
    const { service } = await closedAfter(t, wiredService())
    const keys = [service.key, await service.newKey(['affiliates.create'])]
    const created = await Promise.all(
      addresses(40).map((payment_email, place) =>
        service.post('/affiliates', { create_user: true, payment_email }, { key: keys[place % 2]! }),
      ),
    )
    const admin = await service.admin()
    const { body: events } = await admin.get('/audit?action=affiliate.create&number=100')
    for (const [place, { status, body }] of created.entries()) {
      assert.equal(status, 201)
      const event = events.find((one: { record_id: number }) => one.record_id === body.affiliate_id)
      assert.equal(event.actor_name, keys[place % 2]!.publicKey)
    }
  })
})

describe('a transaction in trips', () => {
  test('that is committed is answered so, also when nothing can be read afterwards', {
    timeout: 60_000,
  }, async t => {
    const { service } = await closedAfter(t, wiredService())
    await service.newAffiliate('first')
    const end = await adding(service, 'awaited@example.com')
    const created = service.post('/affiliates', { create_user: true, payment_email: 'awaited@example.com' })
    // Until the settings that the request has read are too old for another one.
    await delay(1000)
    const [isLocked, unlock] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const locking = service.database.transaction(async tx => {
      await sql`LOCK TABLE settings IN ACCESS EXCLUSIVE MODE`.execute(tx)
      isLocked.resolve()
      await unlock.promise
    })
    await isLocked.promise
    await end()
    assert.equal((await created).status, 201)
    unlock.resolve()
    await locking
  })

  test('that is committed is not said to have changed nothing when its answer cannot be read', async t => {
    const { wire, service } = await closedAfter(t, wiredService())
    const admin = await service.admin()
    wire.cutAt('SELECT 1 FROM')
    const cut = await admin.patch('/settings', { default_rate: 33 })
    assert.equal(cut.status, 503)
    assert.match(cut.body.message, /Look whether the change was made/)
    assert.equal((await admin.get('/settings')).body.default_rate, '33')
  })

  test('whose COMMIT has no answer is in doubt', async t => {
    const { wire, service } = await closedAfter(t, wiredService({ isNaming: false }))
    await service.newAffiliate('first')
    const sent = await service.post('/referrals', referral(1))
    assert.equal(sent.status, 201)
    wire.cutAt('insert into "ledger_transfers"', 'COMMIT')
    const cut = await service.post('/referrals', referral(2))
    assert.equal(cut.status, 503)
    assert.match(cut.body.message, /confirmed/)
    const again = await service.post('/referrals', referral(2))
    assert.ok(again.status === 200 || again.status === 201, `${again.status}`)
    const { body } = await service.get('/affiliates/1')
    assert.deepEqual([body.referrals, body.unpaid_earnings], [2, 25])
  })

  test('is refused as unavailable when the server has ended it for its time limit', async t => {
    const { service } = await closedAfter(t, wiredService())
    const idle = service.database.transaction(async tx => {
      await sql`SET LOCAL idle_in_transaction_session_timeout = 1`.execute(tx)
      // The next statement is sent before this process hears of the end.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
      await sql`SELECT 1`.execute(tx)
    })
    await assert.rejects(idle, DatabaseUnavailable)
    await service.newAffiliate('first')
  })

  test('is nothing when something fails that nobody waits for', async t => {
    const { service } = await closedAfter(t, wiredService())
    await service.newAffiliate('first')
    await service.database.transaction(tx => sql`DROP TABLE balances`.execute(tx))
    const failed = await service.post('/referrals', referral(1))
    assert.equal(failed.status, 500)
    assert.deepEqual((await service.get('/referrals')).body, [])
    // The connection is in order again.
    await service.newAffiliate('second')
  })

  test('goes through a pooler that knows nothing of names, which is found out', async t => {
    const { wire, service } = await closedAfter(t, wiredService({ isPooled: true, poolSize: 4 }))
    await service.newAffiliate('first')
    const numbers = Array.from({ length: 20 }, (_, number) => number)
    const statuses = await Promise.all(
      numbers.map(async number => (await service.post('/referrals', referral(number))).status),
    )
    assert.deepEqual(new Set(statuses), new Set([201]))
    const named = wire.named()
    for (const number of numbers) await service.post('/referrals', referral(100 + number))
    assert.equal(wire.named(), named)
    assert.equal((await service.get('/affiliates/1')).body.referrals, 40)
  })

  test('is not run again because others report the same payment by its other names', async t => {
    const { wire, service } = await closedAfter(t, wiredService())
    const names = ['order', 'intent', 'charge']
    const sale = { kind: 'sale', context: 'shop', reference: 'sale', references: names, amount: 100 }
    assert.equal((await service.post('/conversions', sale)).status, 201)
    const refunds = Array.from({ length: 30 }, (_, number) => {
      const reference = names[number % names.length]
      return { kind: 'refund', context: 'shop', reference, part: `${number}`, amount: 1 }
    })
    // With a key, each has a transaction of its own.
    const refunded = await Promise.all(
      refunds.map(refund =>
        service.post('/conversions', refund, { headers: { 'Idempotency-Key': refund.part } }),
      ),
    )
    assert.deepEqual(new Set(refunded.map(({ status }) => status)), new Set([201]))
    assert.deepEqual(
      wire.transactions.filter(({ trips }) => trips.flat().includes('ROLLBACK')),
      [],
    )
  })

  test('names nothing where that is switched off', async t => {
    const { wire, service } = await closedAfter(t, wiredService({ isNaming: false }))
    await service.newAffiliate('first')
    assert.equal((await service.get('/affiliates/1')).status, 200)
    assert.equal(wire.named(), 0)
  })

  test('goes on when a table has got another column', async t => {
    const { service } = await closedAfter(t, wiredService({ poolSize: 2 }))
    await service.newAffiliate('first')
    for (const number of [1, 2, 3])
      assert.equal((await service.post('/referrals', referral(number))).status, 201)
    await service.database.transaction(tx => sql`ALTER TABLE referrals ADD COLUMN later bigint`.execute(tx))
    assert.equal((await service.post('/referrals', referral(4))).status, 201)
    assert.equal((await service.get('/referrals/4')).status, 200)
  })
})
