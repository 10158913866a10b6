/**
 * Public endpoints, without a key: addresses that visitors follow and that their browsers request. They have rate limits
 * and load shedding of their own, and none of the stages of the interface.
 * See docs/decisions/visitors.md.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { memberOf } from '../base/unknown.ts'
import { addressOf } from './address.ts'
import { queryOf } from './call.ts'
import { VisitorQueue } from './limits/visitor-queue.ts'
import { unwatched } from './stages/send.ts'
import { refuse } from './stages/shed.ts'

/** A request to a public endpoint. */
export interface OpenRequest {
  readonly method: string
  readonly headers: FastifyRequest['headers']
  /** The client's network address; taken from a trusted proxy's header where there is one. */
  readonly address: string
  /** Value of the route's `:name` parameter. */
  readonly name: string
  /** The query string as it was sent, without '?'. */
  readonly query: string
  /** '' if there is none. */
  readonly body: string
  /** Whether the client uses TLS. Each look walks through the proxies, and few endpoints need it. */
  isSecure(): boolean
}

export interface OpenAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export interface OpenRoute {
  /** GET also serves HEAD. */
  readonly method: 'GET' | 'POST'
  /** `:name` is a parameter. */
  readonly path: string
  answer(request: OpenRequest): OpenAnswer | Promise<OpenAnswer>
}

const BODY_BYTES = 8192

/** A Fastify plugin. */
export async function open(
  scope: FastifyInstance,
  { routes }: { routes: readonly OpenRoute[] },
): Promise<void> {
  const queue = new VisitorQueue()
  scope.addHook('onRequest', (_request, reply, done) => {
    if (!queue.add(done)) refuse(reply)
  })
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  for (const route of routes) {
    scope.route({
      method: route.method,
      url: route.path,
      bodyLimit: BODY_BYTES,
      handler: unwatched(async (request, reply) => send(reply, await route.answer(openRequestOf(request)))),
    })
  }
}

/**
 * Without a getter: V8 makes a hidden class of its own for each object that gets one as a literal, and that keeps the request
 * in memory until all memory is looked through.
 */
function openRequestOf(request: FastifyRequest): OpenRequest {
  return {
    method: request.method,
    headers: request.headers,
    address: addressOf(request),
    name: String(memberOf(request.params, 'name') ?? ''),
    query: queryOf(request),
    body: typeof request.body === 'string' ? request.body : '',
    isSecure: () => request.protocol === 'https',
  }
}

function send(reply: FastifyReply, { status, headers, body }: OpenAnswer): void {
  reply.code(status).headers(headers).send(body)
}
