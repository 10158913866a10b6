/** How a process is measured: filled databases, rounds of one kind of request, and what is made of the numbers. */
import { affiliated, BROWSER } from '../test/harness.ts'
import { answerOf, exchange } from './exchange.ts'
import { load, type Measured, type Target } from './load.ts'
import { type Floor, launcher, type Process } from './processes.ts'
import { recorded, stepsOf } from './recorded.ts'
import type { BenchRequest } from './requests.ts'
import { statementOf } from './statements.ts'

/** A database that has data, and who may ask for it. */
export interface Filled {
  readonly engine: string
  readonly database: string
  readonly authorization: string
}

/** What one process did in one round. */
export interface Round extends Measured {
  /** Processor time of a request, where the system tells. */
  readonly cpuUs: number | undefined
}

export interface Spread {
  readonly median: number
  readonly lowest: number
  readonly highest: number
}

export const progress = (text: string) => process.stderr.write(`${text}\n`)

/** @returns the number below which a part of them lies; 0 of none */
export function quantilesOf(numbers: ArrayLike<number>): (part: number) => number {
  const sorted = Float64Array.from(numbers).sort()
  return part => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}

export function spreadOf(numbers: number[]): Spread {
  const sorted = numbers.toSorted((a, b) => a - b)
  return { median: sorted[sorted.length >> 1]!, lowest: sorted[0]!, highest: sorted.at(-1)! }
}

export const medianOf = (numbers: number[]): number => spreadOf(numbers).median

/** Runs commands on a database. @returns what one prints @throws Error what it says when it fails */
export function commandsOn(database: string, program = launcher) {
  return async (...args: string[]) => {
    const all = [...args, '--database', database, '--json']
    const { code, stdout, stderr } = await affiliated(all, '', { program })
    if (code !== 0) throw new Error(stderr)
    return JSON.parse(stdout)
  }
}

/**
 * Fills an empty database, with five payouts to an affiliate.
 * @param program the launcher, of another checkout than this
 */
export async function fill(
  engine: string,
  database: string,
  affiliates: number,
  program = launcher,
): Promise<Filled> {
  progress(`${engine}: fills a database with ${affiliates} affiliates and ${affiliates * 5} payouts`)
  const run = commandsOn(database, program)
  await run('demo', '--affiliates', String(affiliates), '--payouts', String(affiliates * 5))
  // Another checkout may be of before there were visits.
  if ('programme_page' in (await run('settings', 'get')))
    await run('settings', 'set', 'programme_page', 'https://shop.example/welcome')
  await run('users', 'create', '--login', 'bench', '--email', 'bench@bench.example', '--admin')
  const { token } = await run('keys', 'create', '--name', 'bench', '--user', 'bench')
  return { engine, database, authorization: `Bearer ${token}` }
}

/**
 * Sends one kind of request for some seconds.
 * @throws Error when an answer was not the one that is expected
 */
export async function measure(
  server: Process,
  request: BenchRequest,
  authorization: string,
  seconds: number,
): Promise<Round> {
  const { status } = request
  const before = server.cpuUs()
  const done = await load(targetOf(server, request, authorization), seconds)
  const after = server.cpuUs()
  if (done.requests === 0 || done.errors !== (status < 400 ? 0 : done.requests)) {
    throw new Error(`${request.name}: ${done.errors} of ${done.requests} requests failed`)
  }
  return { ...done, cpuUs: before === undefined ? undefined : (after! - before) / done.requests }
}

export function targetOf(server: Process, request: BenchRequest, authorization: string): Target {
  const { path, method, body, connections, stride } = request
  return {
    url: `${server.url}${request.visitor ? '' : '/v1'}${path}`,
    method,
    headers: headersOf(request, authorization),
    connections,
    stride,
    ...(body !== undefined && { body }),
  }
}

/**
 * Asks once, and lets the floor answer with what came.
 * @param database where the floor does the same by one statement, or those of the service in one transaction
 */
export async function copyAnswer(
  floor: Floor,
  server: Process,
  request: BenchRequest,
  authorization: string,
  database?: string,
): Promise<void> {
  const filled = (text: string) => text.replace('{row}', '7').replace('{number}', String(Date.now()))
  const answered = await exchange(
    `${server.url}${request.visitor ? '' : '/v1'}${filled(request.path)}`,
    { method: request.method, headers: headersOf(request, authorization) },
    request.body && filled(request.body),
  )
  if (answered.status !== request.status)
    throw new Error(`${request.name}: ${answered.status} ${answered.body}`)
  const answer = answerOf(answered)
  if (database === undefined) return floor.answer(answer)
  if (recorded.includes(request.name)) {
    return floor.answer({ ...answer, steps: await stepsOf(database, request.body!) })
  }
  const { text } = await statementOf(database, request.name)
  await floor.answer({ ...answer, statement: { text, stride: request.stride } })
}

function headersOf({ refused, visitor, body }: BenchRequest, authorization: string): Record<string, string> {
  if (visitor) return { 'User-Agent': BROWSER, 'Accept-Encoding': 'br' }
  return {
    Authorization: refused ? 'Bearer affiliated_sk_nobody-has-this-token' : authorization,
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  }
}
