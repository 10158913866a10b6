/**
 * The administration area under /admin: the web application, and its API under /admin/api. Kinds of record are the very
 * resources that API keys reach; the others are only for people who are logged in.
 *
 * Reads by people run in the background, so that a report over millions of payouts delays no program.
 * See docs/decisions/administration-area.md.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { keys } from '../accounts/keys/routes.ts'
import type { KeyRing } from '../accounts/keys/rules.ts'
import { recoveryEndpoints } from '../accounts/recovery/routes.ts'
import type { Recovery } from '../accounts/recovery/rules.ts'
import { resetSecondFactor, secondFactor } from '../accounts/second-factor/routes.ts'
import { authenticateSession } from '../accounts/sessions/authenticate.ts'
import { sessions } from '../accounts/sessions/routes.ts'
import { refuseEnded } from '../accounts/sessions/rules.ts'
import { grants, type Role, roles } from '../accounts/users/roles.ts'
import { users } from '../accounts/users/routes.ts'
import type { Context } from '../events/write.ts'
import { api } from '../http/api.ts'
import type { Load } from '../http/limits/load.ts'
import { audit } from '../operations/audit/routes.ts'
import { exportsOf } from '../operations/exports/routes.ts'
import { erasures } from '../operations/privacy/routes.ts'
import type { Feature } from '../records/feature.ts'
import { settings } from '../settings/routes.ts'
import { reports } from './reports/routes.ts'
import { system } from './system/routes.ts'
import { tracking } from './tracking/routes.ts'
import { contentPolicy, web } from './web.ts'

const BASE = '/admin'
/** The path that people open. */
export const HOME = `${BASE}/`

export interface AreaOptions {
  readonly context: Context
  readonly load: Load
  readonly features: readonly Feature[]
  /** This process's cache of keys. */
  readonly ring: KeyRing
  /** Every permission that an API key can have. */
  readonly permissions: readonly string[]
  /** Password reset by e-mail; undefined if no e-mail is configured. */
  readonly recovery: Recovery | undefined
}

const SECURITY_HEADERS = {
  'Content-Security-Policy': contentPolicy(),
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/** A Fastify plugin. */
export async function area(
  app: FastifyInstance,
  { context, load, features, ring, permissions, recovery }: AreaOptions,
): Promise<void> {
  const patient = { ...context, database: context.database.background() }
  const resources = [
    ...features.flatMap(({ resource, inArea }) => (inArea ? [resource, inArea] : [resource])),
    users(ring, [resetSecondFactor]),
    keys(permissions, ring),
    settings,
    reports,
    audit(context.database.schema),
    exportsOf(features),
    erasures(ring),
    tracking,
    system(),
    sessions(permissions, [...secondFactor, ...(recovery ? recoveryEndpoints(recovery) : [])]),
  ]
  const everything = resources.flatMap(({ endpoints }) => endpoints.map(endpoint => endpoint.permission))
  const granted = new Map<Role, ReadonlySet<string>>(
    roles.map(role => [role, new Set(everything.filter(permission => grants(role, permission)))]),
  )

  const doors = {
    granted: (role: Role) => granted.get(role) ?? new Set<string>(),
    recovers: recovery !== undefined,
  }
  const confirm = (request: FastifyRequest) => authenticateSession(patient, doors, request)

  await app.register(
    async scope => {
      scope.addHook('onRequest', async (_request, reply) => {
        reply.headers(SECURITY_HEADERS)
      })
      await scope.register(web)
      await scope.register(
        async inner => {
          inner.addHook('onRequest', async (_request, reply) => {
            reply.header('Cache-Control', 'no-store')
          })
          await api(inner, {
            context: patient,
            load,
            authenticate: confirm,
            confirm,
            guards: { before: refuseEnded },
            resources,
            base: `${BASE}/api`,
            corsOrigins: new Set(),
          })
        },
        { prefix: '/api' },
      )
    },
    { prefix: BASE },
  )
}
