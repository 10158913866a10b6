import type { FastifyReply, onRequestHookHandler } from 'fastify'

const ALLOWED_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match'
const EXPOSED_HEADERS =
  'Link, Location, ETag, X-Total-Count, X-Request-Id, X-Ignored-Arguments, Retry-After, Idempotent-Replayed, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Policy'
const PREFLIGHT_KEPT_SECONDS = 600

/**
 * Lets pages of the given origins read answers. No credentials of the browser are involved: a key is sent in a header.
 * A browser's preflight is answered here (204), because it can carry no key.
 */
export function origin(origins: ReadonlySet<string>): onRequestHookHandler {
  return ({ method, headers }, reply, done) => {
    if (origins.size === 0) return done()
    reply.header('Vary', 'Origin')
    const { origin: from } = headers
    if (from === undefined || !origins.has(from)) return done()
    reply.header('Access-Control-Allow-Origin', from)
    const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
    if (isPreflight) return answerPreflight(reply)
    reply.header('Access-Control-Expose-Headers', EXPOSED_HEADERS)
    done()
  }
}

function answerPreflight(reply: FastifyReply): void {
  reply
    .header('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS')
    .header('Access-Control-Allow-Headers', ALLOWED_HEADERS)
    .header('Access-Control-Max-Age', PREFLIGHT_KEPT_SECONDS)
    .code(204)
    .send()
}
