/** The registry of everything that the service stores and serves; builds the server from it. */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { authenticate } from './accounts/keys/authenticate.ts'
import { KeyRing, refuseRevoked } from './accounts/keys/rules.ts'
import { keysTable } from './accounts/keys/table.ts'
import { type MailOptions, Post } from './accounts/recovery/post.ts'
import { Recovery, removeOldRecoveries } from './accounts/recovery/rules.ts'
import { recoveriesTable } from './accounts/recovery/table.ts'
import { recoveryCodesTable, secondFactorsTable } from './accounts/second-factor/table.ts'
import { removeOldAttempts } from './accounts/sessions/attempts.ts'
import { removeOldSessions } from './accounts/sessions/rules.ts'
import { attemptsTable, devicesTable, sessionsTable } from './accounts/sessions/table.ts'
import { usersTable } from './accounts/users/table.ts'
import { wordPressUsers } from './accounts/users/wordpress.ts'
import { area, HOME } from './admin/area.ts'
import { service } from './base/actor.ts'
import { isClockDoubtful } from './base/clock-watch.ts'
import { Failure } from './base/errors.ts'
import { networksOf } from './base/network.ts'
import { version } from './base/package.ts'
import { Rounds } from './base/rounds.ts'
import { countingAnew } from './events/counts.ts'
import { Sealer } from './events/seal.ts'
import { chainTable, countedTable, countsTable, entriesTable, sealsTable } from './events/table.ts'
import type { Context, RequestContext } from './events/write.ts'
import { noteAddress } from './http/address.ts'
import { api, SITE_BASE, site } from './http/api.ts'
import { Connections } from './http/connections.ts'
import type { Resource } from './http/endpoint.ts'
import { removeOldAnswers } from './http/idempotency.ts'
import { idempotencyTable } from './http/idempotency-table.ts'
import { Allowances, type Grantor, grantAll } from './http/limits/allowances.ts'
import { Limiter } from './http/limits/limiter.ts'
import { Load } from './http/limits/load.ts'
import { open } from './http/open.ts'
import { faultOf, problemOf } from './http/problems.ts'
import { type ServerOptions, serverOptions } from './http/server.ts'
import { signed } from './http/signed.ts'
import { finish } from './http/stages/finish.ts'
import { forwarded } from './http/stages/forwarded.ts'
import { mediaType } from './http/stages/media-type.ts'
import { name } from './http/stages/name.ts'
import { snapshot } from './http/stages/snapshot.ts'
import { events } from './operations/events/routes.ts'
import { affiliates } from './programme/affiliates/feature.ts'
import { commissionRules } from './programme/commission/feature.ts'
import { conversions } from './programme/conversions/feature.ts'
import { creditRest, type PassedOver } from './programme/conversions/following.ts'
import { coupons } from './programme/coupons/feature.ts'
import { creative } from './programme/creatives/creative.ts'
import { customers } from './programme/customers/feature.ts'
import { paymentDetails } from './programme/details/feature.ts'
import { exchangeRates } from './programme/exchange/feature.ts'
import { groups } from './programme/groups/feature.ts'
import { links } from './programme/links/feature.ts'
import { payouts } from './programme/payouts/feature.ts'
import { draftRejudger } from './programme/referrals/drafts.ts'
import { referrals } from './programme/referrals/feature.ts'
import { endHolds } from './programme/referrals/holds.ts'
import { payoutRuns, runItems } from './programme/runs/feature.ts'
import { proceedAll } from './programme/runs/rules.ts'
import { sources } from './programme/sources/feature.ts'
import { removeOldVisitors } from './programme/tracking/batch.ts'
import { visitorRoutes } from './programme/tracking/routes.ts'
import {
  clickKeysTable,
  scriptPagesTable,
  visitorSaltTable,
  visitorsTable,
} from './programme/tracking/table.ts'
import { Tracking } from './programme/tracking/tracking.ts'
import { visits } from './programme/visits/feature.ts'
import { pruneVisits } from './programme/visits/pruning.ts'
import { type Feature, plain } from './records/feature.ts'
import { contextOf, onBehalfOf } from './settings/rules.ts'
import { rateTypesTable, settingsTable } from './settings/table.ts'
import { type Database, DatabaseUnavailable } from './storage/database.ts'
import { catchUpSearch } from './storage/search-index.ts'
import { Sweeper } from './storage/sweeper.ts'
import type { Schema } from './storage/table.ts'

/** All kinds of record and other features. */
export const features: readonly Feature[] = [
  groups,
  affiliates,
  commissionRules,
  coupons,
  exchangeRates,
  plain(creative),
  customers,
  links,
  visits,
  conversions,
  sources,
  referrals,
  payouts,
  paymentDetails,
  payoutRuns,
  runItems,
]

/** All tables. A table follows those it refers to. */
export const schema: Schema = [
  settingsTable,
  rateTypesTable,
  usersTable,
  ...features.flatMap(({ tables }) => tables),
  clickKeysTable,
  visitorSaltTable,
  visitorsTable,
  scriptPagesTable,
  keysTable,
  sessionsTable,
  devicesTable,
  secondFactorsTable,
  recoveryCodesTable,
  recoveriesTable,
  attemptsTable,
  entriesTable,
  sealsTable,
  chainTable,
  countsTable,
  countedTable,
  idempotencyTable,
]

export const resources: readonly Resource[] = [
  ...features.map(({ resource, signed }) => (signed ? { ...resource, signed } : resource)),
  events(schema),
]

/** Every permission that a key can have. */
export const permissions: readonly string[] = [
  ...new Set(
    [...resources, wordPressUsers].flatMap(resource =>
      resource.endpoints.map(endpoint => endpoint.permission),
    ),
  ),
]

/** The same handlers answer under each path, so that clients of AffiliateWP only need a new host. */
export const basePaths = ['/v1', '/wp-json/affwp/v1'] as const

/** Those that WordPress has in the index of a site. */
const sitePaths = basePaths.filter(base => base.startsWith(SITE_BASE))

/** Endpoints of WordPress itself that client programs of AffiliateWP request with the same key. */
const WORDPRESS_BASE = '/wp-json/wp/v2'

export interface AppOptions extends ServerOptions {
  readonly corsOrigins: readonly string[]
  /** Requests per minute and key; 0 means no limit. */
  readonly rateLimit: number
  /** Read time allowed until the answer, or until its next part. */
  readonly readSeconds: number
  /** Present if this process shares its rate limits with others. */
  readonly grantor?: Grantor | undefined
  /** Aborted when the service ends without waiting any longer. */
  readonly cutOff?: AbortSignal | undefined
  /** Without it no e-mail is sent. */
  readonly mail?: MailOptions | undefined
}

/** Interval at which unfinished steps of payout runs continue. */
const RUNS_EVERY_MS = 1000
/** Searches look one by one at what is not in their index yet. */
const SEARCH_EVERY_MS = 1000
/** Until they are known, lists count their rows. */
const COUNTS_EVERY_MS = 5000
/** Expired holds and drafts that can be decided are handled within a minute. */
const REFERRALS_EVERY_MS = 20_000

/** The server, ready to listen. Closing it leaves the database open. */
export async function buildApp(database: Database, options: AppOptions): Promise<FastifyInstance> {
  const context = contextOf(database)
  const keys = new KeyRing(database)
  const app = Fastify(serverOptions(options))
  const connections = new Connections()
  const load = new Load(options.readSeconds * 1000, connections)
  limitConnections(app, connections, load.stalledMs)
  const limiter = new Limiter(options.rateLimit, options.grantor ?? grantAll)

  for (const property of ['actor', 'args', 'lines', 'reading'] as const) app.decorateRequest(property, null)
  app.decorateReply('shed', false)
  app.addHook('onRequest', forwarded)
  app.addHook('onRequest', mediaType)
  app.addHook('onRequest', name)
  app.addHook('onRequest', snapshot(database))
  app.addHook('onResponse', finish(options.logger))
  app.setErrorHandler((error, request, reply) => {
    const { status, headers, body } = problemOf(error)
    const err = faultOf(error)
    if (err !== undefined) options.logger.error({ id: request.id, err }, 'request failed')
    reply.code(status).headers(headers).send(body)
  })
  // Where nothing takes a body none is read.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  app.setNotFoundHandler(async () => {
    throw new Failure('no_route')
  })

  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async () => {
    await database.ready()
    return { status: 'ok' }
  })
  const confirm = (request: FastifyRequest, isSuspect?: () => boolean) =>
    authenticate(keys, request.headers.authorization, isSuspect)
  const byKey = {
    context,
    load,
    authenticate: (request: FastifyRequest, reply: FastifyReply) =>
      limiter.admit(request, reply, isSuspect => confirm(request, isSuspect)),
    confirm,
    charge: (request: FastifyRequest, reply: FastifyReply, bytes: number) =>
      limiter.charge(request, reply, bytes),
    chargeRead: (request: FastifyRequest, readMs: number) => limiter.chargeRead(request, readMs),
    guards: { after: refuseRevoked },
    corsOrigins: new Set(options.corsOrigins),
  }
  const ofWordPress = { base: WORDPRESS_BASE, resources: [wordPressUsers] }
  await app.register(api, { ...byKey, prefix: WORDPRESS_BASE, ...ofWordPress })
  const apis = [...sitePaths.map(base => ({ base, resources })), ofWordPress]
  await app.register(site, { ...byKey, prefix: SITE_BASE, apis })
  for (const base of basePaths) {
    await app.register(api, { ...byKey, prefix: base, base, resources, version })
    await app.register(signed, { prefix: base, context, load, resources })
  }
  const recovery = recoveryOf(options)
  await app.register(area, { context, load, features, ring: keys, permissions, recovery })
  await serveVisitors(app, database, options)
  workBeside(app, context, { keys, recovery })
  return app
}

/** What a connection may hold up. */
function limitConnections(app: FastifyInstance, connections: Connections, stalledMs: number): void {
  const { server } = app
  // An unknown expectation (Expect header) changes nothing.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connection', noteAddress)
  server.on('connection', connections.connected)
  server.setTimeout(stalledMs, connections.stalled)
  app.addHook('onResponse', connections.answered)
}

/** Password reset by e-mail, if e-mail is configured. */
function recoveryOf({ mail, logger }: AppOptions): Recovery | undefined {
  const failed = (err: unknown) =>
    logger.error({ err }, 'a link to set a new password with could not be sent')
  return mail && new Recovery(new Post(mail), failed)
}

/** Background work, until the server is closed. */
function workBeside(
  app: FastifyInstance,
  context: Context,
  { keys, recovery }: { keys: KeyRing; recovery: Recovery | undefined },
): void {
  const failed = (err: unknown) => {
    // An outage is logged elsewhere, and ends by itself.
    if (!(err instanceof DatabaseUnavailable))
      app.log.error({ err }, 'background work failed; it is tried again')
  }
  const sealer = new Sealer(context.database, failed)
  const sweeps = [
    removeOldAnswers,
    removeOldAttempts,
    removeOldSessions,
    removeOldRecoveries,
    removeOldVisitors,
    pruneVisits,
  ]
  const sweeper = new Sweeper(context.database, sweeps, failed)
  const passedOver: PassedOver = ({ id }, err) =>
    app.log.warn({ conversion: id, err }, 'a purchase of a credited customer cannot be credited')
  const jobs = jobsOf({ ...context, ...service }, { failed, passedOver })
  app.addHook('onClose', async () => {
    await Promise.all(jobs.map(job => job.close()))
    await recovery?.close()
    await keys.close()
    await sweeper.close()
    await sealer.close()
  })
}

/** Background jobs of each process; a job claimed by one process is skipped by the others. */
function jobsOf(
  context: RequestContext,
  { failed, passedOver }: { failed: (error: unknown) => void; passedOver: PassedOver },
): Rounds[] {
  const runs = new Rounds(RUNS_EVERY_MS, () => proceedAll(context, () => runs.closed), failed)
  const rejudge = draftRejudger(context, () => holds.closed)
  const continueReferrals = async () => {
    if (!isClockDoubtful()) await endHolds(context, () => holds.closed)
    await rejudge()
    await creditRest(context, () => holds.closed, passedOver)
  }
  const holds = new Rounds(REFERRALS_EVERY_MS, continueReferrals, failed)
  const search = new Rounds(
    SEARCH_EVERY_MS,
    () => catchUpSearch(context.database, () => search.closed),
    failed,
  )
  const counts = new Rounds(COUNTS_EVERY_MS, countingAnew(context.database), failed)
  return [runs, holds, search, counts]
}

/** Public endpoints, with a rate limit per address as large as that of a key. */
async function serveVisitors(app: FastifyInstance, database: Database, options: AppOptions): Promise<void> {
  const { rateLimit, grantor, logger, cutOff } = options
  const allowances = new Allowances(grantor ?? grantAll)
  const allow = (address: string): boolean | Promise<boolean> => {
    if (rateLimit === 0) return true
    const spending = allowances.spend(`visitor ${networksOf(address)[0]}`, rateLimit)
    return spending instanceof Promise ? spending.then(({ allowed }) => allowed) : spending.allowed
  }
  const reports = {
    failed: (err: unknown) => logger.error({ err }, 'visits could not be written; they are tried again'),
    dropped: (visits: number) =>
      logger.warn({ visits }, 'visits were answered and are not counted: they could not be written in time'),
  }
  const tracking = new Tracking(onBehalfOf(service, database), allow, reports, cutOff)
  await tracking.begin()
  await app.register(open, { routes: visitorRoutes(tracking, HOME) })
  app.addHook('onClose', () => tracking.close())
}
