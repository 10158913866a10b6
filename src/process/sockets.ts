/**
 * The sockets on which a process accepts connections: several on one port.
 *
 * In each turn of its event loop Node accepts one connection from each of them. When a thousand callers ask for more than
 * can be done, a turn takes a tenth of a second, and with one socket a new client, such as a visitor who follows a link,
 * waits behind all earlier ones: none of 800 was answered within eight seconds.
 * See docs/decisions/overload.md.
 */
import cluster from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer, Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { tryPort } from './listen.ts'

const SOCKETS = 32

/**
 * Connections that the kernel holds for each socket while the process is busy; it allows at most net.core.somaxconn, 4096
 * by default. Further ones are dropped, and their clients try again after 1, 3 and 7 seconds.
 */
const BACKLOG = 4096

/** A worker gets its connections from the primary process. Only Linux distributes connections among sockets. */
const hasOneSocket = () => cluster.isWorker || process.platform !== 'linux'

export class ListeningSockets {
  readonly #app: FastifyInstance
  readonly #servers: Server[]

  constructor(app: FastifyInstance) {
    this.#app = app
    this.#servers = [app.server]
  }

  /**
   * Starts listening.
   * @param port 0 means any free port
   * @returns the URL
   * @throws the system's error
   */
  async open(host: string, port: number): Promise<string> {
    const listenTextResolver = () => 'listening'
    if (hasOneSocket()) return this.#app.listen({ host, port, backlog: BACKLOG, listenTextResolver })
    // With reusePort the kernel would let a second service share the port.
    if (port !== 0) await tryPort(host, port)
    const shared = { backlog: BACKLOG, reusePort: true }
    const url = await this.#app.listen({ host, port, listenTextResolver, ...shared })
    const { server } = this.#app
    // Cast: a server that listens on a port has an address with one.
    const opened = (server.address() as AddressInfo).port
    while (this.#servers.length < SOCKETS) {
      // With the options of Node's HTTP server.
      const another = createServer({ allowHalfOpen: true, noDelay: true }, socket =>
        server.emit('connection', socket),
      )
      this.#servers.push(another)
      another.listen({ host, port: opened, ...shared })
      await once(another, 'listening')
    }
    return url
  }

  /**
   * Stops listening. Open connections stay as they are.
   * @returns once all of them have ended
   */
  async close(): Promise<void> {
    const open = this.#servers.filter(({ listening }) => listening)
    const closed = open.map(server => once(server, 'close'))
    // The HTTP server's own method would close idle connections as well.
    for (const server of open) Server.prototype.close.call(server)
    await Promise.all(closed)
  }
}
