/** One of the two services that have the same conversation, and its answers as text that can be compared. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type ServeProcess, serveProcess } from '../harness.ts'
import type { Ask } from './ask.ts'

/** The name that every request gives to the service, so that addresses in answers are the same. */
const HOST = 'affiliated.test'

export interface Answer {
  readonly status: number
  /** By name, in the order of names. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** What a service says of itself once it listens. */
type Announced = ServeProcess['announced']

/** What a connection says that broke off. */
const NOTHING: Answer = { status: 0, headers: new Map(), body: '' }

export class Side {
  readonly #url: URL
  readonly #agent = new Agent({ keepAlive: true })
  readonly #unread: IncomingMessage[] = []
  /** What placeholders stand for. */
  readonly #memory: Map<string, string>
  /** Names of what is random. */
  readonly #secrets = new Map<string, string>()
  readonly #version: string
  readonly #stop: () => Promise<unknown>

  private constructor(checkout: string, { url, ...access }: Announced, stop: () => Promise<unknown>) {
    this.#url = new URL(url)
    this.#memory = new Map(Object.entries(access))
    this.#memory.set('basic', Buffer.from(`${access.public_key}:${access.token}`).toString('base64'))
    for (const [name, value] of this.#memory) if (name !== 'login') this.#secrets.set(value, name)
    this.#version = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')).version
    this.#stop = stop
  }

  /**
   * @param checkout its folder
   * @param access   what `filled` returned, for a database that is not new
   */
  static async start(
    checkout: string,
    database: string,
    flags: readonly string[],
    access?: Announced,
  ): Promise<Side> {
    const program = join(checkout, 'bin/affiliated.js')
    const { announced, stop } = await serveProcess(['--database', database, ...flags], { program })
    return new Side(checkout, { ...access, ...announced }, () => stop())
  }

  /** Fills a new database with the demo data of a checkout, and returns the key of its first start. */
  static async filled(checkout: string, database: string): Promise<Announced> {
    const program = join(checkout, 'bin/affiliated.js')
    const { announced, stop } = await serveProcess(['--database', database, '--demo'], { program })
    await stop()
    return announced
  }

  async stop(): Promise<void> {
    for (const response of this.#unread) response.destroy()
    this.#agent.destroy()
    await this.#stop()
  }

  /** @param nth of those that are sent at once */
  async ask(ask: Ask, nth = 0): Promise<Answer> {
    const response = await this.#send(ask, nth, this.#agent)
    const lines: string[] = []
    for (let at = 0; at < response.rawHeaders.length; at += 2) {
      lines.push(`${response.rawHeaders[at]}: ${response.rawHeaders[at + 1]}`)
    }
    const answer = [`HTTP ${response.statusCode}`, ...lines, '', await text(response)].join('\n')
    this.#remember(ask, answer)
    return this.#comparable(answer, ask.varies)
  }

  /** Leaves the answer unread, on a connection of its own. */
  async begin(ask: Ask): Promise<void> {
    this.#unread.push(await this.#send(ask, 0, false))
  }

  async #send(ask: Ask, nth: number, agent: Agent | false): Promise<IncomingMessage> {
    this.#memory.set('nth', String(nth))
    const isText = typeof ask.body === 'string' || Buffer.isBuffer(ask.body)
    const headers = {
      host: HOST,
      ...(ask.body !== undefined && !isText && { 'content-type': 'application/json' }),
      ...ask.headers,
    }
    const sent = request({
      host: this.#url.hostname,
      port: this.#url.port,
      agent,
      method: ask.method,
      path: this.#fill(ask.path),
      // Node writes them as Latin-1.
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          Buffer.from(this.#fill(value)).toString('latin1'),
        ]),
      ),
    })
    sent.end(Buffer.isBuffer(ask.body) ? ask.body : this.#bodyOf(ask))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return response
  }

  /** Sends bytes, and reads until the service ends the connection. */
  async raw(bytes: string): Promise<Answer> {
    const socket = connect(Number(this.#url.port), this.#url.hostname)
    socket.on('error', () => {})
    socket.write(Buffer.from(this.#fill(bytes), 'latin1'))
    const received = await text(socket).catch(() => '')
    if (received === '') return NOTHING
    const end = received.indexOf('\r\n\r\n')
    const head = received
      .slice(0, end)
      .replaceAll('\r\n', '\n')
      .replace(/^HTTP\/1.1 (\d+).*/, 'HTTP $1')
    return this.#comparable(`${head}\n\n${received.slice(end + 4)}`)
  }

  #bodyOf({ body }: Ask): string | undefined {
    if (body === undefined) return undefined
    return typeof body === 'string' ? body : this.#fill(JSON.stringify(body))
  }

  #fill(template: string): string {
    return template.replace(/\{(\w+)\}/g, (whole, name) => this.#memory.get(name) ?? whole)
  }

  #remember({ keep = {}, secret = {} }: Ask, answer: string): void {
    for (const [name, pattern] of Object.entries({ ...keep, ...secret })) {
      const value = pattern.exec(answer)?.[1]
      if (value === undefined) continue
      this.#memory.set(name, value)
      if (Object.hasOwn(secret, name)) this.#secrets.set(value, name)
    }
  }

  /** Without what no two services have in common. */
  #comparable(answer: string, varies?: RegExp): Answer {
    let same = answer.replaceAll(`"${this.#version}"`, '"{version}"')
    for (const [value, name] of this.#secrets) same = same.replaceAll(value, `{${name}}`)
    if (varies) same = same.replace(varies, '…')
    const end = same.indexOf('\n\n')
    const [status, ...lines] = same.slice(0, end < 0 ? undefined : end).split('\n')
    return {
      status: Number(status!.slice('HTTP '.length)),
      headers: headersOf(lines),
      body: end < 0 ? '' : same.slice(end + 2),
    }
  }
}

function headersOf(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>()
  for (const line of lines.toSorted()) {
    const colon = line.indexOf(': ')
    const name = line.slice(0, colon).toLowerCase()
    const value = name === 'date' || name === 'x-request-id' ? '…' : line.slice(colon + 2)
    headers.set(name, headers.has(name) ? `${headers.get(name)}\n${value}` : value)
  }
  return headers
}
