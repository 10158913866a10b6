/** Sends the same kind of request over and over: with wrk where it is installed, else with autocannon. */
import { execFile, execFileSync } from 'node:child_process'
import { Agent } from 'node:http'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import autocannon from 'autocannon'
import { exchange } from './exchange.ts'

export interface Target {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly connections: number
  /** How far the records are apart that {row} stands for. */
  readonly stride: number
}

export interface Measured {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Answers of 400 and above, and connections that broke. */
  readonly errors: number
}

export const ROWS = 1000
const script = fileURLToPath(new URL('wrk.lua', import.meta.url))
/** So that no two runs send the same number; together with the seven digits of each request, a whole number that is exact. */
let runs = Date.now() % 10_000_000

export const generator = hasWrk() ? 'wrk' : 'autocannon'

export function load(target: Target, seconds: number): Promise<Measured> {
  runs += 1
  return generator === 'wrk' ? byWrk(target, seconds) : byAutocannon(target, seconds)
}

function hasWrk(): boolean {
  try {
    execFileSync('wrk', ['--version'], { stdio: 'ignore' })
  } catch (error) {
    // It prints its version and ends with 1.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
  return true
}

async function byWrk(target: Target, seconds: number): Promise<Measured> {
  const { url, method, headers, body = '', connections, stride } = target
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, url]
  for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`)
  const { stdout } = await promisify(execFile)('wrk', args, {
    env: {
      ...process.env,
      BENCH_METHOD: method,
      BENCH_BODY: body,
      BENCH_RUN: String(runs),
      BENCH_ROWS: String(ROWS),
      BENCH_STRIDE: String(stride),
    },
  })
  return JSON.parse(stdout.slice(stdout.indexOf('{"requests"')))
}

async function byAutocannon(target: Target, seconds: number): Promise<Measured> {
  const { url, method, headers, body, connections, stride } = target
  let number = 0
  const { pathname, search } = new URL(url)
  const path = decodeURI(pathname) + search
  const setupRequest = (request: autocannon.Request): autocannon.Request => {
    number += 1
    const text = filledBy(number, stride)
    return { ...request, path: text(path), ...(body !== undefined && { body: text(body) }) }
  }
  const result = await autocannon({
    url: new URL(url).origin,
    connections,
    duration: seconds,
    headers,
    requests: [{ method: method as 'GET', setupRequest }],
  })
  return {
    requests: result.requests.total,
    perSecond: result.requests.total / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    errors: result['4xx'] + result['5xx'] + result.errors,
  }
}

/** @returns what fills the placeholders in for one request */
function filledBy(number: number, stride: number): (text: string) => string {
  return text =>
    text
      .replace('{row}', String((number % ROWS) * stride + 1))
      .replace('{number}', `${runs}${String(number).padStart(7, '0')}`)
}

/** Clients that keep their connections while others are measured, so that a round may be short. */
export class Clients {
  readonly #target: Target
  readonly #agent: Agent
  #number = 0

  constructor(target: Target) {
    runs += 1
    this.#target = target
    this.#agent = new Agent({ keepAlive: true, maxSockets: target.connections })
  }

  /**
   * @param requests how many, however long they take
   * @throws Error when an answer does not have the status
   */
  async send(requests: number, status: number): Promise<void> {
    let left = requests
    const client = async () => {
      while (left > 0) {
        left -= 1
        const answered = await this.#ask()
        if (answered !== status) throw new Error(`The answer is ${answered} in place of ${status}.`)
      }
    }
    await Promise.all(Array.from({ length: this.#target.connections }, client))
  }

  async #ask(): Promise<number> {
    const { url, method, headers, body, stride } = this.#target
    this.#number += 1
    const text = filledBy(this.#number, stride)
    const { status } = await exchange(text(url), { method, headers, agent: this.#agent }, body && text(body))
    return status
  }

  close(): void {
    this.#agent.destroy()
  }
}
