/**
 * Bounds what one connection may hold up, with a key or without.
 *
 * A client may send requests before earlier ones are answered. Node hands over all that it reads of a connection in one
 * turn of the event loop, 64 KiB or more, which is thousands of short requests: fifty clients that sent nothing else kept
 * everybody waiting for a quarter of a minute. So a connection may have a few unanswered requests. The answer to the last
 * of them ends it, and nothing after that is read: the client sees that it was not answered, and sends it again on a new
 * connection (RFC 9112, 9.3.2).
 *
 * A client may open as many connections as a process may have, and leave them idle. So when there are that many, idle ones
 * are closed: clients that need theirs open new ones, and nobody is kept out.
 *
 * A client may also never read its answers, which would stay in memory as long as it likes. So a connection on which
 * nothing moves any more is cut off.
 * See docs/decisions/overload.md.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { onResponseHookHandler } from 'fastify'
import { memberOf } from '../base/unknown.ts'

const MOST_UNANSWERED = 16

/** Of a process. */
const MOST_CONNECTIONS = 16_384
/** A connection on which nothing was asked for as long as this may be closed to make room. */
const IDLE_MS = 1000
/** To make room, all connections are looked at. */
const ROOM_EVERY_MS = 1000

/** Node's HTTP parser of a connection, which has no public interface. */
interface Parser {
  /** Called with each request; the result says how to parse what follows its headers. */
  onIncoming(request: IncomingMessage, keepAlive: boolean): number
}

/** A result of `onIncoming`: what follows is not HTTP, as after an upgrade. */
const NOT_HTTP = 2

interface Connection {
  /** Undefined in a version of Node that keeps its parser elsewhere: there it is not limited. */
  unanswered: number | undefined
  /** When it was opened, or an answer was the last on it. By `performance.now()`. */
  idleSince: number
}

export class Connections {
  readonly #connections = new Map<Socket, Connection>()
  readonly #most: number
  #roomMadeAt = Number.NEGATIVE_INFINITY

  /** @param most how many may be open */
  constructor(most = MOST_CONNECTIONS) {
    this.#most = most
  }

  /** How many there are: each is counted as one caller. */
  get open(): number {
    return this.#connections.size
  }

  /** To be called for each connection, after Node's own listener, which gives it its parser. */
  readonly connected = (socket: Socket): void => {
    if (this.open >= this.#most && !this.#makeRoom()) {
      socket.destroy()
      return
    }
    const parser: unknown = memberOf(socket, 'parser')
    const connection: Connection = { unanswered: undefined, idleSince: performance.now() }
    this.#connections.set(socket, connection)
    socket.once('close', () => this.#connections.delete(socket))
    if (isParser(parser)) limitUnanswered(socket, parser, connection)
  }

  /** @returns whether there is room */
  #makeRoom(): boolean {
    const time = performance.now()
    if (time - this.#roomMadeAt < ROOM_EVERY_MS) return false
    this.#roomMadeAt = time
    for (const [socket, { unanswered, idleSince }] of this.#connections) {
      if (unanswered !== 0 || time - idleSince < IDLE_MS) continue
      this.#connections.delete(socket)
      socket.destroy()
    }
    return this.open < this.#most
  }

  /** An `onResponse` hook: a request of the connection was answered. */
  readonly answered: onResponseHookHandler = ({ raw: { socket } }, _reply, done) => {
    const connection = this.#connections.get(socket)
    if (connection?.unanswered !== undefined) {
      connection.unanswered -= 1
      connection.idleSince = performance.now()
    }
    done()
  }

  /**
   * To be called when nothing was received or sent on a connection for its timeout. Cuts it off if its client has to act,
   * by reading an answer or sending a request, and leaves it if the client waits for an answer.
   */
  readonly stalled = (socket: Socket): void => {
    const isUnread = socket.writableLength > 0
    const isIdle = !this.#connections.get(socket)?.unanswered
    if (isUnread || isIdle) socket.destroy()
  }
}

function limitUnanswered(socket: Socket, parser: Parser, connection: Connection): void {
  const take = parser.onIncoming
  connection.unanswered = 0
  let isLast = false
  parser.onIncoming = (request, keepAlive) => {
    if (isLast) {
      socket.pause()
      return NOT_HTTP
    }
    const unanswered = (connection.unanswered ?? 0) + 1
    connection.unanswered = unanswered
    isLast = unanswered >= MOST_UNANSWERED
    return take(request, keepAlive && !isLast)
  }
}

function isParser(value: unknown): value is Parser {
  return typeof memberOf(value, 'onIncoming') === 'function'
}
