/** Authenticates requests of the administration area: by session, never by API key. */
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../base/actor.ts'
import { Failure } from '../../base/errors.ts'
import type { Context } from '../../events/write.ts'
import { readCookie, sessionCookie } from './cookie.ts'
import * as rules from './rules.ts'

/** Before log-in: may log in or reset a password, nothing else. */
const visitor: Actor = {
  kind: 'visitor',
  userId: 0,
  permissions: new Set(['session.create']),
  name: 'visitor',
}

interface Doors {
  /** Permissions of each role. */
  readonly granted: rules.Granted
  /** Whether password reset by e-mail is available. */
  readonly recovers: boolean
}

/** Paths that need no session. */
const OPEN = ['/session', '/forgotten-password', '/new-password']

/**
 * @throws Failure cross_site, session_required
 */
export async function authenticateSession(
  context: Context,
  { granted, recovers }: Doors,
  request: FastifyRequest,
): Promise<Actor> {
  refuseOtherSites(request)
  const token = readCookie(sessionCookie, request.headers.cookie)
  const actor = token && (await rules.resumeSession(context.database, token, granted))
  if (actor) return actor
  const { method, routeOptions } = request
  if (method === 'POST' && OPEN.some(path => routeOptions.url?.endsWith(path))) return visitor
  const firstVisit = !(await rules.everLoggedIn(context))
  throw new Failure('session_required', {
    data: { ...(firstVisit && { first_visit: true }), ...(recovers && { recovers: true }) },
  })
}

/**
 * CSRF protection: another site can make a browser send a form here, but cannot add this header to it; and browsers state
 * the origin of a request.
 */
function refuseOtherSites(request: FastifyRequest): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const { origin, 'sec-fetch-site': site, 'x-admin-request': ours } = request.headers
  if (ours !== '1') {
    throw new Failure('cross_site', {
      message: 'Send the header X-Admin-Request: 1 with what changes anything.',
    })
  }
  if (site !== undefined && site !== 'same-origin') throw new Failure('cross_site')
  if (origin !== undefined && hostOf(origin) !== request.host) {
    throw new Failure('cross_site', {
      message: `The request comes from ${origin.slice(0, 200)}, and this is ${request.host}. A proxy in between has to pass the Host header on.`,
    })
  }
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
