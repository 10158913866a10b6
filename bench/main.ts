/**
 * Measures the service beside a floor: Node's HTTP server sending the same bytes, in the same run. Machines differ and
 * neighbours disturb, so what counts is the ratio; rounds alternate, and medians are shown with their spread.
 *
 *   npm run bench -- [--part requests|growth|start|memory|workers|postgres]… [--rounds 5] [--seconds 2] [--sizes 1000,100000] [--json]
 */
import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { table } from '../src/command.ts'
import { affiliated, temporaryFolder } from '../test/harness.ts'
import { freshDatabase, PostgresServer } from '../test/postgres.ts'
import { generator, load, type Measured } from './load.ts'
import { type Floor, type Process, startFloor, startServer, timeStart } from './processes.ts'
import { type BenchRequest, named, requests } from './requests.ts'

const { values } = parseArgs({
  options: {
    part: { type: 'string', multiple: true, default: ['requests', 'start', 'memory', 'workers', 'postgres'] },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    sizes: { type: 'string', default: '1000,100000' },
    engine: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const sizes = values.sizes.split(',').map(Number)

interface Filled {
  readonly engine: string
  readonly database: string
  readonly authorization: string
}

interface Spread {
  readonly median: number
  readonly lowest: number
  readonly highest: number
}

/** What one process did in one round. */
interface Round extends Measured {
  readonly cpuUs: number | undefined
}

const spreadOf = (numbers: number[]): Spread => {
  const sorted = numbers.toSorted((a, b) => a - b)
  return { median: sorted[sorted.length >> 1]!, lowest: sorted[0]!, highest: sorted.at(-1)! }
}
const medianOf = (numbers: number[]) => spreadOf(numbers).median
const show = (spread: Spread, digits = 0) =>
  `${spread.median.toFixed(digits)} (${spread.lowest.toFixed(digits)}-${spread.highest.toFixed(digits)})`
const progress = (text: string) => process.stderr.write(`${text}\n`)

async function fill(engine: string, database: string, affiliates: number): Promise<Filled> {
  progress(`${engine}: fills a database with ${affiliates} affiliates and ${affiliates * 5} payouts`)
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await affiliated([...args, '--database', database, '--json'])
    if (code !== 0) throw new Error(stderr)
    return JSON.parse(stdout)
  }
  await run('demo', '--affiliates', String(affiliates), '--payouts', String(affiliates * 5))
  await run('users', 'create', '--login', 'bench', '--email', 'bench@bench.example')
  const { token } = await run('keys', 'create', '--name', 'bench', '--user', 'bench')
  return { engine, database, authorization: `Bearer ${token}` }
}

async function measure(
  { url, cpuUs }: Process,
  base: string,
  request: BenchRequest,
  authorization: string,
  nice = false,
): Promise<Round> {
  const { path, method, body, connections, status, refused } = request
  const before = cpuUs()
  const headers = {
    Authorization: refused ? 'Bearer affiliated_sk_nobody-has-this-token' : authorization,
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  }
  const target = { url: url + base + path, method, headers, connections, ...(body !== undefined && { body }) }
  const done = await load(target, seconds, nice)
  const after = cpuUs()
  const expected = status < 400 ? 0 : done.requests
  if (done.requests === 0 || Math.abs(done.errors - expected) > 0) {
    throw new Error(`${request.name}: ${done.errors} of ${done.requests} requests failed`)
  }
  return { ...done, cpuUs: before === undefined ? undefined : (after! - before) / done.requests }
}

/** Asks once, and lets the floor answer with what came. */
async function copyAnswer(floor: Floor, server: Process, request: BenchRequest, authorization: string) {
  const path = request.path.replace('{row}', '7')
  const response = await fetch(`${server.url}/v1${path}`, {
    method: request.method,
    headers: {
      Authorization: request.refused ? 'Bearer nobody' : authorization,
      'Content-Type': 'application/json',
    },
    ...(request.body !== undefined && { body: request.body.replace('{number}', String(Date.now())) }),
  })
  const body = await response.text()
  if (response.status !== request.status) throw new Error(`${request.name}: ${response.status} ${body}`)
  const { date, connection, 'keep-alive': _, ...headers } = Object.fromEntries(response.headers)
  await floor.answer({ status: response.status, headers, body })
}

/** The URL of the last page of the list, as a client that follows the links would get to it. */
async function lastPageOf(server: Process, authorization: string): Promise<string> {
  const ask = async (query: string) =>
    fetch(`${server.url}/v1/affiliates?${query}`, { headers: { authorization } })
  const [last] = (await (await ask('number=1&order=desc&fields=ids')).json()) as [number]
  const cursor = Buffer.from(JSON.stringify(['affiliate_id', 'asc', last - 40, last - 40])).toString(
    'base64url',
  )
  const page = (await (await ask(`cursor=${cursor}`)).json()) as unknown[]
  if (page.length !== 20) throw new Error(`The last page has ${page.length} records.`)
  return `/affiliates?cursor=${cursor}`
}

async function compare(filled: readonly Filled[]) {
  const floor = await startFloor()
  const results = []
  for (const { engine, database, authorization } of filled) {
    const server = await startServer(database)
    const all = requests(await lastPageOf(server, authorization))
    for (const request of all.filter(({ name }) => values.only === undefined || name.includes(values.only))) {
      progress(`${engine}: ${request.name}`)
      await copyAnswer(floor, server, request, authorization)
      const floors: Round[] = []
      const servers: Round[] = []
      for (let round = 0; round < rounds; round += 1) {
        floors.push(await measure(floor, '/v1', request, authorization))
        servers.push(await measure(server, '/v1', request, authorization))
      }
      const cpu = (of: Round[]) =>
        of[0]!.cpuUs === undefined ? undefined : medianOf(of.map(one => one.cpuUs!))
      results.push({
        engine,
        request: request.name,
        perSecond: spreadOf(servers.map(one => one.perSecond)),
        floorPerSecond: spreadOf(floors.map(one => one.perSecond)),
        ratio: spreadOf(servers.map((one, round) => one.perSecond / floors[round]!.perSecond)),
        p50Ms: medianOf(servers.map(one => one.p50Ms)),
        p99Ms: medianOf(servers.map(one => one.p99Ms)),
        cpuUs: cpu(servers),
        floorCpuUs: cpu(floors),
      })
    }
    await server.stop()
  }
  await floor.stop()
  return results
}

/** The same requests on databases of each size, side by side. */
async function grow(open: (size: number) => Promise<Filled>) {
  const filled = []
  for (const size of sizes) filled.push(await open(size))
  const servers = []
  for (const { database } of filled) servers.push(await startServer(database))
  const lists = []
  for (const [index, server] of servers.entries()) {
    lists.push(requests(await lastPageOf(server, filled[index]!.authorization)))
  }
  const results = []
  for (const { name } of lists[0]!) {
    progress(`${filled[0]!.engine}, ${sizes.join(', ')} affiliates: ${name}`)
    const measured: Round[][] = servers.map(() => [])
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, server] of servers.entries()) {
        const request = named(name, lists[index]!)
        measured[index]!.push(await measure(server, '/v1', request, filled[index]!.authorization))
      }
    }
    for (const [index, size] of sizes.entries()) {
      results.push({
        engine: filled[0]!.engine,
        request: name,
        affiliates: size,
        perSecond: spreadOf(measured[index]!.map(one => one.perSecond)),
        timeAgainstFirst: spreadOf(
          measured[index]!.map((one, round) => measured[0]![round]!.perSecond / one.perSecond),
        ),
      })
    }
  }
  for (const server of servers) await server.stop()
  return results
}

async function timeStarts({ engine, database, authorization }: Filled) {
  progress(`${engine}: starts`)
  const tookMs = []
  for (let round = 0; round <= rounds * 2; round += 1) tookMs.push(await timeStart(database, authorization))
  // The first start compiles.
  return { engine, tookMs: spreadOf(tookMs.slice(1)) }
}

async function weigh({ engine, database, authorization }: Filled) {
  progress(`${engine}: memory`)
  const server = await startServer(database)
  const all = requests(await lastPageOf(server, authorization))
  await delay(3000)
  const idleMib = server.residentMib()
  const highest = async (work: Promise<unknown>) => {
    let mib = 0
    const timer = setInterval(() => {
      mib = Math.max(mib, server.residentMib() ?? Number.NaN)
    }, 20)
    await work
    clearInterval(timer)
    return mib
  }
  const underLoadMib = await highest(
    (async () => {
      for (const name of ['get one', 'list of 100', 'create with account', 'edit']) {
        await measure(server, '/v1', named(name, all), authorization)
      }
    })(),
  )
  const streamingMib = await highest(
    Promise.all(
      Array.from({ length: 4 }, async () => {
        const response = await fetch(`${server.url}/v1/payouts?number=0`, { headers: { authorization } })
        for await (const _ of response.body!);
      }),
    ),
  )
  await server.stop()
  return { engine, idleMib, underLoadMib, streamingMib }
}

async function compareWorkers({ engine, database, authorization }: Filled) {
  progress(`${engine}: one worker against two`)
  const one = await startServer(database)
  const two = await startServer(database, ['--workers', '2'])
  const all = requests(await lastPageOf(one, authorization))
  const results = []
  for (const name of ['get one', 'list of 20, first page']) {
    const ratios = []
    for (let round = 0; round < rounds; round += 1) {
      const request = named(name, all)
      const alone = await measure(one, '/v1', request, authorization, true)
      const together = await measure(two, '/v1', request, authorization, true)
      ratios.push(together.perSecond / alone.perSecond)
    }
    results.push({ engine, request: name, ratio: spreadOf(ratios) })
  }
  await one.stop()
  await two.stop()
  return results
}

/** The service against the driver that it uses, without HTTP in between. */
async function besideDriver({ database, authorization }: Filled) {
  progress('PostgreSQL: pg alone')
  const server = await startServer(database)
  const request = named('get one', requests(await lastPageOf(server, authorization)))
  const alone = []
  const ratios = []
  for (let round = 0; round < rounds; round += 1) {
    const script = fileURLToPath(new URL('postgres-alone.ts', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [script, database, String(seconds)])
    const { perSecond } = await measure(server, '/v1', request, authorization)
    alone.push(Number(stdout))
    ratios.push(perSecond / Number(stdout))
  }
  await server.stop()
  return { perSecond: spreadOf(alone), ratio: spreadOf(ratios) }
}

const folder = await temporaryFolder()
const postgres = await PostgresServer.launch()
try {
  const wants = (part: string) => values.part.includes(part)
  const onSqlite = (size: number) => fill('SQLite', `sqlite:${folder.path}/${size}.db`, size)
  const onPostgres = async (size: number) => fill('PostgreSQL', (await freshDatabase(postgres.url)).url, size)
  const report: Record<string, unknown> = { generator, rounds, seconds }
  const print = (title: string, head: string[], rows: string[][]) => {
    if (!values.json) process.stdout.write(`\n${title}\n\n${table(head, rows).join('\n')}\n`)
  }
  const needed = ['requests', 'start', 'memory', 'workers', 'postgres'].some(wants)
  const filled = needed ? [await onSqlite(sizes[0]!), await onPostgres(sizes[0]!)] : []
  const number = (value: number | undefined, digits = 0) => value?.toFixed(digits) ?? '-'

  if (wants('requests')) {
    const results = await compare(filled)
    report.requests = results
    print(
      `Requests (${generator}; ${rounds} rounds of ${seconds} s; median, lowest and highest)`,
      ['', 'request', 'requests/s', 'floor/s', 'ratio', 'p50 ms', 'p99 ms', 'CPU us', 'floor CPU us'],
      results.map(one => [
        one.engine,
        one.request,
        show(one.perSecond),
        show(one.floorPerSecond),
        show(one.ratio, 2),
        one.p50Ms.toFixed(2),
        one.p99Ms.toFixed(2),
        number(one.cpuUs, 1),
        number(one.floorCpuUs, 1),
      ]),
    )
  }
  if (wants('growth')) {
    const results = [...(await grow(onSqlite)), ...(await grow(onPostgres))]
    report.growth = results
    print(
      'Growth (time of a request against the smallest database)',
      ['', 'request', 'affiliates', 'requests/s', 'times'],
      results.map(one => [
        one.engine,
        one.request,
        String(one.affiliates),
        show(one.perSecond),
        show(one.timeAgainstFirst, 2),
      ]),
    )
  }
  if (wants('start')) {
    const results = [await timeStarts(filled[0]!), await timeStarts(filled[1]!)]
    report.start = results
    print(
      'Start, from the command to the first answer',
      ['', 'ms'],
      results.map(one => [one.engine, show(one.tookMs)]),
    )
  }
  if (wants('memory')) {
    const results = [await weigh(filled[0]!), await weigh(filled[1]!)]
    report.memory = results
    print(
      'Memory, MiB resident',
      ['', 'idle', 'under load', 'streaming all payouts to four clients'],
      results.map(one => [
        one.engine,
        number(one.idleMib),
        number(one.underLoadMib),
        number(one.streamingMib),
      ]),
    )
  }
  if (wants('workers')) {
    const results = await compareWorkers(filled[0]!)
    report.workers = results
    print(
      'Two workers against one',
      ['', 'request', 'times'],
      results.map(one => [one.engine, one.request, show(one.ratio, 2)]),
    )
  }
  if (wants('postgres')) {
    const result = await besideDriver(filled[1]!)
    report.postgres = result
    print(
      'get one on PostgreSQL against pg alone',
      ['pg alone/s', 'ratio'],
      [[show(result.perSecond), show(result.ratio, 2)]],
    )
  }
  if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`)
} finally {
  await postgres.remove()
  await folder.remove()
}
