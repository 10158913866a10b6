/** The processes that are measured: the server, and the floor that it is compared with. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../src/process/cluster.ts'
import type { FloorAnswer } from './floor.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
export const launcher = here('../bin/affiliated.js')
const HOST = '127.0.0.1'

export interface Process {
  readonly url: string
  readonly pid: number
  /** Processor time of the process and its workers up to now, in microseconds; undefined where the system does not tell. */
  cpuUs(): number | undefined
  residentMib(): number | undefined
  stop(): Promise<void>
}

export interface Floor extends Process {
  /** From now on every request gets this. */
  answer(answer: FloorAnswer): Promise<void>
}

const sumOf = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0)

function measured(child: ChildProcess, url: string): Process {
  const folder = `/proc/${child.pid}`
  const workers = () => readFileSync(`${folder}/task/${child.pid}/children`, 'utf8').match(/\d+/g) ?? []
  const tell = (read: () => number): number | undefined => {
    try {
      return read()
    } catch {
      return undefined
    }
  }
  // Of its threads to the nanosecond: the process as a whole is told in steps of 10 ms, which a short round has few of.
  const threadUs = (threads: string) => (thread: string) =>
    Number(readFileSync(`${threads}/${thread}/schedstat`, 'utf8').split(' ', 1)[0]) / 1000
  const processUs = (threads: string) => sumOf(readdirSync(threads).map(threadUs(threads)))
  return {
    url,
    pid: child.pid!,
    cpuUs: () => tell(() => sumOf([child.pid, ...workers()].map(pid => processUs(`/proc/${pid}/task`)))),
    residentMib: () =>
      tell(() => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`${folder}/status`, 'utf8'))![1]) / 1024),
    stop: async () => {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** @param database where it runs a statement for each request */
export async function startFloor(database?: string): Promise<Floor> {
  const child = fork(here('floor.ts'), database === undefined ? [] : [database])
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    ...measured(child, `http://${HOST}:${port}`),
    answer: async answer => {
      child.send(answer)
      await once(child, 'message')
    },
  }
}

/**
 * As a user starts it, with its log, but for the limit of requests.
 * @param program the launcher, of another checkout than this
 */
export async function startServer(
  database: string,
  flags: string[] = [],
  program = launcher,
): Promise<Process> {
  const port = await freePort(HOST)
  const args = [
    'serve',
    '--json',
    '--database',
    database,
    '--port',
    String(port),
    '--rate-limit',
    '0',
    ...flags,
  ]
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', openSync('/dev/null', 'w')],
  })
  const [line] = (await once(createInterface(child.stdout!), 'line')) as [string]
  return measured(child, JSON.parse(line).url)
}

/** @returns milliseconds from the command to its first answer */
export async function timeStart(database: string, authorization: string): Promise<number> {
  const port = await freePort(HOST)
  const args = ['serve', '--database', database, '--port', String(port), '--rate-limit', '0']
  const began = performance.now()
  const child = spawn(process.execPath, [launcher, ...args], { stdio: 'ignore' })
  while (!(await answers(port, authorization))) await delay(1)
  const tookMs = performance.now() - began
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
  return tookMs
}

function answers(port: number, authorization: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const asked = request(`http://${HOST}:${port}/v1/affiliates/1`, {
    agent: false,
    headers: { authorization },
  })
  asked.on('response', response => {
    response.resume()
    resolve(response.statusCode === 200)
  })
  asked.on('error', () => resolve(false))
  asked.end()
  return promise
}
