/** What Node's HTTP server can do at best: reads a request and answers with bytes that are ready. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FloorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

let answer: FloorAnswer = { status: 204, headers: {}, body: '' }

const server = createServer((request, response) => {
  // A body is read to its end, as whoever acts on it has to.
  if (request.headers['content-length'] === undefined) respond()
  else request.resume().on('end', respond)

  function respond() {
    response.writeHead(answer.status, answer.headers).end(answer.body)
  }
})
process.on('message', (next: FloorAnswer) => {
  answer = next
  process.send!('ready')
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.send!({ port: (server.address() as AddressInfo).port })
