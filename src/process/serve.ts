/** The service as a process: opens the database, listens, makes the first account, and stops when it is told to. */
import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { createKey } from '../accounts/keys/rules.ts'
import { generatePassword } from '../accounts/users/password.ts'
import { createUser } from '../accounts/users/rules.ts'
import { anyUser } from '../accounts/users/store.ts'
import { buildApp, features, permissions, schema } from '../app.ts'
import { service } from '../base/actor.ts'
import { Failure } from '../base/errors.ts'
import { openLog } from '../http/log.ts'
import { Anchor } from '../operations/audit/anchor.ts'
import { onBehalfOf } from '../settings/rules.ts'
import { type Database, DatabaseUnavailable, within } from '../storage/database.ts'
import { openDatabase } from '../storage/open.ts'
import { makeSecretKey } from '../storage/secret-keys.ts'
import { mailOf, type ServeConfig } from './config.ts'
import { listensOn } from './listen.ts'
import { askPrimary } from './messages.ts'

/** What is under way then is cut off, so that the process has ended two seconds later. */
const SHUTDOWN_MS = 8_000
const SILENCE_MS = 1000

/** What a fresh database was given; shown once. */
export interface FirstAccess {
  readonly login: string
  readonly password: string
  readonly publicKey: string
  readonly token: string
}

export type Announce = (url: string, access?: FirstAccess) => void

/**
 * Listens until SIGTERM or SIGINT: then takes no new connections, finishes what is under way, and returns.
 * @param announce is told the URL once requests are answered, and the first access when one was made
 */
export async function serve(config: ServeConfig, announce: Announce): Promise<void> {
  const { log, closeLog } = await openLog(config.logLevel, config.workers !== 1)
  const database = await openDatabase(config.database, schema, {
    poolSize: config.databasePool,
    readUrl: config.readDatabase,
    secretKeyFile: config.secretKeyFile,
    isNaming: config.preparedStatements === 'auto',
    statementMs: config.readSeconds * 1000,
  })
  const { auditAnchor } = config
  // Where there are workers, the process that they have in common delivers what they seal.
  const anchor =
    auditAnchor === undefined || cluster.isWorker ? undefined : new Anchor(database, auditAnchor, log)
  try {
    makeSecretKey()
    await run(database, config, log, announce)
  } finally {
    await anchor?.close()
    await database.close()
    await closeLog()
  }
}

async function run(database: Database, config: ServeConfig, log: Logger, announce: Announce): Promise<void> {
  const { host, port } = config
  const app = await buildApp(database, {
    bodyLimitBytes: config.bodyLimit,
    corsOrigins: config.corsOrigins,
    rateLimit: config.rateLimit,
    readSeconds: config.readSeconds,
    grantor: cluster.isWorker ? askPrimary() : undefined,
    trustProxy: config.trustProxy,
    mail: mailOf(config),
    logger: log,
  })
  let metrics: Server | undefined
  try {
    metrics = await openMetrics(app, database, config)
    // Listening comes first: when the port is taken, no password was made that nobody has seen.
    const listening = app.listen({ host, port, listenTextResolver: () => 'listening' })
    const url = await listensOn(listening, host, port)
    // Before there is anything to finish, a signal ends the process at once.
    // SIGHUP too, which a terminal sends when it is closed; that of a worker is for the first process.
    const stop = stopSignal(cluster.isWorker ? [] : ['SIGHUP'])
    await welcome(database, config, access => announce(url, access))
    const ended = await Promise.race([stop, ...(database.failed ? [database.failed] : [])])
    if (ended instanceof DatabaseUnavailable) {
      log.fatal({ err: ended }, 'stopping, because only a new start can tell what was changed')
      throw ended
    }
    log.info({ signal: ended }, 'stopping')
  } finally {
    metrics?.close()
    await close(app, log)
  }
}

/** Loads what it takes only when it is asked for. @returns the server of a process that has no first one to ask it */
async function openMetrics(
  app: FastifyInstance,
  database: Database,
  { metricsPort, metricsHost }: ServeConfig,
): Promise<Server | undefined> {
  if (metricsPort === undefined) return undefined
  const { measure, reportToPrimary, serveMetrics } = await import('./metrics.ts')
  measure(app, database)
  if (!cluster.isWorker) return serveMetrics(metricsHost, metricsPort, false)
  reportToPrimary()
  return undefined
}

/**
 * Makes the first access of a database without accounts, and fills it with demo data where that is asked for.
 * @param announce is called also when the demo fails: the password is shown only there
 */
export async function welcome(
  database: Database,
  config: ServeConfig,
  announce: (access?: FirstAccess) => void,
): Promise<void> {
  const fresh = config.bootstrap && !(await anyUser(database.reader))
  const access = fresh ? await bootstrapOnce(database) : undefined
  try {
    if (config.demo) await fillDemo(database)
  } finally {
    announce(access)
  }
}

async function fillDemo(database: Database): Promise<void> {
  const { fillWithDemo } = await import('../operations/demo.ts')
  await fillWithDemo(database, features)
}

/** Of nodes that start together on one database, the one that comes first makes the account. */
async function bootstrapOnce(database: Database): Promise<FirstAccess | undefined> {
  try {
    return await bootstrap(database)
  } catch (error) {
    if (error instanceof Failure && (await anyUser(database.reader))) return undefined
    throw error
  }
}

/**
 * In one transaction: an account whose key could not be made would be one whose password nobody has seen. Nobody waits
 * for the password's hash, which is made in it, because a database without accounts has no callers.
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

/** @param others signals that end it beside SIGTERM and SIGINT */
export function stopSignal(others: readonly NodeJS.Signals[] = []): Promise<string> {
  return new Promise(resolve => {
    // A second signal, such as the one that a launcher passes on, must not break off what the first has begun.
    for (const signal of ['SIGTERM', 'SIGINT', ...others]) process.on(signal, () => resolve(signal))
  })
}

/**
 * Ends without losing a request. A connection that is open may have one on its way, so it is not cut: it ends with
 * the next answer, or when it was silent for a while.
 */
async function close(app: FastifyInstance, log: Logger): Promise<void> {
  if (!app.server.listening) return app.close()
  const late = setTimeout(() => {
    log.warn('requests were still under way after 8 seconds and were cut off')
    app.server.closeAllConnections()
  }, SHUTDOWN_MS)
  app.server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false
  })
  const ended = once(app.server, 'close')
  // Stops listening; the method of the HTTP server would cut idle connections as well.
  NetServer.prototype.close.call(app.server)
  await Promise.race([ended, delay(SILENCE_MS)])
  await app.close()
  clearTimeout(late)
}
