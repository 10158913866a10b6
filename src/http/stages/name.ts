import type { onRequestHookHandler } from 'fastify'

/** Names the request to its client as it is named in the log. */
export const name: onRequestHookHandler = (request, reply, done) => {
  reply.header('X-Request-Id', request.id)
  done()
}
