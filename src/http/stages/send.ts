import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { CONFIRMED_FOR_MS } from '../allowed.ts'
import type { Answer } from '../endpoint.ts'
import { isKnown } from '../preconditions.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

interface Sending {
  /** Called from time to time while pieces are sent; throws to end the answer. */
  readonly refuse?: (request: FastifyRequest) => Promise<void>
}

/** Sends the answer, whole or in pieces, or 304 to a caller that has it. */
export function send(
  answerOf: (request: FastifyRequest, reply: FastifyReply) => Promise<Answer>,
  sending: Sending = {},
): RouteHandlerMethod {
  return unwatched(async (request, reply) =>
    sendAnswer(request, reply, await answerOf(request, reply), sending),
  )
}

/**
 * A handler that returns nothing: where one returns the reply, as an asynchronous one has to, Fastify watches the response
 * for its end, which takes 1 us.
 * @param answer sends the answer; what it throws is sent instead
 */
export function unwatched(
  answer: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): RouteHandlerMethod {
  return (request, reply) => {
    answer(request, reply).catch(error => {
      reply.send(error)
    })
  }
}

function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, cookies, body }: Answer,
  sending: Sending,
): void {
  if (headers) reply.headers(headers)
  if (cookies) reply.header('Set-Cookie', cookies)
  if (headers?.ETag !== undefined && hasIt(request, headers.ETag)) {
    reply.code(304).send()
    return
  }
  reply.code(status)
  if (headers?.['Content-Type'] === undefined) reply.type(JSON_TYPE)
  // The body of a HEAD response is not sent, so its rows are not read.
  if (typeof body === 'string') reply.send(body)
  else if (request.method === 'HEAD') reply.send(Readable.from([]))
  else reply.send(piecesOf(request, body, sending))
}

function piecesOf(request: FastifyRequest, body: AsyncIterable<string>, sending: Sending): Readable {
  request.reading?.beginStream()
  const pieces = Readable.from(whileAllowed(request, body, sending), { highWaterMark: 1 })
  // In HTTP/1.0 only the end of the connection ends an answer, so a broken answer would look complete.
  pieces.once('error', () => request.raw.socket.resetAndDestroy())
  return pieces
}

/** Ends the answer when the key or session has ended, however slowly the answer is read. */
async function* whileAllowed(
  request: FastifyRequest,
  pieces: AsyncIterable<string>,
  sending: Sending,
): AsyncGenerator<string> {
  let askedAt = performance.now()
  for await (const piece of pieces) {
    if (performance.now() - askedAt > CONFIRMED_FOR_MS) {
      await sending.refuse?.(request)
      askedAt = performance.now()
    }
    yield piece
    request.reading?.renew()
  }
}

/** Whether the caller has the current version of the record. */
function hasIt({ method, headers }: FastifyRequest, tag: string): boolean {
  const header = headers['if-none-match']
  return header !== undefined && (method === 'GET' || method === 'HEAD') && isKnown(header, tag)
}
