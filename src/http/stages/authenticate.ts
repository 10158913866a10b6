import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import type { Actor } from '../../base/actor.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the request is authenticated. */
    actor: Actor | null
  }
}

export type Authenticate = (request: FastifyRequest, reply: FastifyReply) => Promise<Actor>

/** Authenticates the request, before anything else is read or answered: 401, 403, 429. */
export function authenticate(find: Authenticate): onRequestAsyncHookHandler {
  return async (request, reply) => {
    request.actor = await find(request, reply)
  }
}
