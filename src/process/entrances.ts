/**
 * The sockets on which a process accepts connections: several on one port.
 *
 * In each turn of its event loop Node accepts one connection from each of them. When a thousand callers ask for more than
 * can be done, a turn takes a tenth of a second, and who is not connected yet, such as a visitor who follows a link, would
 * wait behind all who came before: with one socket, none of 800 was answered within eight seconds.
 * See docs/decisions/overload.md.
 */
import cluster from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer, Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { tryPort } from './listen.ts'

const ENTRANCES = 32

/**
 * Connections that the kernel holds for each while the process is busy, of which it allows net.core.somaxconn, 4096 by
 * default. Those beyond are lost: their clients try again after 1, 3 and 7 seconds.
 */
const BACKLOG = 4096

/** A worker gets its connections from the primary process; elsewhere than on Linux a port has one socket. */
const isOne = () => cluster.isWorker || process.platform !== 'linux'

export class Entrances {
  readonly #app: FastifyInstance
  readonly #servers: Server[]

  constructor(app: FastifyInstance) {
    this.#app = app
    this.#servers = [app.server]
  }

  /**
   * Listens.
   * @param port 0 for any that is free
   * @returns the URL
   * @throws the system's error
   */
  async open(host: string, port: number): Promise<string> {
    const listenTextResolver = () => 'listening'
    if (isOne()) return this.#app.listen({ host, port, backlog: BACKLOG, listenTextResolver })
    // The kernel would let two services share a port that both open for several sockets.
    if (port !== 0) await tryPort(host, port)
    const shared = { backlog: BACKLOG, reusePort: true }
    const url = await this.#app.listen({ host, port, listenTextResolver, ...shared })
    const { server } = this.#app
    // Cast: it listens on a port.
    const opened = (server.address() as AddressInfo).port
    server.maxConnections = Math.ceil(server.maxConnections / ENTRANCES)
    while (this.#servers.length < ENTRANCES) {
      // As an HTTP server accepts them.
      const entrance = createServer({ allowHalfOpen: true, noDelay: true }, socket =>
        server.emit('connection', socket),
      )
      entrance.maxConnections = server.maxConnections
      this.#servers.push(entrance)
      entrance.listen({ host, port: opened, ...shared })
      await once(entrance, 'listening')
    }
    return url
  }

  /** Stops listening. @returns when all connections have ended, which are left as they are */
  async close(): Promise<void> {
    const open = this.#servers.filter(({ listening }) => listening)
    const closed = open.map(server => once(server, 'close'))
    // The HTTP server's own method would close idle connections as well.
    for (const server of open) Server.prototype.close.call(server)
    await Promise.all(closed)
  }
}
