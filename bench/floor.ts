/**
 * What Node's HTTP server can do at best: reads a request and answers with bytes that are ready. With the URL of a database
 * as its argument, `pg` first runs one statement that is prepared once, or some in one transaction, over a pool of the
 * service's size.
 */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { ROWS } from './load.ts'

export interface FloorAnswer {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  /** In base64. */
  readonly body: string
  readonly statement?: FloorStatement
  /** Of one transaction, each awaited. */
  readonly steps?: readonly FloorStep[]
}

export interface FloorStatement {
  /** Its parameters are a number that no other request has, and one of a thousand records. */
  readonly text: string
  readonly stride: number
}

export interface FloorStep {
  readonly text: string
  readonly values: readonly FloorValue[]
}

/** A value of a statement. */
export type FloorValue =
  | { readonly fixed: string | null }
  /** With a number that no other request has between the pieces. */
  | { readonly numbered: readonly string[] }
  /** What an earlier step has returned. */
  | { readonly step: number; readonly row: number; readonly column: number }
  /** Text of so many characters that no other request has; the same for the same token. */
  | { readonly token: number; readonly length: number }

const POOL = 10

const [database] = process.argv.slice(2)
const pool = new pg.Pool({ max: POOL, ...(database !== undefined && { connectionString: database }) })
let answer: FloorAnswer = { status: 204, headers: {}, body: '' }
let bytes = Buffer.alloc(0)
/** Beyond what the service was sent. */
let number = Date.now() * 1000
let names = 0

const server = createServer((request, response) => {
  // A body is read to its end, as whoever acts on it has to.
  if (request.headers['content-length'] === undefined) respond()
  else request.resume().on('end', respond)

  async function respond() {
    const { status, headers, statement, steps } = answer
    if (statement) await run(statement)
    if (steps) await transact(steps)
    response.writeHead(status, headers).end(bytes)
  }
})

async function run({ text, stride }: FloorStatement): Promise<void> {
  number += 1
  await pool.query({ name: `s${names}`, text, values: [number, ((number % ROWS) + 1) * stride] })
}

async function transact(steps: readonly FloorStep[]): Promise<void> {
  number += 1
  const own = number
  const client = await pool.connect()
  try {
    const results: unknown[][][] = []
    const tokens: string[] = []
    const filled = (value: FloorValue): unknown => {
      if ('fixed' in value) return value.fixed
      if ('numbered' in value) return value.numbered.join(String(own))
      if ('step' in value) return results[value.step]![value.row]?.[value.column] ?? null
      tokens[value.token] ??= randomBytes(value.length).toString('hex').slice(0, value.length)
      return tokens[value.token]
    }
    await client.query('BEGIN')
    for (const [step, { text, values }] of steps.entries()) {
      const { rows } = await client.query<unknown[]>({
        name: `s${names}-${step}`,
        text,
        values: values.map(filled),
        rowMode: 'array',
      })
      results.push(rows)
    }
    await client.query('COMMIT')
  } finally {
    client.release()
  }
}

process.on('message', (next: FloorAnswer) => {
  answer = next
  bytes = Buffer.from(next.body, 'base64')
  names += 1
  process.send!('ready')
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.send!({ port: (server.address() as AddressInfo).port })
