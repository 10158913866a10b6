/** The parts of the benchmark. Rounds alternate between those that are compared, because neighbours disturb. */
import { setTimeout as delay } from 'node:timers/promises'
import { copyAnswer, type Filled, measure, medianOf, progress, type Round, spreadOf } from './measure.ts'
import { type Floor, startFloor, startServer, timeStart } from './processes.ts'
import { recorded } from './recorded.ts'
import { named, requestsTo } from './requests.ts'
import { stated } from './statements.ts'

export interface Run {
  readonly rounds: number
  readonly seconds: number
  /** Only requests whose name holds this. */
  readonly only: string
}

/** V8 compiles the paths of a write for some seconds of load, with a quarter of the processor time; the floor has few. */
const WARM_UP_SECONDS = { floor: 1, server: 8 }

const cpuOf = (rounds: Round[]) =>
  rounds[0]!.cpuUs === undefined ? undefined : medianOf(rounds.map(round => round.cpuUs!))

/** The service against the floor, request by request. */
export async function compareWithFloor(filled: Filled, run: Run) {
  return compare(filled, await startFloor(), run)
}

/** The same against `pg` alone, which does what the request does and answers with the same bytes: see `copyAnswer`. */
export async function compareWithDriver(filled: Filled, run: Run) {
  return compare(filled, await startFloor(filled.database), run, filled.database)
}

async function compare(
  { engine, database, authorization }: Filled,
  floor: Floor,
  run: Run,
  stating?: string,
) {
  const server = await startServer(database)
  const results = []
  for (const request of await requestsTo(server, authorization)) {
    if (!request.name.includes(run.only)) continue
    if (stating !== undefined && ![...stated, ...recorded].includes(request.name)) continue
    progress(`${engine}: ${request.name}`)
    await copyAnswer(floor, server, request, authorization, stating)
    await measure(floor, request, authorization, WARM_UP_SECONDS.floor)
    await measure(server, request, authorization, WARM_UP_SECONDS.server)
    const floors: Round[] = []
    const servers: Round[] = []
    for (let round = 0; round < run.rounds; round += 1) {
      floors.push(await measure(floor, request, authorization, run.seconds))
      servers.push(await measure(server, request, authorization, run.seconds))
    }
    results.push({
      engine,
      request: request.name,
      perSecond: spreadOf(servers.map(one => one.perSecond)),
      floorPerSecond: spreadOf(floors.map(one => one.perSecond)),
      ratio: spreadOf(servers.map((one, round) => one.perSecond / floors[round]!.perSecond)),
      p50Ms: medianOf(servers.map(one => one.p50Ms)),
      p99Ms: medianOf(servers.map(one => one.p99Ms)),
      cpuUs: cpuOf(servers),
      floorCpuUs: cpuOf(floors),
    })
  }
  await server.stop()
  await floor.stop()
  return results
}

/** The same requests on databases of each size, the smallest first. */
export async function grow(filled: ReadonlyMap<number, Filled>, run: Run) {
  const subjects = []
  for (const [affiliates, { database, authorization }] of filled) {
    const server = await startServer(database)
    const requests = await requestsTo(server, authorization)
    subjects.push({ affiliates, authorization, server, requests, rounds: [] as Round[] })
  }
  const [{ engine }] = [...filled.values()] as [Filled]
  const results = []
  for (const { name } of subjects[0]!.requests.filter(({ name }) => name.includes(run.only))) {
    progress(`${engine}, ${[...filled.keys()].join(', ')} affiliates: ${name}`)
    for (const subject of subjects) subject.rounds = []
    for (let round = 0; round <= run.rounds; round += 1) {
      for (const { server, requests, authorization, rounds } of subjects) {
        const measured = await measure(server, named(name, requests), authorization, run.seconds)
        // The first round warms up.
        if (round > 0) rounds.push(measured)
      }
    }
    const [smallest] = subjects
    for (const { affiliates, rounds } of subjects) {
      results.push({
        engine,
        request: name,
        affiliates,
        perSecond: spreadOf(rounds.map(one => one.perSecond)),
        p50Ms: medianOf(rounds.map(one => one.p50Ms)),
        timesTheSmallest: spreadOf(
          rounds.map((one, round) => smallest!.rounds[round]!.perSecond / one.perSecond),
        ),
        cpuUs: cpuOf(rounds),
      })
    }
  }
  for (const { server } of subjects) await server.stop()
  return results
}

/** From the command to the first answer. */
export async function timeStarts({ engine, database, authorization }: Filled, run: Run) {
  progress(`${engine}: starts`)
  const tookMs = []
  for (let round = 0; round <= run.rounds * 2; round += 1)
    tookMs.push(await timeStart(database, authorization))
  // The first start compiles.
  return { engine, tookMs: spreadOf(tookMs.slice(1)) }
}

/** Resident memory: idle, the highest under load, and the highest while everything is sent to four clients. */
export async function weigh({ engine, database, authorization }: Filled, run: Run) {
  progress(`${engine}: memory`)
  const server = await startServer(database)
  const requests = await requestsTo(server, authorization)
  await delay(3000)
  const idleMib = server.residentMib()
  const highest = async (work: Promise<unknown>) => {
    let mib = server.residentMib()
    const timer = setInterval(() => {
      mib = Math.max(mib!, server.residentMib()!)
    }, 20)
    await work
    clearInterval(timer)
    return mib
  }
  const loaded = async () => {
    for (const name of ['get one', 'list of 100', 'list of 20, built anew', 'create with account', 'edit']) {
      await measure(server, named(name, requests), authorization, run.seconds)
    }
  }
  const read = async () => {
    const response = await fetch(`${server.url}/v1/payouts?number=0`, { headers: { authorization } })
    for await (const _ of response.body!);
  }
  const underLoadMib = await highest(loaded())
  const streamingMib = await highest(Promise.all([read(), read(), read(), read()]))
  await server.stop()
  return { engine, idleMib, underLoadMib, streamingMib }
}

/**
 * What a second process adds. The generator shares the cores, so the rate tells more of requests that cost the service much
 * than of those that it answers fast. Their processor time tells what there would be if the generator had its own core.
 */
export async function compareWorkers({ engine, database, authorization }: Filled, run: Run) {
  progress(`${engine}: one worker against two`)
  const one = await startServer(database)
  const two = await startServer(database, ['--workers', '2'])
  const requests = await requestsTo(one, authorization)
  const results = []
  for (const name of [
    'get one, built anew',
    'list of 20, built anew',
    'list of 100, built anew',
    'create with account',
    'edit',
  ]) {
    const request = named(name, requests)
    const rates = []
    const times = []
    for (let round = 0; round <= run.rounds; round += 1) {
      const alone = await measure(one, request, authorization, run.seconds)
      const together = await measure(two, request, authorization, run.seconds)
      if (round === 0) continue
      rates.push(together.perSecond / alone.perSecond)
      if (together.cpuUs !== undefined) times.push(together.cpuUs / alone.cpuUs!)
    }
    const cpuRatio = times.length > 0 ? spreadOf(times) : undefined
    results.push({ engine, request: name, rateRatio: spreadOf(rates), cpuRatio })
  }
  await one.stop()
  await two.stop()
  return results
}
