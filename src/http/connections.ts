/**
 * What a connection may hold up, whoever is behind it.
 *
 * Requests may arrive before those ahead of them are answered. Node takes all that the system has of a
 * connection, 64 KiB and more in one turn of the event loop, which is thousands of short requests: fifty clients that sent
 * nothing else, without a key, kept everybody waiting for a quarter of a minute. So a connection ends with the answer to
 * the last of a few, and what stands behind it is not looked at: its client sees that it was not answered, and sends it
 * again on another (RFC 9112, 9.3.2).
 *
 * An answer may never be read. What takes none of it for a while is cut off: with what it holds, it would stay for ever.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { onResponseHookHandler } from 'fastify'
import { memberOf } from '../base/unknown.ts'

const MOST_UNANSWERED = 16

/** What Node calls with each request of a connection, for which it has no public interface. */
interface Parser {
  onIncoming(request: IncomingMessage, keepAlive: boolean): number
}

/** The result of `onIncoming` that ends parsing: what follows is none of HTTP. */
const NOTHING_FOLLOWS = 2

export class Connections {
  readonly #requests = new WeakMap<Socket, { unanswered: number }>()

  /** To be called for each connection, once Node has begun to read it. */
  readonly connected = (socket: Socket): void => {
    const parser: unknown = memberOf(socket, 'parser')
    // A version of Node that keeps it elsewhere takes what arrives.
    if (!isParser(parser)) return
    const take = parser.onIncoming
    const requests = { unanswered: 0 }
    this.#requests.set(socket, requests)
    let isLast = false
    parser.onIncoming = (request, keepAlive) => {
      if (isLast) {
        socket.pause()
        return NOTHING_FOLLOWS
      }
      requests.unanswered += 1
      isLast = requests.unanswered >= MOST_UNANSWERED
      return take(request, keepAlive && !isLast)
    }
  }

  readonly answered: onResponseHookHandler = ({ raw: { socket } }, _reply, done) => {
    const requests = this.#requests.get(socket)
    if (requests) requests.unanswered -= 1
    done()
  }

  /** To be called when nothing has moved on a connection for as long as it may, which is left where it is the service's turn. */
  readonly stalled = (socket: Socket): void => {
    const isUnread = socket.writableLength > 0
    const isIdle = !this.#requests.get(socket)?.unanswered
    if (isUnread || isIdle) socket.destroy()
  }
}

function isParser(value: unknown): value is Parser {
  return typeof memberOf(value, 'onIncoming') === 'function'
}
