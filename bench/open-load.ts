/**
 * Sends requests at a steady rate, each at its time whatever became of those before it, and measures from that time: who
 * waits behind others counts. (autocannon begins a run at a fixed rate with a burst of thousands.) It speaks HTTP by itself,
 * because `http.request` takes more of a processor than the service that answers.
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { medianOf, quantilesOf } from './measure.ts'

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
  /** Of the median second: one in which the machine did not stand still. */
  readonly p99OfSecondMs: number
  readonly mostMs: number
  readonly failed: number
  readonly redirects: number
}

const MOST_CONNECTIONS = 256
const EVERY_MS = 1

/** What becomes of the requests of one run. */
interface Tally {
  /** In the order in which they were due. One array: the generator is not to collect memory while it measures. */
  readonly took: Float64Array
  answered: number
  failed: number
  redirects: number
  ended(): void
}

interface Sent {
  readonly bytes: Buffer
  readonly dueAt: number
  /** Among the requests of the run. */
  readonly place: number
  readonly tally: Tally
}

/** One that keeps its connections from one run to the next. */
export class OpenLoad {
  readonly #url: URL
  readonly #requests: readonly Buffer[]
  readonly #idle: Connection[] = []
  readonly #open = new Set<Connection>()
  readonly #waiting: Sent[] = []
  #sent = 0

  constructor(url: string, requests: readonly Offered[]) {
    this.#url = new URL(url)
    this.#requests = requests.map(request => bytesOf(this.#url.host, request))
  }

  async run(perSecond: number, seconds: number): Promise<Latencies> {
    const began = performance.now()
    const total = perSecond * seconds
    const end = Promise.withResolvers<void>()
    const tally: Tally = {
      took: new Float64Array(total),
      answered: 0,
      failed: 0,
      redirects: 0,
      ended: () => {
        if (tally.answered >= total) end.resolve()
      },
    }
    for (let sent = 0; sent < total; ) {
      const due = Math.min(total, ((performance.now() - began) / 1000) * perSecond)
      for (; sent < due; sent += 1) this.#send(began + (sent / perSecond) * 1000, sent, tally)
      await delay(EVERY_MS)
    }
    await end.promise
    const at = quantilesOf(tally.took)
    const ofSeconds = Array.from({ length: Math.ceil(seconds) }, (_, second) =>
      quantilesOf(tally.took.subarray(second * perSecond, (second + 1) * perSecond)),
    )
    return {
      perSecond: (total / (performance.now() - began)) * 1000,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      p99OfSecondMs: medianOf(ofSeconds.map(at => at(0.99))),
      mostMs: at(1),
      failed: tally.failed,
      redirects: tally.redirects,
    }
  }

  #send(dueAt: number, place: number, tally: Tally): void {
    this.#waiting.push({ bytes: this.#requests[this.#sent++ % this.#requests.length]!, dueAt, place, tally })
    if (this.#idle.length === 0 && this.#open.size < MOST_CONNECTIONS) this.#connect()
    else this.#next()
  }

  #next(): void {
    while (this.#waiting.length > 0 && this.#idle.length > 0) this.#idle.pop()!.send(this.#waiting.shift()!)
  }

  #connect(): void {
    const connection = new Connection(this.#url, {
      free: () => {
        this.#idle.push(connection)
        this.#next()
      },
      gone: () => {
        this.#open.delete(connection)
        const place = this.#idle.indexOf(connection)
        if (place >= 0) this.#idle.splice(place, 1)
        if (this.#waiting.length > 0) this.#connect()
      },
    })
    this.#open.add(connection)
  }

  close(): void {
    for (const connection of this.#open) connection.close()
  }
}

function bytesOf(host: string, { method, path, headers, body = '' }: Offered): Buffer {
  const lines = Object.entries({ host, ...headers, 'content-length': String(Buffer.byteLength(body)) })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n${body}`)
}

/** Sends one request after the other. */
class Connection {
  readonly #socket: Socket
  readonly #free: () => void
  #sent: Sent | undefined
  #received = ''

  constructor({ hostname, port }: URL, { free, gone }: { free: () => void; gone: () => void }) {
    this.#free = free
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true })
    this.#socket.setEncoding('latin1')
    this.#socket.on('connect', free)
    this.#socket.on('data', (text: string) => this.#receive(text))
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      gone()
      this.#end(0)
    })
  }

  send(sent: Sent): void {
    this.#sent = sent
    this.#socket.write(sent.bytes)
  }

  close(): void {
    this.#socket.destroy()
  }

  #receive(text: string): void {
    // The server is about to close a connection that waits for too long.
    if (!this.#sent) {
      this.close()
      return
    }
    this.#received += text
    const head = this.#received.indexOf('\r\n\r\n')
    if (head < 0) return
    const [, length = '0'] = /\r\ncontent-length: (\d+)/i.exec(this.#received) ?? []
    if (this.#received.length < head + 4 + Number(length)) return
    const status = Number(this.#received.slice(9, 12))
    this.#received = ''
    this.#end(status)
    this.#free()
  }

  #end(status: number): void {
    const sent = this.#sent
    if (!sent) return
    this.#sent = undefined
    const { tally } = sent
    tally.took[sent.place] = performance.now() - sent.dueAt
    tally.answered += 1
    if (status === 0 || status >= 400) tally.failed += 1
    if (status === 302) tally.redirects += 1
    tally.ended()
  }
}
