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
const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

const say = (line: string) => process.stdout.write(`${line}\n`)

/** @returns requests that were sent at their time, whatever became of those before: the time that one waited counts */
async function offer(
  name: string,
  url: string,
  perSecond: number,
  requests: autocannon.Request[],
): Promise<number> {
  const result = await autocannon({
    url,
    connections: Math.min(64, Math.ceil(perSecond / 20)),
    duration: seconds,
    overallRate: perSecond,
    workers: 1,
    requests,
  })
  const { p50, p99, max } = result.latency
  const failed = result['4xx'] + result['5xx'] + result.errors
  say(
    `  ${name}: ${Math.round(result.requests.average)}/s, p50 ${p50} ms, p99 ${p99} ms, longest ${max} ms, ${failed} failed`,
  )
  return result['3xx']
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
  const byKey = () => [
    offer('get one', url, Number(values.gets), gets),
    offer('edit', url, Number(values.edits), edits),
  ]
  say('without visitors')
  await Promise.all(byKey())
  say(`with ${values.visits} visits a second`)
  const [answered] = await Promise.all([offer('redirect', url, Number(values.visits), visits), ...byKey()])
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
