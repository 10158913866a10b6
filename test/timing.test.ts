/** How long a refusal takes must not tell how near a guess was. */
import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { fullCost, hashAt, hashPassword } from '../src/accounts/users/password.ts'
import { insertUsers } from '../src/accounts/users/store.ts'
import { type Service, startService } from './harness.ts'

const SAMPLES = process.env.LONG ? 10_000 : 1000
/** Each takes as long as a password's hash. */
const LOGINS = process.env.LONG ? 5000 : 100
// Cheaper than what users get, where there is no time for that: what is compared costs the same for both.
hashAt(process.env.LONG ? fullCost : { ...fullCost, n: 2 ** 12 })
/** Standard errors that chance does not reach, as often as this test is run. */
const NOTICEABLE = 5

interface Refused {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string
}

/** @returns how long it took until all of the refusal was there, in nanoseconds */
function refusal(agent: Agent, { url }: Service, { path, body, ...options }: Refused): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const began = process.hrtime.bigint()
  const sent = request(url + path, { agent, ...options }, response => {
    assert.equal(response.statusCode, 401)
    response.resume().on('end', () => resolve(Number(process.hrtime.bigint() - began)))
  })
  sent.on('error', reject).end(body)
  return promise
}

const asks = (authorization: string): Refused => ({
  method: 'GET',
  path: '/v1/affiliates',
  headers: { authorization },
})

/** Somebody who has not tried before, so that no limit is reached. */
const logsIn = (login: string, number: number): Refused => ({
  method: 'POST',
  path: '/admin/api/session',
  headers: {
    'content-type': 'application/json',
    'x-admin-request': '1',
    'x-forwarded-for': `198.18.${number >> 8}.${number & 255}`,
  },
  body: JSON.stringify({ login, password: 'wrong password' }),
})

/**
 * Asks for both in turns of random order, so that what else the machine does meets both alike.
 * @param lanes how many are asked for at once
 */
async function assertAlike(
  t: TestContext,
  what: string,
  samples: number,
  lanes: number,
  timeOf: (index: 0 | 1, number: number) => Promise<number>,
): Promise<void> {
  const times: [number[], number[]] = [[], []]
  const askAll = async (lane: number) => {
    for (let number = lane; number < samples; number += lanes) {
      const order = Math.random() < 0.5 ? ([0, 1] as const) : ([1, 0] as const)
      for (const index of order) times[index].push(await timeOf(index, number))
    }
  }
  await Promise.all(Array.from({ length: lanes }, (_, lane) => askAll(lane)))
  const seen = difference(...times)
  t.diagnostic(`${what}: ${seen.toFixed(2)} standard errors apart`)
  assert.ok(Math.abs(seen) < NOTICEABLE, `${what}: ${seen}`)
}

/** Mann-Whitney's U as standard errors from what chance makes of it: outliers count by their rank only. */
function difference(a: number[], b: number[]): number {
  const all = [...a.map(value => ({ value, isA: true })), ...b.map(value => ({ value, isA: false }))]
  all.sort((left, right) => left.value - right.value)
  const rankSum = all.reduce((sum, { isA }, index) => sum + (isA ? index + 1 : 0), 0)
  const u = rankSum - (a.length * (a.length + 1)) / 2
  const mean = (a.length * b.length) / 2
  return (u - mean) / Math.sqrt((a.length * b.length * (a.length + b.length + 1)) / 12)
}

test(`${SAMPLES} refusals of each kind take alike`, async t => {
  const service = await startService()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(async () => {
    agent.destroy()
    await service.close()
  })
  const { publicKey, token } = service.key
  const basic = (name: string, secret: string) =>
    `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`
  // All of one length: what is sent is no secret.
  const near = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`
  const far = `affiliated_sk_${'Z'.repeat(token.length - 14)}`
  const noKey = publicKey.replace(/.{24}$/, '0'.repeat(24))
  const pairs: [string, string, string][] = [
    [
      'a public key that exists, and one that does not, with a wrong token',
      basic(publicKey, far),
      basic(noKey, far),
    ],
    ['a token that is nearly right, and one that is not', basic(publicKey, near), basic(publicKey, far)],
    ['the same as bearer', `Bearer ${near}`, `Bearer ${far}`],
  ]
  for (let number = 0; number < 500; number += 1) await refusal(agent, service, asks(pairs[number % 3]![1]))
  for (const [what, ...pair] of pairs) {
    await assertAlike(t, what, SAMPLES, 1, index => refusal(agent, service, asks(pair[index])))
  }
})

test(`${LOGINS} log-ins with a wrong password take alike, whether or not there is the account`, async t => {
  const service = await startService()
  const agent = new Agent({ keepAlive: true, maxSockets: 2 })
  t.after(async () => {
    agent.destroy()
    await service.close()
  })
  const password_hash = await hashPassword('right password')
  const account = (number: number) => {
    const login = `known${number}`
    const email = `${login}@example.com`
    const [names, times] = [
      { first_name: '', last_name: '' },
      { registered_at: 1, updated_at: 1 },
    ]
    const shown = { display_name: login, display_name_key: login, role: 'administrator' as const }
    return { login, login_key: login, email, email_key: email, password_hash, ...names, ...shown, ...times }
  }
  for (let number = 0; number < LOGINS; number += 500) {
    const some = Array.from({ length: Math.min(500, LOGINS - number) }, (_, one) => account(number + one))
    await service.database.transaction(tx => insertUsers(tx, some))
  }
  const names = ['known', 'nobod'] as const
  for (let number = 0; number < 5; number += 1) {
    await refusal(agent, service, logsIn(`warm${number}`, 2 * LOGINS + number))
  }
  await assertAlike(t, 'an account that exists, and one that does not', LOGINS, 2, (index, number) => {
    const login = `${names[index]}${number}${number % 2 ? '@example.com' : ''}`
    return refusal(agent, service, logsIn(login, 2 * number + index))
  })
})
