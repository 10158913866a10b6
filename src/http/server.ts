/** How the HTTP server takes connections and requests: timeouts, limits, proxies, identifiers, and what cannot be parsed. */
import { randomBytes } from 'node:crypto'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { type FastifyHttpOptions, LogController } from 'fastify'
import type { Logger } from 'pino'
import { connectionProblem } from './problems.ts'

/** For a whole request to arrive: at this limit, a body of one MiB needs 35 kB a second. */
const REQUEST_TIMEOUT_MS = 30_000
const HEADERS_TIMEOUT_MS = 10_000
const TIMEOUTS_CHECKED_EVERY_MS = 2_000
const KEEP_ALIVE_TIMEOUT_MS = 65_000
/** Node accepts no longer request head. */
const MAX_URL_LENGTH = 16_384

export interface ServerOptions {
  readonly logger: Logger
  readonly bodyLimitBytes: number
  /** Trusted proxies, whose X-Forwarded headers count: addresses and networks, or the number of hops. */
  readonly trustProxy: readonly string[] | number
}

/** Fastify's options. Parsing of arguments is left to the stages. */
export function serverOptions({
  logger,
  bodyLimitBytes,
  trustProxy,
}: ServerOptions): FastifyHttpOptions<Server> {
  return {
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: logger => logger,
    genReqId: requestIds(),
    bodyLimit: bodyLimitBytes,
    trustProxy: trusted(trustProxy),
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    // While the server closes, requests on open connections are still answered.
    return503OnClosing: false,
    http: {
      requireHostHeader: false,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUTS_CHECKED_EVERY_MS,
    },
    routerOptions: {
      ignoreTrailingSlash: true,
      // Every URL is routed, so that callers are authenticated before anything is answered.
      maxParamLength: MAX_URL_LENGTH,
      // Arguments are read by `http/arguments.ts`, after authentication.
      querystringParser: () => ({}),
    },
    rewriteUrl: request => routable(request.url!),
    clientErrorHandler: refuseConnection,
  }
}

function trusted(
  proxies: ServerOptions['trustProxy'],
): string[] | ((address: string, hop: number) => boolean) {
  return typeof proxies === 'number' ? (_address, hop) => hop < proxies : [...proxies]
}

/** Unique across processes and restarts, and cheap: a random prefix and a counter. */
function requestIds(): () => string {
  const beginning = randomBytes(9).toString('base64url')
  let number = 0
  return () => {
    number++
    return `${beginning}-${number.toString(36)}`
  }
}

/**
 * A URL may have a scheme and host (RFC 9112, 3.2.2). They are cut off as text: a path that a proxy has checked must not
 * become another one here. A path with an invalid escape cannot be routed; with its percent signs escaped it becomes one
 * that does not exist.
 */
function routable(url: string): string {
  if (!url.startsWith('/')) {
    const path = /^[a-z][a-z\d+.-]*:\/\/[^/?#]+(\/.*)$/i.exec(url)?.[1]
    return path === undefined ? '/*' : routable(path)
  }
  if (!url.includes('%')) return url
  const [path, ...query] = url.split('?')
  try {
    decodeURIComponent(path!)
    return url
  } catch {
    return [path!.replaceAll('%', '%25'), ...query].join('?')
  }
}

/** Answers on a connection where no request could be parsed, and closes it. */
function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, headers, body } = connectionProblem(error)
  const lines = [
    `HTTP/1.1 ${status} Refused`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `X-Request-Id: ${randomBytes(9).toString('base64url')}`,
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ]
  socket.end(lines.join('\r\n'))
}
