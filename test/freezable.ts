/** A connection between service and database that can stop passing on what it gets. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

export class FreezableWire {
  readonly port: number
  readonly #server: Server
  readonly #sockets: Set<Socket>
  readonly #state: { frozen: boolean }

  private constructor(server: Server, sockets: Set<Socket>, state: { frozen: boolean }) {
    this.#server = server
    this.port = (server.address() as { port: number }).port
    this.#sockets = sockets
    this.#state = state
  }

  static async to(port: number): Promise<FreezableWire> {
    const sockets = new Set<Socket>()
    const state = { frozen: false }
    const server = createServer(inner => {
      const outer = connect(port, '127.0.0.1')
      for (const [from, to] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        sockets.add(from)
        from.pipe(to)
        from.on('error', () => to.destroy())
        from.on('close', () => {
          sockets.delete(from)
          to.destroy()
        })
        if (state.frozen) from.pause()
      }
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new FreezableWire(server, sockets, state)
  }

  freeze(): void {
    this.#state.frozen = true
    for (const socket of this.#sockets) socket.pause()
  }

  /** What was swallowed stays so: its connections are dead. */
  thaw(): void {
    this.#state.frozen = false
    for (const socket of this.#sockets) socket.destroy()
  }

  close(): void {
    this.thaw()
    this.#server.close()
  }
}
