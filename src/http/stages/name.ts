import type { onRequestHookHandler } from 'fastify'

/** Sets X-Request-Id to the name under which the request is logged, and forbids browsers to guess media types. */
export const name: onRequestHookHandler = (request, reply, done) => {
  reply.header('X-Request-Id', request.id)
  reply.header('X-Content-Type-Options', 'nosniff')
  done()
}
