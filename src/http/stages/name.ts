import type { onRequestHookHandler } from 'fastify'

/** Sets X-Request-Id to the identifier in the log, and forbids media type sniffing. */
export const name: onRequestHookHandler = (request, reply, done) => {
  reply.header('X-Request-Id', request.id)
  reply.header('X-Content-Type-Options', 'nosniff')
  done()
}
