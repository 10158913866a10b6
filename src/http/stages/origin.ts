import type { FastifyReply, onRequestHookHandler } from 'fastify'

const ALLOWED_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match'
const EXPOSED_HEADERS =
  'Link, Location, ETag, X-Total-Count, X-Request-Id, X-Ignored-Arguments, Retry-After, Idempotent-Replayed, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Policy'
const PREFLIGHT_KEPT_SECONDS = 600

const READING = ['GET', 'HEAD', 'OPTIONS']
const EVERYTHING = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Lets pages of the given origins use the interface, and with * those of any origin read. No credentials of the browser
 * are involved: a key is sent in a header. A browser's preflight is answered here (204), because it can carry no key.
 */
export function origin(origins: ReadonlySet<string>): onRequestHookHandler {
  /** @returns what a page of this origin may do; undefined is nothing */
  const methodsOf = (from: string) => {
    if (origins.has(from)) return EVERYTHING
    return origins.has('*') ? READING : undefined
  }
  return ({ method, headers }, reply, done) => {
    if (origins.size === 0) return done()
    reply.header('Vary', 'Origin')
    const { origin: from } = headers
    const methods = from === undefined ? undefined : methodsOf(from)
    if (!methods?.includes(method)) return done()
    reply.header('Access-Control-Allow-Origin', methods === EVERYTHING ? from : '*')
    const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
    if (isPreflight) return answerPreflight(reply, methods)
    reply.header('Access-Control-Expose-Headers', EXPOSED_HEADERS)
    done()
  }
}

function answerPreflight(reply: FastifyReply, methods: readonly string[]): void {
  reply
    .header('Access-Control-Allow-Methods', methods.join(', '))
    .header('Access-Control-Allow-Headers', ALLOWED_HEADERS)
    .header('Access-Control-Max-Age', PREFLIGHT_KEPT_SECONDS)
    .code(204)
    .send()
}
