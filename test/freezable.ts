/** A connection between service and database that can stop passing on what it gets, and lead to another server. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

interface State {
  frozen: boolean
  /** Where new connections lead. */
  port: number
}

export class FreezableWire {
  readonly port: number
  readonly #server: Server
  readonly #sockets: Set<Socket>
  readonly #state: State

  private constructor(server: Server, sockets: Set<Socket>, state: State) {
    this.#server = server
    this.port = (server.address() as { port: number }).port
    this.#sockets = sockets
    this.#state = state
  }

  static async to(port: number): Promise<FreezableWire> {
    const sockets = new Set<Socket>()
    const state = { frozen: false, port }
    const server = createServer(inner => {
      const outer = connect(state.port, '127.0.0.1')
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

  /** Swallows everything of the connections that are there, whose machine is gone; new ones lead to another server. */
  moveTo(port: number): void {
    for (const socket of this.#sockets) socket.pause()
    this.#state.port = port
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
