/**
 * Two checkouts against each other: processor time of a request, in short rounds in turn. What counts is the ratio of
 * two rounds that follow each other, since a neighbour disturbs both alike, and the median of these ratios.
 */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Clients } from './load.ts'
import { type Filled, fill, medianOf, progress, quantilesOf, spreadOf, targetOf } from './measure.ts'
import type { Run } from './parts.ts'
import { launcher, startServer } from './processes.ts'
import { named, requestsTo } from './requests.ts'

/** What is compared, and what it is compared with in a checkout of 0.1 if that had no such request. */
const compared: readonly { readonly request: string; readonly first?: string }[] = [
  { request: 'get one' },
  { request: 'get one, built anew' },
  { request: 'list of 20, first page' },
  { request: 'list of 20, built anew' },
  { request: 'list of 100' },
  { request: 'list of 100, built anew' },
  { request: 'create with account' },
  { request: 'edit' },
  { request: 'create payout' },
  { request: 'report sale', first: 'create payout' },
  { request: 'create referral', first: 'create payout' },
  { request: 'create visit', first: 'create payout' },
]

const AFFILIATES = 1000
/** In a round: so few that a neighbour hardly comes or goes within two rounds. */
export const REQUESTS = 200
/** Until the program is compiled as well as it gets. */
const WARM_UP_REQUESTS = 10_000
/** How often both are started anew: the same program is a few percent faster or slower from one start to the next. */
const STARTS = 4

/** A new database for each side. */
type OpenEmpty = (name: string) => Promise<string>

type Rounds = readonly [number[], number[]]

/** @param other the folder of the checkout to compare with, which has node_modules and was built */
export async function compareCheckouts(
  engine: string,
  other: string,
  open: OpenEmpty,
  run: Omit<Run, 'seconds'>,
) {
  const wanted = compared.filter(({ request }) => request.includes(run.only))
  const isFirst = !existsSync(join(other, 'src/programme'))
  const rounds = wanted.map(({ request, first = request }) => {
    const measured: Rounds = [[], []]
    return { request, its: isFirst ? first : request, measured }
  })
  const sides = [
    { program: launcher, filled: await fill(engine, await open('new'), AFFILIATES) },
    {
      program: launcherOf(other),
      filled: await fill(engine, await open('old'), AFFILIATES, launcherOf(other)),
    },
  ] as const
  for (let start = 1; start <= STARTS; start += 1) {
    const [mine, its] = [await startSide(sides[0]), await startSide(sides[1])]
    try {
      for (const { request, its: otherRequest, measured } of rounds) {
        progress(`${engine}, ${start} of ${STARTS}: ${request}`)
        const contestants = [mine.begin(request), its.begin(otherRequest)] as const
        await alternate(contestants, measured, Math.ceil(run.rounds / STARTS))
      }
    } finally {
      await Promise.all([mine.stop(), its.stop()])
    }
  }
  return rounds.map(({ request, its: otherRequest, measured: [mine, its] }) => ({
    engine,
    request: otherRequest === request ? request : `${request} (${otherRequest} there)`,
    cpuUs: medianOf(mine),
    otherCpuUs: medianOf(its),
    ratio: quartersOf(mine.map((cpuUs, round) => cpuUs / its[round]!)),
    ratioInAll: sumOf(mine) / sumOf(its),
  }))
}

type Contestant = ReturnType<Awaited<ReturnType<typeof startSide>>['begin']>

async function alternate(
  sides: readonly [Contestant, Contestant],
  measured: Rounds,
  rounds: number,
): Promise<void> {
  for (const { round } of sides) await round(WARM_UP_REQUESTS)
  for (let number = 0; number < rounds; number += 1) {
    // Who comes second may find a warmer processor.
    const order = number % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)
    for (const side of order) measured[side].push((await sides[side].round(REQUESTS)) / REQUESTS)
  }
  for (const { end } of sides) end()
}

async function startSide({ program, filled }: { program: string; filled: Filled }) {
  const { database, authorization } = filled
  const server = await startServer(database, [], program)
  if (server.cpuUs() === undefined)
    throw new Error('This system does not tell the processor time of a process.')
  const all = await requestsTo(server, authorization)
  return {
    begin: (name: string) => {
      const request = named(name, all)
      const clients = new Clients(targetOf(server, request, authorization))
      return {
        /** @returns the processor time that it took, in microseconds */
        round: async (requests: number) => {
          const before = server.cpuUs()!
          await clients.send(requests, request.status)
          return server.cpuUs()! - before
        },
        end: () => clients.close(),
      }
    },
    stop: server.stop,
  }
}

const sumOf = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0)

/** The median, and between what the middle half lies: of many short rounds, the outermost say nothing. */
function quartersOf(numbers: number[]) {
  const at = quantilesOf(numbers)
  return { ...spreadOf(numbers), lowest: at(0.25), highest: at(0.75) }
}

function launcherOf(checkout: string): string {
  return join(checkout, 'bin/affiliated.js')
}

/**
 * @throws Error where a checkout would not run what was built of it: sources start slower, and are compiled otherwise
 */
export function refuseUnbuilt(checkout: string): void {
  const changed = (path: string) => statSync(join(checkout, path)).mtimeMs
  const build = 'dist/main.js'
  if (!existsSync(join(checkout, build))) throw new Error(`${checkout}: run "npm run build" there first.`)
  const sources = readdirSync(join(checkout, 'src'), { recursive: true, encoding: 'utf8' })
  const newer = sources.find(path => changed(join('src', path)) >= changed(build))
  if (newer) throw new Error(`${checkout}: src/${newer} is newer than the build; run "npm run build" there.`)
}
