import type { FastifyReply, onRequestHookHandler } from 'fastify'
import { answerHeaders } from '../headers.ts'

const ALLOWED_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match'
const EXPOSED_HEADERS = Object.keys(answerHeaders).join(', ')
const PREFLIGHT_KEPT_SECONDS = 600

const READING = ['GET', 'HEAD', 'OPTIONS']
const EVERYTHING = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * CORS: lets pages of the configured origins use the interface, and with * lets pages of any origin read. No browser
 * credentials are involved: the key is in a header. Preflights are answered here (204), since they carry no key.
 */
export function origin(origins: ReadonlySet<string>): onRequestHookHandler {
  /** @returns the methods allowed for pages of this origin; undefined means none */
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
