/**
 * Measures the service beside a floor: Node's HTTP server sending the same bytes, in the same run. Machines differ and
 * neighbours disturb, so what counts is the ratio; rounds alternate, and medians are shown with their spread.
 * docs/performance.md says what the parts are.
 */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { table } from '../src/cli/command.ts'
import { temporaryFolder } from '../test/harness.ts'
import { freshDatabase, PostgresServer } from '../test/postgres.ts'
import { compareCheckouts, REQUESTS, refuseUnbuilt } from './against.ts'
import { measureBulk } from './bulk.ts'
import { generator } from './load.ts'
import { type Filled, fill, type Spread } from './measure.ts'
import { compareWithDriver, compareWithFloor, compareWorkers, grow, timeStarts, weigh } from './parts.ts'
import { compareRules } from './rules.ts'

const parts = ['requests', 'bulk', 'rules', 'start', 'memory', 'workers', 'driver', 'growth'] as const

const { values } = parseArgs({
  options: {
    part: { type: 'string', multiple: true, default: parts.filter(part => part !== 'growth') },
    engine: { type: 'string', multiple: true, default: ['SQLite', 'PostgreSQL'] },
    only: { type: 'string', default: '' },
    against: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string', default: '2' },
    sizes: { type: 'string', default: '1000,100000' },
    json: { type: 'boolean', default: false },
  },
})
const { against } = values
const run = {
  rounds: Number(values.rounds ?? (against ? 100 : 5)),
  seconds: Number(values.seconds),
  only: values.only,
}
const sizes = values.sizes.split(',').map(Number)
const wants = (part: (typeof parts)[number]) => values.part.includes(part)

const number = (value: number | undefined, digits = 0) => value?.toFixed(digits) ?? '-'
const spread = ({ median, lowest, highest }: Spread, digits = 0) =>
  `${median.toFixed(digits)} (${lowest.toFixed(digits)}-${highest.toFixed(digits)})`

const report: Record<string, unknown> = { generator, ...run }

function tell<T>(part: string, title: string, head: string[], results: T[], row: (result: T) => string[]) {
  if (results.length === 0) return
  report[part] = results
  if (!values.json) process.stdout.write(`\n${title}\n\n${table(head, results.map(row)).join('\n')}\n`)
}

/** @returns where a new database is */
async function empty(engine: string, name: string | number): Promise<string> {
  if (engine === 'SQLite') return `sqlite:${folder.path}/${name}.db`
  return (await freshDatabase(postgres!.url)).url
}

async function measureEngine(engine: string) {
  const filled = new Map<number, Filled>()
  for (const size of wants('growth') ? sizes : sizes.slice(0, 1)) {
    filled.set(size, await fill(engine, await empty(engine, size), size))
  }
  const [first] = [...filled.values()] as [Filled]
  return {
    requests: wants('requests') ? await compareWithFloor(first, run) : [],
    bulk: wants('bulk') ? await measureBulk(first, run) : [],
    rules: wants('rules') ? await compareRules(first, run) : [],
    start: wants('start') ? [await timeStarts(first, run)] : [],
    memory: wants('memory') ? [await weigh(first, run)] : [],
    workers: wants('workers') ? await compareWorkers(first, run) : [],
    driver: wants('driver') && first.engine === 'PostgreSQL' ? await compareWithDriver(first, run) : [],
    growth: wants('growth') ? await grow(filled, run) : [],
  }
}

async function measureAgainst(other: string) {
  for (const checkout of [fileURLToPath(new URL('..', import.meta.url)), other]) refuseUnbuilt(checkout)
  for (const engine of values.engine) {
    tell(
      `against, ${engine}`,
      `Processor time of a request against ${other} (${run.rounds} rounds of ${REQUESTS} requests; the ratio's median and middle half)`,
      ['', 'request', 'CPU us', 'other CPU us', 'ratio', 'ratio in all'],
      await compareCheckouts(engine, other, side => empty(engine, side), run),
      one => [
        one.engine,
        one.request,
        number(one.cpuUs, 1),
        number(one.otherCpuUs, 1),
        spread(one.ratio, 3),
        number(one.ratioInAll, 3),
      ],
    )
  }
}

async function measureAll() {
  const results: Awaited<ReturnType<typeof measureEngine>>[] = []
  for (const engine of values.engine) results.push(await measureEngine(engine))

  const beside = (part: 'requests' | 'driver', title: string) =>
    tell(
      part,
      `${title} (${generator}, ${run.rounds} rounds of ${run.seconds} s; median, lowest and highest)`,
      ['', 'request', 'requests/s', 'floor/s', 'ratio', 'p50 ms', 'p99 ms', 'CPU us', 'floor CPU us'],
      results.flatMap(one => one[part]),
      one => [
        one.engine,
        one.request,
        spread(one.perSecond),
        spread(one.floorPerSecond),
        spread(one.ratio, 2),
        one.p50Ms.toFixed(2),
        one.p99Ms.toFixed(2),
        number(one.cpuUs, 1),
        number(one.floorCpuUs, 1),
      ],
    )
  beside('requests', 'Requests')
  tell(
    'bulk',
    '10,000 lines by one request, and the longest that a get one waits meanwhile',
    ['', 'lines', 'lines/s', 'CPU us', 'get one, longest ms', 'MiB'],
    results.flatMap(one => one.bulk),
    one => [
      one.engine,
      one.lines,
      spread(one.perSecond),
      number(one.cpuUs, 1),
      spread(one.longestMs),
      number(one.mib),
    ],
  )
  tell(
    'rules',
    'Sales under so many more rules than those of the demo: one by one against the floor, and 10,000 lines by one request',
    ['', 'rules', 'sales/s', 'ratio', 'p99 ms', 'CPU us', 'lines/s', 'CPU us of a line'],
    results.flatMap(one => one.rules),
    ({ engine, rules, single, lines }) => [
      engine,
      String(rules),
      spread(single.perSecond),
      spread(single.ratio, 3),
      single.p99Ms.toFixed(2),
      number(single.cpuUs, 1),
      spread(lines.perSecond),
      number(lines.cpuUs, 1),
    ],
  )
  tell(
    'start',
    'Start, milliseconds from the command to the first answer',
    ['', 'ms'],
    results.flatMap(one => one.start),
    one => [one.engine, spread(one.tookMs)],
  )
  tell(
    'memory',
    'Memory, MiB resident',
    ['', 'idle', 'under load', 'all payouts to four clients'],
    results.flatMap(one => one.memory),
    one => [one.engine, number(one.idleMib), number(one.underLoadMib), number(one.streamingMib)],
  )
  tell(
    'workers',
    'Two workers against one',
    ['', 'request', 'requests/s, times', 'CPU of a request, times'],
    results.flatMap(one => one.workers),
    one => [one.engine, one.request, spread(one.rateRatio, 2), one.cpuRatio ? spread(one.cpuRatio, 2) : '-'],
  )
  beside('driver', 'PostgreSQL, against pg alone')
  tell(
    'growth',
    'Growth, time of a request against that on the smallest database',
    ['', 'request', 'affiliates', 'requests/s', 'p50 ms', 'times', 'CPU us'],
    results.flatMap(one => one.growth),
    one => [
      one.engine,
      one.request,
      String(one.affiliates),
      spread(one.perSecond),
      one.p50Ms.toFixed(2),
      spread(one.timesTheSmallest, 2),
      number(one.cpuUs, 1),
    ],
  )
}

const folder = await temporaryFolder()
const postgres = values.engine.includes('PostgreSQL') ? await PostgresServer.launch() : undefined
try {
  if (against === undefined) await measureAll()
  else await measureAgainst(resolve(against))
  if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`)
} finally {
  await postgres?.remove()
  await folder.remove()
}
