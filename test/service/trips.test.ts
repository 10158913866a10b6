/** How often a write goes to PostgreSQL and back, and that it is whole however it ends. */
import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import type { DatabaseOptions } from '../../src/storage/database.ts'
import { engines, type Service, serviceOn } from '../harness.ts'
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
      // A machine that is so slow that the key is looked at again.
      const looks = trips.filter(one => one.some(of => of.includes('from "api_keys"'))).length
      assert.ok(
        trips.length - looks <= most,
        `${trips.length} trips:\n${trips.map(one => one.join('\n  ')).join('\n')}`,
      )
      assert.equal(trips.at(-1)!.at(-1), 'COMMIT')
      assert.equal(trips[0]![0], 'BEGIN')
    })
  }
})

describe('new affiliates of one caller at once', () => {
  const create = ({ post }: Service, payment_email: string) =>
    post('/affiliates', { create_user: true, payment_email })
  const eventsOf = async (service: Service) => {
    const admin = await service.admin()
    const { body } = await admin.get('/audit?action=affiliate.create&number=100')
    return body as { record_id: number; after: { payment_email: string } }[]
  }
  const addresses = (count: number) => Array.from({ length: count }, (_, number) => `a${number}@example.com`)
  const insertions = ({ transactions }: Wired['wire']) =>
    transactions.filter(({ trips }) => trips.flat().some(of => of.includes('insert into "affiliates"')))

  test('share transactions, and are the same as one by one', async t => {
    const { wire, service } = await closedAfter(t, wiredService())
    const created = await Promise.all(addresses(60).map(address => create(service, address)))
    assert.deepEqual(new Set(created.map(({ status }) => status)), new Set([201]))
    assert.ok(insertions(wire).length < 20, `${insertions(wire).length} transactions`)
    const events = await eventsOf(service)
    assert.equal(events.length, 60)
    for (const { body } of created) {
      const [event, another] = events.filter(({ record_id }) => record_id === body.affiliate_id)
      assert.equal(event!.after.payment_email, body.payment_email)
      assert.equal(another, undefined)
      const { body: links } = await service.get(`/links?affiliate_id=${body.affiliate_id}`)
      assert.equal(links.length, 1)
    }
  })

  test('are refused one by one, and no other because of it', async t => {
    const { service } = await closedAfter(t, wiredService())
    // Each address twice, in another order: the second of each is refused.
    const sent = [...addresses(40), ...addresses(40).toReversed()]
    const created = await Promise.all(sent.map(address => create(service, address)))
    for (const address of addresses(40)) {
      const statuses = created.flatMap(({ status }, place) => (sent[place] === address ? status : []))
      assert.deepEqual(statuses.sort(), [201, 409], address)
    }
    assert.equal((await service.get('/affiliates?number=100')).body.length, 40)
    assert.equal((await eventsOf(service)).length, 40)
    assert.equal((await create(service, 'later@example.com')).status, 201)
  })

  test('are all in doubt when COMMIT has no answer, and there or not by what the server did', async t => {
    const { wire, service } = await closedAfter(t, wiredService())
    wire.cutAt('insert into "affiliates"', 'COMMIT')
    const created = await Promise.all(addresses(20).map(address => create(service, address)))
    const doubtful = created.flatMap(({ status }, place) => (status === 503 ? place : []))
    assert.ok(doubtful.length > 0)
    for (const place of doubtful) assert.match(created[place]!.body.message, /confirmed/)
    const again = await Promise.all(addresses(20).map(address => create(service, address)))
    for (const { status } of again) assert.ok(status === 201 || status === 409, `${status}`)
    assert.equal((await service.get('/affiliates?number=100')).body.length, 20)
  })
})

describe('a transaction in trips', () => {
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
    const refunded = await Promise.all(refunds.map(refund => service.post('/conversions', refund)))
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
