/**
 * What a steady stream of visitors does to the others: `node bench/visitors.ts`. Offered are so many visits a second, however
 * fast they are answered, and beside them get-ones and edits by key, as many as before. The generators share the cores.
 * See docs/decisions/visitors.md.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { changeSettings } from '../src/settings/rules.ts'
import { openDatabase, operatorOf, serveProcess, temporaryFolder } from '../test/harness.ts'
import { OpenLoad } from './open-load.ts'

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
  readonly perSecond: number
  readonly load: OpenLoad
}

/** @returns how many visits were answered, also before the measurement */
async function measure(title: string, offers: readonly Offer[], duration: number): Promise<number> {
  say(title)
  const all = (seconds: number) =>
    Promise.all(offers.map(({ load, perSecond }) => load.run(perSecond, seconds)))
  const warmUp = await all(WARM_UP_SECONDS)
  const results = await all(duration)
  for (const [index, { perSecond, p50Ms, p99Ms, mostMs, failed }] of results.entries()) {
    const [p50, p99, most] = [p50Ms, p99Ms, mostMs].map(ms => ms.toFixed(1))
    say(
      `  ${offers[index]!.name}: ${Math.round(perSecond)}/s, p50 ${p50} ms, p99 ${p99} ms, longest ${most} ms, ${failed} failed`,
    )
  }
  return [...warmUp, ...results].reduce((sum, { redirects }) => sum + redirects, 0)
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
    { name: 'get one', perSecond: Number(values.gets), load: new OpenLoad(url, gets) },
    { name: 'edit', perSecond: Number(values.edits), load: new OpenLoad(url, edits) },
  ]
  await measure('without visitors', byKey, Math.min(seconds, MOST_SECONDS_WITHOUT))
  const visitors: Offer = {
    name: 'redirect',
    perSecond: Number(values.visits),
    load: new OpenLoad(url, visits),
  }
  const answered = await measure(`with ${values.visits} visits a second`, [visitors, ...byKey], seconds)
  await delay(1000)
  const [{ count } = { count: 0 }] = await opened.reader
    .selectFrom('visits')
    .select(sql<number>`count(*)`.as('count'))
    .execute()
  say(`  a second after the end: ${count} visits of ${answered} answered`)
  for (const { load } of [visitors, ...byKey]) load.close()
  await opened.close()
  await service.stop()
  await folder.remove()
}

await main()
