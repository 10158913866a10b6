/**
 * Bounds what one connection may hold up, with a key or without.
 *
 * A client may send requests before earlier ones are answered. Node hands over all that it reads of a connection in one
 * turn of the event loop, 64 KiB or more, which is thousands of short requests: fifty clients that sent nothing else kept
 * everybody waiting for a quarter of a minute. So a connection may have a few unanswered requests. The answer to the last
 * of them ends it, and nothing after that is read: the client sees that it was not answered, and sends it again on a new
 * connection (RFC 9112, 9.3.2).
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

/** Node's HTTP parser of a connection, which has no public interface. */
interface Parser {
  /** Called with each request; the result says how to parse what follows its headers. */
  onIncoming(request: IncomingMessage, keepAlive: boolean): number
}

/** A result of `onIncoming`: what follows is not HTTP, as after an upgrade. */
const NOT_HTTP = 2

export class Connections {
  readonly #requests = new WeakMap<Socket, { unanswered: number }>()

  /** To be called for each connection, after Node's own listener, which gives it its parser. */
  readonly connected = (socket: Socket): void => {
    const parser: unknown = memberOf(socket, 'parser')
    // In a version of Node that keeps its parser elsewhere, the limit does not apply.
    if (!isParser(parser)) return
    const take = parser.onIncoming
    const requests = { unanswered: 0 }
    this.#requests.set(socket, requests)
    let isLast = false
    parser.onIncoming = (request, keepAlive) => {
      if (isLast) {
        socket.pause()
        return NOT_HTTP
      }
      requests.unanswered += 1
      isLast = requests.unanswered >= MOST_UNANSWERED
      return take(request, keepAlive && !isLast)
    }
  }

  /** An `onResponse` hook: a request of the connection was answered. */
  readonly answered: onResponseHookHandler = ({ raw: { socket } }, _reply, done) => {
    const requests = this.#requests.get(socket)
    if (requests) requests.unanswered -= 1
    done()
  }

  /**
   * To be called when nothing was received or sent on a connection for its timeout. Cuts it off if its client has to act,
   * by reading an answer or sending a request, and leaves it if the client waits for an answer.
   */
  readonly stalled = (socket: Socket): void => {
    const isUnread = socket.writableLength > 0
    const isIdle = !this.#requests.get(socket)?.unanswered
    if (isUnread || isIdle) socket.destroy()
  }
}

function isParser(value: unknown): value is Parser {
  return typeof memberOf(value, 'onIncoming') === 'function'
}
