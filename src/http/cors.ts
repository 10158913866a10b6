import type { FastifyReply, FastifyRequest } from 'fastify'

const ALLOWED_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match'
const EXPOSED_HEADERS =
  'Link, Location, ETag, X-Total-Count, X-Request-Id, X-Ignored-Arguments, Retry-After, Idempotent-Replayed, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Policy'
const PREFLIGHT_KEPT_SECONDS = 600

/**
 * Lets pages of the given origins read answers. No credentials of the browser are involved: a key is sent in a header.
 * @returns true when the request was a browser's preflight, which is answered here because it can carry no key
 */
export function cors(origins: ReadonlySet<string>, request: FastifyRequest, reply: FastifyReply): boolean {
  const { origin } = request.headers
  if (origins.size === 0) return false
  reply.header('Vary', 'Origin')
  if (origin === undefined || !origins.has(origin)) return false
  reply.header('Access-Control-Allow-Origin', origin)
  const method = request.headers['access-control-request-method']
  if (request.method !== 'OPTIONS' || method === undefined) {
    reply.header('Access-Control-Expose-Headers', EXPOSED_HEADERS)
    return false
  }
  reply
    .header('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS')
    .header('Access-Control-Allow-Headers', ALLOWED_HEADERS)
    .header('Access-Control-Max-Age', PREFLIGHT_KEPT_SECONDS)
    .code(204)
    .send()
  return true
}
