/**
 * How long a get-one of one key takes while another key has long lists under way: `node bench/long-reads.ts`.
 * See docs/decisions/bounded-reads.md.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { createKey } from '../src/accounts/keys/rules.ts'
import { openDatabase, operatorOf, serveProcess, temporaryFolder } from '../test/harness.ts'
import { addPayouts } from '../test/many-payouts.ts'
import { freshDatabase, PostgresServer } from '../test/postgres.ts'
import { quantilesOf } from './measure.ts'

const { values } = parseArgs({
  options: {
    engine: { type: 'string', multiple: true, default: ['SQLite', 'PostgreSQL'] },
    payouts: { type: 'string', default: '1000000' },
    inflight: { type: 'string', default: '10' },
    asked: { type: 'string', default: '2000' },
  },
})
const payouts = Number(values.payouts)
/** Each looks at every payout, or sends very many of them. */
const LONG = [
  'number=100000&orderby=amount',
  'search=nowhere&number=5000',
  `offset=${payouts - 100}`,
  'number=-1&search=9',
]

const headersOf = (token: string) => ({ authorization: `Bearer ${token}` })

interface Flood {
  readonly url: string
  readonly token: string
  readonly inFlight: number
}

/** On a thread, so that to read the answers takes nothing from the requests that are timed. */
async function flood({ url, token, inFlight }: Flood): Promise<void> {
  const answers: Record<string, number> = {}
  const stopped = new AbortController()
  parentPort!.once('message', () => stopped.abort())
  const askOn = async (query: string) => {
    while (!stopped.signal.aborted) {
      try {
        const response = await fetch(`${url}/v1/payouts?${query}`, {
          headers: headersOf(token),
          signal: stopped.signal,
        })
        for await (const _ of response.body!);
        answers[response.status] = (answers[response.status] ?? 0) + 1
      } catch {
        await delay(10)
      }
    }
  }
  await Promise.all(Array.from({ length: inFlight }, (_, index) => askOn(LONG[index % LONG.length]!)))
  parentPort!.postMessage(answers)
}

async function timeGets(url: string, token: string): Promise<string> {
  const took: number[] = []
  for (let number = 0; number < Number(values.asked); number += 1) {
    const id = 1 + ((number * 7919) % payouts)
    const begun = performance.now()
    const response = await fetch(`${url}/v1/payouts/${id}?n=${number}`, { headers: headersOf(token) })
    await response.text()
    if (response.status !== 200) throw new Error(`answered ${response.status}`)
    took.push(performance.now() - begun)
    await delay(1)
  }
  const at = quantilesOf(took)
  const [p50, p99, longest] = [0.5, 0.99, 1].map(part => `${at(part).toFixed(1)} ms`)
  return `p50 ${p50}, p99 ${p99}, longest ${longest}`
}

async function measure(engine: string, database: string): Promise<void> {
  const service = await serveProcess(['--database', database])
  const { url, token } = service.announced as unknown as Flood
  const opened = await openDatabase(database)
  const created = await fetch(`${url}/v1/affiliates`, {
    method: 'POST',
    headers: { ...headersOf(token), 'content-type': 'application/json' },
    body: JSON.stringify({ create_user: true, payment_email: 'one@example.com' }),
  })
  const { id: affiliateId } = (await created.json()) as { id: number }
  await addPayouts(opened, { count: payouts, affiliateId, owner: 1 })
  const only = { name: 'one', user_id: 1, permissions: ['payouts.read'] }
  const { token: another } = await createKey(operatorOf(opened), only, only.permissions)
  await opened.close()
  const say = (line: string) => process.stdout.write(`${engine}, ${payouts} payouts: ${line}\n`)
  say(`get-one alone: ${await timeGets(url, another)}`)
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { url, token, inFlight: Number(values.inflight) } satisfies Flood,
  })
  await delay(1000)
  say(`get-one, ${values.inflight} long lists of another key under way: ${await timeGets(url, another)}`)
  const answers = new Promise(resolve => worker.once('message', resolve))
  worker.postMessage('stop')
  const begun = performance.now()
  await service.stop()
  say(
    `long lists answered ${JSON.stringify(await answers)}; SIGTERM took ${Math.round(performance.now() - begun)} ms`,
  )
}

async function main(): Promise<void> {
  const folder = await temporaryFolder()
  const postgres = values.engine.includes('PostgreSQL') ? await PostgresServer.launch() : undefined
  try {
    for (const engine of values.engine) {
      const url =
        engine === 'SQLite' ? `sqlite:${join(folder.path, 'a.db')}` : (await freshDatabase(postgres!.url)).url
      await measure(engine, url)
    }
  } finally {
    await postgres?.remove()
    await folder.remove()
  }
}

await (isMainThread ? main() : flood(workerData as Flood))
