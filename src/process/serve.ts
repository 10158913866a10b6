/** Life cycle of the service process: opens the database, listens, creates the first account, and stops on a signal. */
import cluster from 'node:cluster'
import type { Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { createKey } from '../accounts/keys/rules.ts'
import { generatePassword } from '../accounts/users/password.ts'
import { createUser } from '../accounts/users/rules.ts'
import { anyUser, firstAdministrator } from '../accounts/users/store.ts'
import { buildApp, features, permissions, schema } from '../app.ts'
import { service } from '../base/actor.ts'
import { Failure } from '../base/errors.ts'
import { Anchor } from '../operations/audit/anchor.ts'
import { refuseLost } from '../programme/details/rules.ts'
import { onBehalfOf } from '../settings/rules.ts'
import { type Database, DatabaseUnavailable, DatabaseUnusable, within } from '../storage/database.ts'
import { untilOutdated } from '../storage/migrations.ts'
import { openDatabase } from '../storage/open.ts'
import { prepareSearch } from '../storage/search-index.ts'
import { makeSecretKey, openKeyWarning } from '../storage/secret-keys.ts'
import type { ServeConfig } from './config.ts'
import { listensOn } from './listen.ts'
import { openLog } from './log.ts'
import { askPrimary } from './messages.ts'
import { ListeningSockets } from './sockets.ts'

/** Requests that take longer are cut off; the process ends within two more seconds. */
const SHUTDOWN_MS = 8_000
const IDLE_CLOSED_EVERY_MS = 100
/** How long connections without requests stay open, since a request may be on its way. */
const SILENCE_MS = 1000

/** First account and key of a new database; shown once. */
export interface FirstAccess {
  readonly login: string
  readonly password: string
  readonly publicKey: string
  readonly token: string
}

export type Announce = (url: string, access?: FirstAccess) => void

/**
 * Listens until SIGTERM or SIGINT: then accepts no new connections, finishes the requests in progress, and returns.
 * @param announce called with the URL once requests are answered, and with the first access if one was created
 */
export async function serve(config: ServeConfig, announce: Announce): Promise<void> {
  const { log, closeLog } = await openLog(config.logLevel, config.workers !== 1)
  const cutOff = new AbortController()
  const database = await openDatabase(config.database, schema, {
    poolSize: config.databasePool,
    readUrl: config.readDatabase,
    onReplica: reason =>
      reason === undefined
        ? log.info('lists and records are read from the replica')
        : log.warn({ reason }, 'the replica is not used: everything is read from the primary'),
    secretKeyFile: config.secretKeyFile,
    isNaming: config.preparedStatements === 'auto',
    statementMs: config.readSeconds * 1000,
    cutOff: cutOff.signal,
  })
  const { auditAnchor } = config
  // With workers, the primary delivers what they seal.
  const anchor =
    auditAnchor === undefined || cluster.isWorker ? undefined : new Anchor(database, auditAnchor, log)
  try {
    await refuseLost(database.reader)
    makeSecretKey()
    for (const warning of [openKeyWarning(), await prepareSearch(database)]) {
      if (warning !== undefined) log.warn(warning)
    }
    await run(database, config, log, { announce, cutOff })
  } finally {
    await anchor?.close()
    await database.close()
    await closeLog()
  }
}

async function run(
  database: Database,
  config: ServeConfig,
  log: Logger,
  { announce, cutOff }: { announce: Announce; cutOff: AbortController },
): Promise<void> {
  const { host, port } = config
  const app = await buildApp(database, {
    bodyLimitBytes: config.bodyLimit,
    corsOrigins: config.corsOrigins,
    rateLimit: config.rateLimit,
    readSeconds: config.readSeconds,
    grantor: cluster.isWorker ? askPrimary() : undefined,
    trustProxy: config.trustProxy,
    mail: config.mail,
    cutOff: cutOff.signal,
    logger: log,
  })
  const sockets = new ListeningSockets(app)
  let metrics: Server | undefined
  const watching = new AbortController()
  try {
    metrics = await openMetrics(app, database, config, log)
    // Listening comes first: if the port is taken, no password has been created that nobody has seen.
    const url = await listensOn(sockets.open(host, port), host, port)
    // While there is nothing to finish, a signal ends the process at once, including SIGHUP, which a terminal sends when
    // it is closed; for a worker, the primary handles it.
    const stop = stopSignal(cluster.isWorker ? [] : ['SIGHUP'])
    await welcome(database, config, access => announce(url, access))
    const outdated = untilOutdated(database, watching.signal)
    const cause = await Promise.race([stop, outdated, ...(database.failed ? [database.failed] : [])])
    if (cause instanceof DatabaseUnavailable) {
      log.fatal({ err: cause }, 'stopping, because only a new start can tell what was changed')
      throw cause
    }
    if (cause instanceof DatabaseUnusable) {
      log.fatal({ err: cause }, 'stopping, because another node has migrated the database')
      throw cause
    }
    log.info({ signal: cause }, 'stopping')
  } finally {
    watching.abort()
    metrics?.close()
    await close(app, sockets, log, cutOff)
  }
}

/** Loads the metrics module only if configured. @returns the server, for a process without a primary */
async function openMetrics(
  app: FastifyInstance,
  database: Database,
  { metricsPort, metricsHost }: ServeConfig,
  log: Logger,
): Promise<Server | undefined> {
  if (metricsPort === undefined) return undefined
  const { measure, reportToPrimary, serveMetrics } = await import('./metrics.ts')
  measure(app, database)
  if (!cluster.isWorker) return serveMetrics(metricsHost, metricsPort, { all: false, log })
  reportToPrimary()
  return undefined
}

/**
 * Creates the first access of a database without an administrator, such as a new one or one that `demo` has filled, and
 * fills it with demo data if configured.
 * @param announce called even if the demo fails: the password is shown only there
 */
export async function welcome(
  database: Database,
  config: ServeConfig,
  announce: (access?: FirstAccess) => void,
): Promise<void> {
  const isClosed = config.bootstrap && (await firstAdministrator(database.reader)) === undefined
  const access = isClosed ? await bootstrapOnce(database) : undefined
  try {
    if (config.demo) await fillDemo(database)
  } finally {
    announce(access)
  }
}

async function fillDemo(database: Database): Promise<void> {
  const { fillWithDemo } = await import('../operations/demo/demo.ts')
  await fillWithDemo(database, features)
}

/** If several nodes start on one new database, the first one creates the account; an account of a person may have its name. */
async function bootstrapOnce(database: Database): Promise<FirstAccess | undefined> {
  try {
    return await bootstrap(database)
  } catch (error) {
    if (error instanceof Failure && (await anyUser(database.reader))) return undefined
    throw error
  }
}

/**
 * In one transaction: if creating the key failed, nobody would have seen the account's password. Hashing happens
 * inside it, which blocks nobody, because a database without accounts has no callers.
 */
async function bootstrap(database: Database): Promise<FirstAccess> {
  const login = 'admin'
  const password = generatePassword()
  const { key, token } = await database.transaction(async tx => {
    const context = onBehalfOf(service, within(database, tx))
    const account = { login, email: 'admin@example.com', role: 'administrator', password } as const
    const user = await createUser(context, account)
    const args = { name: 'First key', permissions: [...permissions], user_id: user.id }
    return createKey(context, args, permissions)
  })
  return { login, password, publicKey: key.public_key, token }
}

/** @param others signals to handle beside SIGTERM and SIGINT */
export function stopSignal(others: readonly NodeJS.Signals[] = []): Promise<string> {
  return new Promise(resolve => {
    // A second signal, such as one that a launcher forwards, must not interrupt the shutdown.
    for (const signal of ['SIGTERM', 'SIGINT', ...others]) process.on(signal, () => resolve(signal))
  })
}

/**
 * Graceful shutdown. A request may be on its way on an open connection, so connections are not cut: each ends with
 * its next answer, or after a second of silence.
 * @param cutOff aborted if requests are still in progress after `SHUTDOWN_MS`
 */
async function close(
  app: FastifyInstance,
  sockets: ListeningSockets,
  log: Logger,
  cutOff: AbortController,
): Promise<void> {
  if (!app.server.listening) return app.close()
  const late = setTimeout(() => {
    log.warn('what was still under way after 8 seconds was cut off')
    app.server.closeAllConnections()
    cutOff.abort()
  }, SHUTDOWN_MS)
  app.server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false
  })
  const closing = sockets.close()
  await Promise.race([closing, delay(SILENCE_MS)])
  // The answers to requests that began before do not end their connections.
  const reaping = setInterval(() => app.server.closeIdleConnections(), IDLE_CLOSED_EVERY_MS)
  await Promise.all([app.close(), closing])
  clearTimeout(late)
  clearInterval(reaping)
}
