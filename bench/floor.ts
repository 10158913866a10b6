/**
 * What Node's HTTP server can do at best: reads a request and answers with bytes that are ready. With the URL of a database
 * as its argument, `pg` first runs one statement that is prepared once, over a pool of the service's size.
 */
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
}

export interface FloorStatement {
  /** Its parameters are a number that no other request has, and one of a thousand records. */
  readonly text: string
  readonly stride: number
}

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
    const { status, headers, statement } = answer
    if (statement) await run(statement)
    response.writeHead(status, headers).end(bytes)
  }
})

async function run({ text, stride }: FloorStatement): Promise<void> {
  number += 1
  await pool.query({ name: `s${names}`, text, values: [number, ((number % ROWS) + 1) * stride] })
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
