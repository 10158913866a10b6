/** What a caller sends at the same moment is created together, and is the same as one by one. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { features } from '../../src/app.ts'
import { memberOf } from '../../src/base/unknown.ts'
import { checkDatabase } from '../../src/operations/check/rules.ts'
import type { TransactionOptions } from '../../src/storage/database.ts'
import { describeService, type Reply, type Service } from '../harness.ts'

const COUNT = 40

/** What is sent for each number, and how what was created is called. */
interface Kind {
  readonly path: string
  readonly id: (body: Reply['body']) => number
  readonly action: string
  /** @param affiliate one of two */
  readonly send: (number: number, affiliate: number) => object
  /** What cannot be created, and why. */
  readonly refused: readonly (readonly [sent: object, status: number])[]
}

const kinds: readonly Kind[] = [
  {
    path: '/affiliates',
    id: body => body.affiliate_id,
    action: 'affiliate.create',
    send: number => ({ create_user: true, payment_email: `many-${number}@example.com` }),
    refused: [
      [{ create_user: true, payment_email: 'first@example.com' }, 409],
      [{ user_id: 999_999 }, 400],
    ],
  },
  {
    path: '/payouts',
    id: body => body.payout_id,
    action: 'payout.create',
    send: (number, affiliate_id) => ({ affiliate_id, amount: number + 0.87, referrals: `${900 + number}` }),
    refused: [[{ affiliate_id: 99, amount: 5, referrals: '7' }, 400]],
  },
  {
    path: '/referrals',
    id: body => body.referral_id,
    action: 'referral.create',
    send: (number, affiliate_id) => ({
      affiliate_id,
      amount: number + 0.1,
      context: 'shop',
      reference: `referral-${number}`,
      status: 'unpaid',
    }),
    refused: [[{ affiliate_id: 99, amount: 5 }, 400]],
  },
  {
    path: '/conversions',
    id: body => body.conversion.conversion_id,
    action: 'conversion.create',
    send: (number, affiliate_id) => ({
      kind: 'sale',
      context: 'shop',
      reference: `sale-${number}`,
      amount: 10 * number + 7.5,
      affiliate_id,
    }),
    refused: [
      // Another amount than before.
      [{ kind: 'sale', context: 'shop', reference: 'first', amount: 99 }, 409],
      [{ kind: 'refund', context: 'shop', reference: 'first', amount: 9, currency: 'JPY' }, 400],
    ],
  },
]

/** How many transactions create many from now on. */
function countingGroups({ database }: Service): () => number {
  const { transaction } = database
  let groups = 0
  database.transaction = (work, options?: TransactionOptions) => {
    if (options?.brief) groups += 1
    return transaction.call(database, work, options) as ReturnType<typeof work>
  }
  return () => groups
}

/** Amounts of referrals are texts, in AffiliateWP as well. */
const asSent = (value: unknown) => (/^\d+\.\d\d$/.test(String(value)) ? Number(value) : value)

describeService('creating at the same moment', service => {
  const affiliates: number[] = []
  let used = 0
  before(async () => {
    const active = { status: 'active' }
    for (const name of ['first', 'second']) affiliates.push((await service().newAffiliate(name, active)).id)
    const first = { kind: 'sale', context: 'shop', reference: 'first', amount: 50 }
    assert.equal((await service().post('/conversions', first)).status, 201)
  })

  /** So many requests that no other test sends. */
  const newRequests = ({ send }: Kind, count: number): object[] => {
    used += count
    return Array.from({ length: count }, (_, place) => send(used - place, affiliates[place % 2]!))
  }
  const postAll = ({ path }: Kind, all: readonly object[]) =>
    Promise.all(all.map(one => service().post(path, one)))
  const assertSound = async () =>
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])

  for (const kind of kinds) {
    const { path, id, action, refused } = kind
    test(`${path}: each is answered, stored and logged as its own`, async () => {
      const all = newRequests(kind, COUNT)
      // On connections that are there already, they arrive in one turn, or a few.
      await Promise.all(all.map(() => service().get('/affiliates?number=1')))
      const groups = countingGroups(service())
      const replies = await postAll(kind, all)
      assert.ok(groups() > 0 && groups() < COUNT / 4, `${groups()} groups`)
      const admin = await service().admin()
      const { body: events } = await admin.get(`/audit?action=${action}&number=100`)
      assert.equal(new Set(replies.map(({ body }) => id(body))).size, COUNT)
      for (const [place, { status, headers, body }] of replies.entries()) {
        assert.equal(status, 201)
        assert.ok(headers.get('location')!.endsWith(`${path}/${id(body)}`))
        const answered = path === '/conversions' ? body.conversion : body
        assert.deepEqual((await service().get(`${path}/${id(body)}`)).body, answered)
        for (const name of ['payment_email', 'affiliate_id', 'amount', 'reference', 'referrals']) {
          const sent = memberOf(all[place], name)
          if (sent !== undefined) assert.equal(asSent(answered[name]), sent, name)
        }
        const logged = events.filter((one: { record_id: number }) => one.record_id === id(body))
        assert.deepEqual(
          logged.map((one: { actor_name: string }) => one.actor_name),
          [service().key.publicKey],
        )
      }
      await assertSound()
    })

    test(`${path}: those that are refused are told why, and the others are created`, async () => {
      const all = newRequests(kind, 20)
      const sent = [...all.slice(0, 10), ...refused.map(([wrong]) => wrong), ...all.slice(10)]
      const replies = await postAll(kind, sent)
      assert.deepEqual(
        replies.map(({ status }) => status),
        [...Array(10).fill(201), ...refused.map(([, status]) => status), ...Array(10).fill(201)],
      )
      await assertSound()
    })

    test(`${path}: under an Idempotency-Key each is created once`, async () => {
      const all = newRequests(kind, 10)
      const replies = await Promise.all(
        [...all, ...all].map((one, place) =>
          service().post(path, one, { headers: { 'Idempotency-Key': `${path} ${place % 10}` } }),
        ),
      )
      assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([201]))
      assert.equal(new Set(replies.map(({ body }) => id(body))).size, 10)
      await assertSound()
    })
  }

  for (const kind of kinds.filter(({ path }) => ['/referrals', '/conversions'].includes(path))) {
    test(`${kind.path}: what is sent twice at the same moment is created once`, async () => {
      const all = newRequests(kind, 15)
      const replies = await postAll(kind, [...all, ...all])
      const statuses = replies.map(({ status }) => status).sort()
      assert.deepEqual(statuses, [...Array(15).fill(200), ...Array(15).fill(201)])
      for (let place = 0; place < 15; place += 1)
        assert.equal(kind.id(replies[place]!.body), kind.id(replies[place + 15]!.body))
      await assertSound()
    })
  }
})
