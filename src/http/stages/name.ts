import type { onRequestHookHandler } from 'fastify'

/** Names the request to its client as it is named in the log; and what is sent is never anything else than it says it is. */
export const name: onRequestHookHandler = (request, reply, done) => {
  reply.header('X-Request-Id', request.id)
  reply.header('X-Content-Type-Options', 'nosniff')
  done()
}
