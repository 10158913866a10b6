/**
 * What a steady stream of visitors does to the others: `node bench/visitors.ts`. Offered are so many visits a second, however
 * fast they are answered, and beside them get-ones and edits by key, as many as before. The generators share the cores.
 * First `node:http` sending the same bytes gets the same load: what it takes longer, the machine and the generator take.
 * See docs/decisions/visitors.md.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sql } from 'kysely'
import { changeSettings } from '../src/settings/rules.ts'
import { BROWSER, openDatabase, operatorOf, serveProcess, temporaryFolder } from '../test/harness.ts'
import { answerOf, exchange } from './exchange.ts'
import { OpenLoad } from './open-load.ts'
import { startFloor } from './processes.ts'

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

// The generator collects its memory between measurements: within one, everybody would wait for it for 20 to 40 ms.
setFlagsFromString('--expose-gc')
const collectMemory: () => void = runInNewContext('gc')

const say = (line: string) => process.stdout.write(`${line}\n`)

interface Offer {
  readonly name: string
  readonly perSecond: number
  readonly load: OpenLoad
}

/** How long the thread that answers has run, and has waited for a processor, in milliseconds. */
function scheduled(pid: number): readonly [number, number] {
  const [ran, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
  return [Number(ran) / 1e6, Number(waited) / 1e6]
}

/**
 * @param pid of the server
 * @returns how many visits were answered, also before the measurement
 */
async function measure(
  title: string,
  pid: number,
  offers: readonly Offer[],
  duration: number,
): Promise<number> {
  say(title)
  const all = (seconds: number) =>
    Promise.all(offers.map(({ load, perSecond }) => load.run(perSecond, seconds)))
  const warmUp = await all(WARM_UP_SECONDS)
  collectMemory()
  const [ranBefore, waitedBefore] = scheduled(pid)
  const results = await all(duration)
  const [ran, waited] = scheduled(pid)
  for (const [index, { perSecond, failed, ...took }] of results.entries()) {
    const [p50, p99, ofSecond, most] = [took.p50Ms, took.p99Ms, took.p99OfSecondMs, took.mostMs].map(ms =>
      ms.toFixed(1),
    )
    say(
      `  ${offers[index]!.name}: ${Math.round(perSecond)}/s, p50 ${p50} ms, p99 ${p99} ms (of the median second ${ofSecond}), longest ${most} ms, ${failed} failed`,
    )
  }
  const share = (ms: number) => `${((ms / (duration * 1000)) * 100).toFixed(0)} %`
  say(
    `  its main thread ran for ${share(ran - ranBefore)} of the time and waited for a processor for ${share(waited - waitedBefore)}`,
  )
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
  const byKeyOf = (url: string): Offer[] => [
    { name: 'get one', perSecond: Number(values.gets), load: new OpenLoad(url, gets) },
    { name: 'edit', perSecond: Number(values.edits), load: new OpenLoad(url, edits) },
  ]
  const visitorsOf = (url: string): Offer => ({
    name: 'redirect',
    perSecond: Number(values.visits),
    load: new OpenLoad(url, visits),
  })
  const shorter = Math.min(seconds, MOST_SECONDS_WITHOUT)
  const floor = await startFloor()
  const { path, headers: browser } = visits[0]!
  await floor.answer(answerOf(await exchange(`${url}${path}`, { headers: browser })))
  const offersOfFloor = [visitorsOf(floor.url), ...byKeyOf(floor.url)]
  await measure('node:http, as many', floor.pid, offersOfFloor, shorter)
  for (const { load } of offersOfFloor) load.close()
  await floor.stop()
  const pid = service.child.pid!
  const byKey = byKeyOf(url)
  await measure('without visitors', pid, byKey, shorter)
  const visitors = visitorsOf(url)
  const answered = await measure(`with ${values.visits} visits a second`, pid, [visitors, ...byKey], seconds)
  await delay(1000)
  const [{ count } = { count: 0 }] = await opened.reader
    .selectFrom('visits')
    .select(sql<number>`count(*)`.as('count'))
    .execute()
  say(`  a second after the end: ${count} visits of ${answered + 1} answered`)
  for (const { load } of [visitors, ...byKey]) load.close()
  await opened.close()
  await service.stop()
  await folder.remove()
}

await main()
