/**
 * Sends requests at a steady rate, each at its time whatever became of those before it, and measures from that time: who
 * waits behind others counts. (autocannon begins a run at a fixed rate with a burst of thousands.)
 */
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { exchange } from './exchange.ts'

export interface Offered {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Latencies {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly mostMs: number
  readonly failed: number
  readonly redirects: number
}

const MOST_CONNECTIONS = 256
const EVERY_MS = 1

/** One that keeps its connections from one run to the next. */
export class OpenLoad {
  readonly #url: string
  readonly #requests: readonly Offered[]
  readonly #agent = new Agent({ keepAlive: true, maxSockets: MOST_CONNECTIONS })
  #sent = 0

  constructor(url: string, requests: readonly Offered[]) {
    this.#url = url
    this.#requests = requests
  }

  async run(perSecond: number, seconds: number): Promise<Latencies> {
    const took: number[] = []
    let [failed, redirects] = [0, 0]
    const began = performance.now()
    const total = perSecond * seconds
    const pending: Promise<void>[] = []
    const send = async (dueAt: number) => {
      const status = await this.#ask().catch(() => 0)
      took.push(performance.now() - dueAt)
      if (status === 0 || status >= 400) failed += 1
      if (status === 302) redirects += 1
    }
    for (let sent = 0; sent < total; ) {
      const due = Math.min(total, ((performance.now() - began) / 1000) * perSecond)
      for (; sent < due; sent += 1) pending.push(send(began + (sent / perSecond) * 1000))
      await delay(EVERY_MS)
    }
    await Promise.all(pending)
    took.sort((a, b) => a - b)
    const at = (part: number) => took[Math.min(took.length - 1, Math.floor(took.length * part))] ?? 0
    return {
      perSecond: (took.length / (performance.now() - began)) * 1000,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      mostMs: at(1),
      failed,
      redirects,
    }
  }

  async #ask(): Promise<number> {
    const { path, body, method, headers } = this.#requests[this.#sent++ % this.#requests.length]!
    const { status } = await exchange(`${this.#url}${path}`, { method, headers, agent: this.#agent }, body)
    return status
  }

  close(): void {
    this.#agent.destroy()
  }
}
