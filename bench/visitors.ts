/**
 * What a steady stream of visitors does to the others: `node bench/visitors.ts`. Offered are so many visits a second, however
 * fast they are answered, and beside them get-ones and edits by key, as many as before. The generators share the cores.
 * See docs/decisions/visitors.md.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { sql } from 'kysely'
import { changeSettings } from '../src/settings/rules.ts'
import { openDatabase, operatorOf, serveProcess, temporaryFolder } from '../test/harness.ts'

const { values } = parseArgs({
  options: {
    visits: { type: 'string', default: '5000' },
    gets: { type: 'string', default: '1000' },
    edits: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '30' },
  },
})
const seconds = Number(values.seconds)
const AFFILIATES = 100
/** Until the program is compiled as well as it gets, and every connection is open. */
const WARM_UP_SECONDS = 5
const MOST_SECONDS_WITHOUT = 60
const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

const say = (line: string) => process.stdout.write(`${line}\n`)

interface Offer {
  readonly name: string
  readonly url: string
  readonly perSecond: number
  readonly requests: autocannon.Request[]
}

/** Sends each request at its time, whatever became of those before: the time that one waited counts. */
async function offer({ url, perSecond, requests }: Offer, duration: number): Promise<autocannon.Result> {
  const connections = Math.min(64, Math.ceil(perSecond / 20))
  return autocannon({ url, connections, duration, overallRate: perSecond, workers: 1, requests })
}

/** @returns how many visits were answered, also before the measurement */
async function measure(title: string, offers: readonly Offer[], duration: number): Promise<number> {
  say(title)
  const all = (seconds: number) => Promise.all(offers.map(one => offer(one, seconds)))
  const warmUp = await all(WARM_UP_SECONDS)
  const results = await all(duration)
  for (const [index, result] of results.entries()) {
    const { p50, p99, max } = result.latency
    const failed = result['4xx'] + result['5xx'] + result.errors
    const rate = Math.round(result.requests.average)
    say(
      `  ${offers[index]!.name}: ${rate}/s, p50 ${p50} ms, p99 ${p99} ms, longest ${max} ms, ${failed} failed`,
    )
  }
  return [...warmUp, ...results].reduce((sum, result) => sum + result['3xx'], 0)
}

async function main(): Promise<void> {
  const folder = await temporaryFolder()
  const database = `sqlite:${join(folder.path, 'a.db')}`
  const opened = await openDatabase(database)
  await changeSettings(operatorOf(opened), { programme_page: 'https://shop.example/' })
  const service = await serveProcess([
    '--database',
    database,
    '--trust-proxy',
    '127.0.0.1',
    '--log-level',
    'error',
  ])
  const { url, token } = service.announced
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const bodies = Array.from({ length: AFFILIATES }, (_, number) =>
    JSON.stringify({ create_user: true, payment_email: `a${number}@example.com`, status: 'active' }),
  )
  for (const body of bodies) await fetch(`${url}/v1/affiliates`, { method: 'POST', headers, body })
  const ids = Array.from({ length: AFFILIATES }, (_, index) => index + 1)
  const gets = ids.map(id => ({ method: 'GET' as const, path: `/v1/affiliates/${id}`, headers }))
  const edits = ids.map(id => ({
    method: 'PATCH' as const,
    path: `/v1/affiliates/${id}`,
    headers,
    body: JSON.stringify({ rate: String(id) }),
  }))
  const visits = Array.from({ length: 1000 }, (_, number) => ({
    method: 'GET' as const,
    path: `/r/${ids[number % AFFILIATES]}?campaign=c${number % 10}`,
    headers: { 'user-agent': BROWSER, 'x-forwarded-for': `10.${number % 250}.${number % 249}.1` },
  }))
  const byKey: Offer[] = [
    { name: 'get one', url, perSecond: Number(values.gets), requests: gets },
    { name: 'edit', url, perSecond: Number(values.edits), requests: edits },
  ]
  await measure('without visitors', byKey, Math.min(seconds, MOST_SECONDS_WITHOUT))
  const visitors: Offer = { name: 'redirect', url, perSecond: Number(values.visits), requests: visits }
  const answered = await measure(`with ${values.visits} visits a second`, [visitors, ...byKey], seconds)
  await delay(1000)
  const [{ count } = { count: 0 }] = await opened.reader
    .selectFrom('visits')
    .select(sql<number>`count(*)`.as('count'))
    .execute()
  say(`  a second after the end: ${count} visits of ${answered} answered`)
  await opened.close()
  await service.stop()
  await folder.remove()
}

await main()
