/** What stands between the service and PostgreSQL, and reads along. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What was sent from BEGIN to COMMIT or ROLLBACK. */
export interface SentTransaction {
  /** Of each trip, its statements. */
  readonly trips: string[][]
}

interface Wire {
  readonly url: string
  readonly transactions: readonly SentTransaction[]
  /** How many statements were prepared under names. */
  readonly named: () => number
  /** The next connection that is sent all of these in one trip ends, and the server gets them. */
  cutAt(...statements: string[]): void
  close(): Promise<void>
}

/** @param pooled each transaction gets another connection, as from a pooler that knows nothing of prepared statements */
export async function wireTo(serverUrl: string, pooled = false): Promise<Wire> {
  const target = new URL(serverUrl)
  const transactions: SentTransaction[] = []
  const sockets = new Set<Socket>()
  const free: Socket[] = []
  let named = 0
  let cut: string[] | undefined

  const server = createServer(client => {
    let upstream: Socket | undefined
    const texts = new Map<string, string>()
    let open: SentTransaction | undefined
    let trip: string[] = []
    const read = messagesOf((type, body) => {
      if (type === 'P') {
        const [name, text] = body.toString('utf8').split('\0') as [string, string]
        if (name !== '') named += 1
        texts.set(name, text)
      }
      if (type === 'B') trip.push(texts.get(body.toString('utf8', 1).split('\0', 1)[0]!) ?? '?')
      if (type !== 'S') return
      if (trip[0]?.startsWith('BEGIN')) open = { trips: [] }
      open?.trips.push(trip)
      const last = trip.at(-1)
      if (open && (last === 'COMMIT' || last === 'ROLLBACK')) {
        transactions.push(open)
        open = undefined
      }
      trip = []
    })
    const back = (chunk: Buffer) => {
      client.write(chunk)
      if (!pooled || !chunk.subarray(-6).equals(IDLE)) return
      upstream!.off('data', back)
      free.push(upstream!)
      upstream = undefined
    }
    const begin = (socket: Socket) => {
      upstream = socket
      socket.on('data', back)
    }
    const first = connect(Number(target.port), target.hostname)
    begin(first)
    for (const socket of [client, first]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    first.on('close', () => client.destroy())
    client.on('data', (chunk: Buffer) => {
      if (!upstream) begin(free.shift()!)
      upstream!.write(chunk)
      read(chunk)
      if (!cut?.every(statement => chunk.includes(statement))) return
      cut = undefined
      client.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(serverUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    transactions,
    named: () => named,
    cutAt: (...statements) => {
      cut = statements
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The server has answered, and no transaction is open. */
const IDLE = Buffer.from('Z\0\0\0\x05I', 'latin1')

/** Takes what a client sends apart; the first message has no type. */
function messagesOf(on: (type: string, body: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0)
  let begun = false
  return chunk => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const head = begun ? 1 : 0
      if (rest.length < head + 4) return
      const end = head + rest.readInt32BE(head)
      if (rest.length < end) return
      if (begun) on(String.fromCharCode(rest[0]!), rest.subarray(5, end))
      begun = true
      rest = rest.subarray(end)
    }
  }
}
