/** How long a refusal takes must not tell how near a guess was. */
import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { test } from 'node:test'
import { type Service, startService } from './harness.ts'

const SAMPLES = process.env.LONG ? 10_000 : 1000
/** Standard errors that chance does not reach, as often as this test is run. */
const NOTICEABLE = 5

function ask(agent: Agent, { url }: Service, authorization: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const began = process.hrtime.bigint()
  const sent = request(`${url}/v1/affiliates`, { agent, headers: { authorization } }, response => {
    assert.equal(response.statusCode, 401)
    response.resume().on('end', () => resolve(Number(process.hrtime.bigint() - began)))
  })
  sent.on('error', reject).end()
  return promise
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
  for (let number = 0; number < 500; number += 1) await ask(agent, service, pairs[number % 3]![1])
  for (const [what, one, other] of pairs) {
    const times: [number[], number[]] = [[], []]
    for (let number = 0; number < SAMPLES; number += 1) {
      // In turns of random order, so that what else the machine does meets both alike.
      const first = Math.random() < 0.5 ? 0 : 1
      for (const index of [first, 1 - first])
        times[index]!.push(await ask(agent, service, index === 0 ? one : other))
    }
    const seen = difference(...times)
    t.diagnostic(`${what}: ${seen.toFixed(2)} standard errors apart`)
    assert.ok(Math.abs(seen) < NOTICEABLE, `${what}: ${seen}`)
  }
})
