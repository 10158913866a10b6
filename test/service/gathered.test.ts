/** What a caller sends at the same moment is created together, and is the same as one by one. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { pino } from 'pino'
import { buildApp, features } from '../../src/app.ts'
import { Failure } from '../../src/base/errors.ts'
import { checkDatabase } from '../../src/operations/check/rules.ts'
import * as affiliateRules from '../../src/programme/affiliates/rules.ts'
import type { CreateArguments } from '../../src/programme/affiliates/schema.ts'
import { createGathered } from '../../src/records/gathered.ts'
import type { TransactionMode } from '../../src/storage/database.ts'
import { GuardedDatabase } from '../../src/storage/guarded.ts'
import { describeService, operatorOf, type Reply, type Service } from '../harness.ts'

const COUNT = 40

/** What is sent for each number, and how what was created is called. */
interface Kind {
  readonly path: string
  readonly id: (body: Reply['body']) => number
  readonly action: string
  /** @param affiliate one of two */
  readonly send: (number: number, affiliate: number) => object
  /** Whether what is sent again is answered by what was created. */
  readonly repeats?: true
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
    refused: [[{ affiliate_id: 999_999, amount: 5, referrals: '7' }, 400]],
  },
  {
    path: '/referrals',
    id: body => body.referral_id,
    action: 'referral.create',
    repeats: true,
    send: (number, affiliate_id) => ({
      affiliate_id,
      amount: number + 0.1,
      context: 'shop',
      reference: `referral-${number}`,
      status: 'unpaid',
    }),
    refused: [[{ affiliate_id: 999_999, amount: 5 }, 400]],
  },
  {
    path: '/conversions',
    id: body => body.conversion.conversion_id,
    action: 'conversion.create',
    repeats: true,
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

/** Transactions, when most requests share one. */
const FEW = COUNT / 2

/**
 * Sends until some are created together: whether they arrive at the same moment takes luck, and after a refusal each is
 * created by itself for a second.
 * @param most transactions, of which at least one creates many
 */
async function together<T>(service: Service, most: number, send: () => Promise<T>): Promise<T> {
  const { database } = service
  const { transaction } = database
  for (let rounds = 1; ; rounds += 1) {
    // On connections that are there already, they arrive in one turn, or a few.
    await Promise.all(Array.from({ length: COUNT }, () => service.get('/affiliates?number=1')))
    const count = { groups: 0, all: 0 }
    const errors: unknown[] = []
    database.transaction = (work, mode?: TransactionMode) => {
      count.all += 1
      if (mode === 'brief') count.groups += 1
      const result = transaction.call(database, work, mode) as ReturnType<typeof work>
      result.catch(error => errors.push(error))
      return result
    }
    const result = await send().finally(() => {
      database.transaction = transaction
    })
    if (count.groups > 0 && count.all <= most) return result
    assert.ok(rounds < 5, `${count.groups} of ${count.all} transactions are of many, for ${inspect(errors)}`)
    await delay(1000)
  }
}

/** What an event says, apart from the values. */
async function eventsOf({ database }: Service, action: string): Promise<Map<number, object>> {
  const rows = await database.reader.selectFrom('events').selectAll().where('action', '=', action).execute()
  const names = (text: string) => (text === '' ? [] : Object.keys(JSON.parse(text)).sort())
  return new Map(
    rows.map(({ record_id, actor_kind, actor_name, actor_id, address, person_id, ...texts }) => [
      record_id!,
      {
        ...{ actor_kind, actor_name, actor_id, address, isOfPerson: person_id !== null },
        ...{ before: names(texts.before_values), after: names(texts.after_values) },
        personal: texts.personal === '' ? [] : names(JSON.stringify(JSON.parse(texts.personal).after)),
      },
    ]),
  )
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
      const { all, replies } = await together(service(), FEW, async () => {
        const all = newRequests(kind, COUNT)
        return { all, replies: await postAll(kind, all) }
      })
      const [alone] = await postAll(kind, newRequests(kind, 1))
      const events = await eventsOf(service(), action)
      const distinct = new Set<string>()
      assert.equal(new Set(replies.map(({ body }) => id(body))).size, COUNT)
      for (const [place, { status, headers, body }] of replies.entries()) {
        assert.equal(status, 201)
        assert.ok(headers.get('location')!.endsWith(`${path}/${id(body)}`))
        const answered = path === '/conversions' ? body.conversion : body
        assert.deepEqual((await service().get(`${path}/${id(body)}`)).body, answered)
        const shown = Object.entries(all[place]!).filter(([name]) => name in answered)
        for (const [name, sent] of shown) assert.equal(asSent(answered[name]), sent, name)
        distinct.add(JSON.stringify(shown))
        assert.deepEqual(events.get(id(body)), events.get(id(alone!.body)))
      }
      assert.equal(distinct.size, COUNT, '`send` has to send something else for each, which is answered')
      await assertSound()
    })

    if (kind.repeats) {
      test(`${path}: what is sent twice at the same moment is created once`, async () => {
        const replies = await together(service(), FEW, async () => {
          const all = newRequests(kind, COUNT / 2)
          return postAll(kind, [...all, ...all])
        })
        const statuses = replies.map(({ status }) => status).sort()
        assert.deepEqual(statuses, [...Array(COUNT / 2).fill(200), ...Array(COUNT / 2).fill(201)])
        for (let place = 0; place < COUNT / 2; place += 1)
          assert.equal(id(replies[place]!.body), id(replies[place + COUNT / 2]!.body))
        await assertSound()
      })
    }

    test(`${path}: those that are refused are told why, and the others are created`, async () => {
      // What conversions are refused for may be found out when something of them is stored already.
      const most = path === '/conversions' ? Number.POSITIVE_INFINITY : FEW / 2
      const replies = await together(service(), most, async () => {
        const all = newRequests(kind, 20)
        const sent = [...all.slice(0, 10), ...refused.map(([wrong]) => wrong), ...all.slice(10)]
        return postAll(kind, sent)
      })
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

  for (const which of ['before', 'after'] as const) {
    test(`a request that may not write any more ${which} the others have is refused alone`, async () => {
      const refusal = new Failure('session_required')
      const refuse = async () => {
        throw refusal
      }
      const { all, outcomes } = await together(service(), Number.POSITIVE_INFINITY, async () => {
        const all = newRequests(kinds[0]!, 5) as CreateArguments[]
        const outcomes = await Promise.allSettled(
          all.map((args, place) => {
            const guards = place === 2 ? { [which]: refuse } : {}
            const context = operatorOf(new GuardedDatabase(service().database, guards))
            return createGathered('affiliate', context, args, affiliateRules)
          }),
        )
        return { all, outcomes }
      })
      const stored = (await service().get('/affiliates?number=1000')).body.map(
        (one: { payment_email: string }) => one.payment_email,
      )
      for (const [place, outcome] of outcomes.entries()) {
        assert.equal(
          outcome.status === 'rejected' ? outcome.reason : undefined,
          place === 2 ? refusal : undefined,
        )
        assert.equal(stored.includes(all[place]!.payment_email), place !== 2)
      }
    })
  }

  test('/payouts: what names very many referrals is created by itself, so that others get their turn', async () => {
    const referrals = Array.from({ length: 101 }, (_, number) => 800_000 + number).join()
    const { database } = service()
    const { transaction } = database
    let groups = 0
    database.transaction = (work, mode) => {
      if (mode === 'brief') groups += 1
      return transaction.call(database, work, mode) as ReturnType<typeof work>
    }
    const all = newRequests(kinds[1]!, COUNT).map(sent => ({ ...sent, referrals }))
    const replies = await postAll(kinds[1]!, all).finally(() => {
      database.transaction = transaction
    })
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([201]))
    assert.equal(groups, 0)
  })

  test('/affiliates: a defect for which each is created by itself is logged', async t => {
    const { database } = service()
    const lines: string[] = []
    const app = await buildApp(database, {
      bodyLimitBytes: 1_048_576,
      corsOrigins: [],
      rateLimit: 0,
      readSeconds: 20,
      trustProxy: 0,
      logger: pino({ level: 'warn' }, { write: line => lines.push(line) }),
    })
    t.after(() => app.close())
    const { transaction } = database
    database.transaction = (work, mode) => {
      const failing: typeof work = async tx => {
        const result = await work(tx)
        if (mode === 'brief') throw new TypeError('a defect')
        return result
      }
      return transaction.call(database, failing, mode) as ReturnType<typeof work>
    }
    // Nothing of a new key is created by itself yet.
    const { token } = await service().newKey(['affiliates.create'])
    const post = (payload: object) =>
      app.inject({
        method: 'POST',
        url: '/v1/affiliates',
        headers: { authorization: `Bearer ${token}` },
        payload,
      })
    const replies = await Promise.all(newRequests(kinds[0]!, COUNT).map(post)).finally(() => {
      database.transaction = transaction
    })
    assert.deepEqual(new Set(replies.map(({ statusCode }) => statusCode)), new Set([201]))
    const [{ level, path, err, msg }, ...others] = lines.map(line => JSON.parse(line))
    assert.deepEqual([level, path, err.message], [40, '/affiliates', 'a defect'])
    assert.match(msg, /each is done by itself/)
    assert.deepEqual(others, [])
  })

  test('/referrals: a deleted affiliate is owed what earlier write-offs have left', async () => {
    const { id } = await service().newAffiliate('leaver', { status: 'active' })
    await service().post('/referrals', { affiliate_id: id, amount: 35, status: 'unpaid' })
    await service().delete(`/affiliates/${id}`)
    const writeOff = { affiliate_id: id, amount: -1, type: 'write_off' }
    const replies = await Promise.all(
      Array.from({ length: COUNT }, () => service().post('/referrals', writeOff)),
    )
    assert.equal(replies.filter(({ status }) => status === 201).length, 35)
    assert.equal(replies.filter(({ status }) => status === 400).length, COUNT - 35)
    await assertSound()
  })
})

test('every kind that many can be created of is among these', () => {
  const folder = new URL('../../src/programme/', import.meta.url)
  const paths = globSync('*/*.ts', { cwd: folder })
    .filter(file => !file.endsWith('.test.ts'))
    .filter(file => readFileSync(new URL(file, folder), 'utf8').includes('createMany'))
    .map(file => `/${dirname(file)}`)
  assert.deepEqual(
    [...new Set(paths)].sort(),
    kinds.map(({ path }) => path).sort(),
    'add to `kinds` what is sent to create one of each',
  )
})
