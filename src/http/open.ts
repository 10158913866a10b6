/**
 * What anybody may ask for without a key: the addresses that visitors follow and their browsers ask. They have a class of their
 * own in the limits and in the shedding of load, and none of the stages of the interface.
 * See docs/decisions/visitors.md.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { memberOf } from '../base/unknown.ts'
import { queryOf } from './call.ts'
import { VisitorQueue } from './limits/visitor-queue.ts'
import { refuse } from './stages/shed.ts'

/** A request as those who answer it see it. */
export interface OpenRequest {
  readonly method: string
  readonly headers: FastifyRequest['headers']
  /** The client's network address; a proxy that is trusted names it. */
  readonly address: string
  /** The part of the path that the route leaves open. */
  readonly name: string
  /** The query string as it was sent, without '?'. */
  readonly query: string
  /** '' when there is none. */
  readonly body: string
  /** Whether the client reached the service by TLS. */
  readonly secure: boolean
}

export interface OpenAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export interface OpenRoute {
  /** GET answers HEAD, too. */
  readonly method: 'GET' | 'POST'
  /** `:name` stands for a part that is left open. */
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
      handler: (request, reply) => {
        const answer = route.answer(openRequestOf(request))
        return answer instanceof Promise ? answer.then(answer => send(reply, answer)) : send(reply, answer)
      },
    })
  }
}

function openRequestOf(request: FastifyRequest): OpenRequest {
  return {
    method: request.method,
    headers: request.headers,
    address: request.ip,
    name: String(memberOf(request.params, 'name') ?? ''),
    query: queryOf(request),
    body: typeof request.body === 'string' ? request.body : '',
    secure: request.protocol === 'https',
  }
}

function send(reply: FastifyReply, { status, headers, body }: OpenAnswer): FastifyReply {
  return reply.code(status).headers(headers).send(body)
}
