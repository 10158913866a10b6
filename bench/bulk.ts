/** Many lines by one request: how many a second, what each costs, and how long somebody else waits meanwhile. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Filled, medianOf, progress, spreadOf } from './measure.ts'
import type { Run } from './parts.ts'
import { type Process, startServer } from './processes.ts'

const LINES = 10_000
/** Somebody who reads while the lines are done. */
const ASKS_EVERY_MS = 5

interface Bulk {
  readonly name: string
  readonly path: string
  /** @param number that no other line has */
  readonly line: (number: number) => object
}

const bulks = (active: number): readonly Bulk[] => [
  {
    name: 'affiliates with accounts',
    path: '/affiliates',
    line: number => ({ create_user: true, payment_email: `${number}@lines.example` }),
  },
  {
    name: 'payouts',
    path: '/payouts',
    line: number => ({ affiliate_id: 1 + (number % 900), amount: 27.87, referrals: [1e13 + number] }),
  },
  {
    name: 'referrals',
    path: '/referrals',
    line: number => ({
      affiliate_id: 1 + (number % 900),
      amount: 12.5,
      context: 'lines',
      reference: String(number),
      status: 'unpaid',
    }),
  },
  {
    name: 'conversions',
    path: '/conversions',
    line: number => ({
      kind: 'sale',
      context: 'lines',
      reference: String(number),
      amount: 119,
      tax: 19,
      affiliate_id: active,
    }),
  },
]

let next = Date.now()

export async function measureBulk({ engine, database, authorization }: Filled, run: Run) {
  const server = await startServer(database)
  const list = await fetch(`${server.url}/v1/affiliates?status=active&number=1&fields=ids`, {
    headers: { authorization },
  })
  const [active] = (await list.json()) as number[]
  const results = []
  for (const bulk of bulks(active!).filter(({ name }) => name.includes(run.only))) {
    progress(`${engine}: ${LINES} ${bulk.name}`)
    const rounds = []
    for (let round = 0; round <= run.rounds; round += 1) {
      const one = await send(server, bulk, authorization)
      // The first warms up.
      if (round > 0) rounds.push(one)
    }
    results.push({
      engine,
      lines: bulk.name,
      perSecond: spreadOf(rounds.map(one => one.perSecond)),
      cpuUs: medianOf(rounds.map(one => one.cpuUs)),
      longestMs: spreadOf(rounds.map(one => one.longestMs)),
      mib: Math.max(...rounds.map(one => one.mib)),
    })
  }
  await server.stop()
  return results
}

async function send(server: Process, { path, line }: Bulk, authorization: string) {
  const lines = Array.from({ length: LINES }, () => {
    next += 1
    return JSON.stringify(line(next))
  })
  const beganAt = performance.now()
  const before = server.cpuUs() ?? 0
  let isDone = false
  let longestMs = 0
  let mib = 0
  const asking = (async () => {
    while (!isDone) {
      const askedAt = performance.now()
      await (await fetch(`${server.url}/v1/affiliates/7`, { headers: { authorization } })).text()
      longestMs = Math.max(longestMs, performance.now() - askedAt)
      mib = Math.max(mib, server.residentMib() ?? 0)
      await delay(ASKS_EVERY_MS)
    }
  })()
  const response = await fetch(`${server.url}/v1${path}`, {
    method: 'POST',
    headers: { authorization, 'Content-Type': 'application/x-ndjson' },
    body: lines.join('\n'),
  })
  const text = await response.text()
  const seconds = (performance.now() - beganAt) / 1000
  isDone = true
  await asking
  const results = text.trim().split('\n')
  const wrong = results.find(result => !result.includes('"status":201'))
  if (response.status !== 200 || results.length !== LINES || wrong) {
    throw new Error(`${path}: ${response.status}, ${results.length} results, ${wrong}`)
  }
  return {
    perSecond: LINES / seconds,
    cpuUs: ((server.cpuUs() ?? 0) - before) / LINES,
    longestMs,
    mib,
  }
}
