/**
 * A payout run of many payees beside the requests of others: how long each step takes, what it costs, how much memory
 * the service has at most, and how long a read and a write wait meanwhile.
 *
 * `node bench/runs.ts --payees 100000 --each 10`
 */
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { table } from '../src/cli/command.ts'
import { seal } from '../src/storage/secret-keys.ts'
import { openDatabase, temporaryFolder } from '../test/harness.ts'
import { addPayees } from '../test/many-referrals.ts'
import { freshDatabase, PostgresServer } from '../test/postgres.ts'
import { commandsOn, progress, quantilesOf } from './measure.ts'
import { type Process, startServer } from './processes.ts'

const { values } = parseArgs({
  options: {
    payees: { type: 'string', default: '10000' },
    /** Referrals of each. */
    each: { type: 'string', default: '10' },
    method: { type: 'string', default: 'csv' },
    engine: { type: 'string', default: 'SQLite' },
    /** Only fills this database. */
    fill: { type: 'string' },
    /** One that was filled before. */
    database: { type: 'string' },
  },
})
const payees = Number(values.payees)
const each = Number(values.each)

/** Pauses between the requests of others, in milliseconds. */
const READ_EVERY = 20
const WRITE_EVERY = 200
const POLL_EVERY = 250

async function fill(url: string): Promise<void> {
  await addSettings(url)
  progress(`${values.engine}: fills a database with ${payees} payees of ${payees * each} referrals`)
  const database = await openDatabase(url)
  await addPayees(database, { payees, each })
  if (values.method !== 'csv') await addDetails(database)
  await database.close()
}

async function addDetails(database: Awaited<ReturnType<typeof openDatabase>>): Promise<void> {
  const method = values.method as 'sepa'
  const ids = await database.reader.selectFrom('affiliates').select('id').orderBy('id').execute()
  for (let start = 0; start < ids.length; start += 500) {
    const rows = ids.slice(start, start + 500).map(({ id }) => ({
      affiliate_id: id,
      method,
      holder: `Payee ${id}`,
      account: 'DE •••• 3000',
      status: 'current' as const,
      usable_from: 0,
      created_at: 1_700_000_000,
      entered_by: 0,
      updated_at: 1_700_000_000,
      sealed: seal(
        JSON.stringify({ iban: 'DE89370400440532013000' }),
        `payment details of affiliate ${id}, ${method}`,
      ),
    }))
    await database.transaction(tx => tx.insertInto('payment_details').values(rows).execute())
  }
}

interface Measured {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly residentMib: number
  readonly readP50Ms: number
  readonly readP99Ms: number
  readonly writeP50Ms: number
  readonly writeMostMs: number
}

interface Beside {
  readonly reads: number[]
  readonly writes: number[]
  residentMib: number
}

/** Asks for one affiliate again and again, changes one now and then, and looks at the memory, until the work is done. */
async function beside<T>(
  server: Process,
  authorization: string,
  work: () => Promise<T>,
): Promise<Measured & { result: T }> {
  const seen: Beside = { reads: [], writes: [], residentMib: 0 }
  let done = false
  const timed = async (into: number[], path: string, init: RequestInit = {}) => {
    const began = performance.now()
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await fetch(`${server.url}/v1${path}`, { ...init, headers })
    await answer.text()
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
    into.push(performance.now() - began)
  }
  const some = () => 1 + Math.floor(Math.random() * payees)
  const again = async (everyMs: number, act: () => Promise<void>) => {
    while (!done) {
      await act()
      await delay(everyMs)
    }
  }
  const others = [
    again(READ_EVERY, () => timed(seen.reads, `/affiliates/${some()}`)),
    again(WRITE_EVERY, () =>
      timed(seen.writes, `/affiliates/${some()}`, { method: 'PATCH', body: '{"rate":"11.5"}' }),
    ),
    again(100, async () => {
      seen.residentMib = Math.max(seen.residentMib, server.residentMib() ?? 0)
    }),
  ]
  const [began, cpu] = [performance.now(), server.cpuUs()!]
  const result = await work()
  const seconds = (performance.now() - began) / 1000
  const cpuSeconds = (server.cpuUs()! - cpu) / 1e6
  done = true
  await Promise.all(others)
  const [ofReads, ofWrites] = [quantilesOf(seen.reads), quantilesOf(seen.writes)]
  return {
    result,
    seconds,
    cpuSeconds,
    residentMib: seen.residentMib,
    readP50Ms: ofReads(0.5),
    readP99Ms: ofReads(0.99),
    writeP50Ms: ofWrites(0.5),
    writeMostMs: ofWrites(1),
  }
}

interface Answers {
  readonly id: number
  readonly hash: string
  readonly status: string
  readonly payees: number
  readonly paid: { readonly count: number }
}

async function measureRun(url: string) {
  const { token } = await commandsOn(url)(
    'keys',
    'create',
    '--name',
    `bench ${Date.now()}`,
    '--user',
    'bench',
  )
  const authorization = `Bearer ${token}`
  const server = await startServer(url)
  const text = async (method: string, path: string, body?: unknown): Promise<string> => {
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await fetch(`${server.url}/v1/payout-runs${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const received = await answer.text()
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${received}`)
    return received
  }
  const ask = async (method: string, path: string, body?: unknown): Promise<Answers> =>
    JSON.parse(await text(method, path, body))
  const until = async (id: number, met: (run: Answers) => boolean): Promise<Answers> => {
    for (;;) {
      const found = await ask('GET', `/${id}`)
      if (met(found)) return found
      await delay(POLL_EVERY)
    }
  }
  const steps: Record<string, Measured> = {}
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    progress(name)
    const { result, ...measured } = await beside(server, authorization, work)
    steps[name] = measured
    return result
  }
  await step('nothing', () => delay(3000))
  const {
    id,
    hash,
    payees: prepared,
  } = await step('prepare', async () => {
    const begun = await ask('POST', '', { method: values.method })
    return until(begun.id, found => found.hash !== '')
  })
  await step('approve', async () => {
    await ask('POST', `/${id}/approve`, { hash })
    await until(id, found => found.status === 'approved')
  })
  const file = await step('file', () => text('GET', `/${id}/files/${values.method}`))
  const lines = [...new Set(file.match(/R\d+[A-Z]+\d+/g))].map(name => `${name},paid`)
  const content = `reference,status\n${lines.join('\n')}\n`
  await step('results', () => ask('POST', `/${id}/results`, { content }))
  await step('close', () => ask('POST', `/${id}/close`))
  const { paid } = await ask('GET', `/${id}/reconciliation`)
  await server.stop()
  if (paid.count !== prepared) throw new Error(`${paid.count} of ${prepared} were paid`)
  return steps
}

async function addSettings(url: string): Promise<void> {
  const run = commandsOn(url)
  await run('users', 'create', '--login', 'bench', '--email', 'bench@bench.example', '--admin')
  if (values.method !== 'sepa') return
  for (const [name, value] of [
    ['currency', 'EUR'],
    ['payer_name', 'Shop'],
    ['payer_iban', 'DE89370400440532013000'],
  ]) {
    await run('settings', 'set', name!, value!)
  }
}

const folder = await temporaryFolder()
const postgres = values.engine === 'PostgreSQL' ? await PostgresServer.launch() : undefined
try {
  const fresh =
    values.fill ?? (postgres ? (await freshDatabase(postgres.url)).url : `sqlite:${folder.path}/runs.db`)
  if (values.database === undefined) await fill(fresh)
  const steps = values.fill ? {} : await measureRun(values.database ?? fresh)
  const head = [
    'step',
    'seconds',
    'CPU s',
    'MiB at most',
    'read p50 ms',
    'p99 ms',
    'write p50 ms',
    'at most ms',
  ]
  const rows = Object.entries(steps).map(([name, { residentMib, ...one }]) => [
    name,
    ...[one.seconds, one.cpuSeconds].map(seconds => seconds.toFixed(1)),
    residentMib.toFixed(0),
    ...[one.readP50Ms, one.readP99Ms, one.writeP50Ms, one.writeMostMs].map(ms => ms.toFixed(1)),
  ])
  process.stdout.write(`${table(head, rows).join('\n')}\n`)
} finally {
  await postgres?.remove()
  await folder.remove()
}
