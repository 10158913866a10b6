/** The service as a process: opens the database, listens, makes the first account, and stops when it is told to. */
import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { buildApp, permissions } from './app.ts'
import type { ServeConfig } from './config.ts'
import { service } from './context.ts'
import { Failure } from './errors.ts'
import { createKey } from './keys/rules.ts'
import { askPrimary } from './limits/messages.ts'
import { openLog } from './log.ts'
import { type Database, openDatabase } from './storage/database.ts'
import { generatePassword } from './users/password.ts'
import { createUser } from './users/rules.ts'
import { anyUser } from './users/store.ts'

const SHUTDOWN_MS = 10_000
const SILENCE_MS = 1000

/** What a fresh database was given; shown once. */
export interface FirstAccess {
  readonly login: string
  readonly password: string
  readonly publicKey: string
  readonly token: string
}

/**
 * Listens until SIGTERM or SIGINT: then takes no new connections, finishes what is under way, and returns.
 * @param announce is told the URL once requests are answered, and the first access when one was made
 */
export async function serve(
  config: ServeConfig,
  announce: (url: string, access?: FirstAccess) => void,
): Promise<void> {
  const log = await openLog(config.logLevel)
  const database = await openDatabase(config.database, {
    poolSize: config.databasePool,
    readUrl: config.readDatabase,
  })
  try {
    const app = await buildApp(database, {
      bodyLimitBytes: config.bodyLimit,
      corsOrigins: config.corsOrigins,
      rateLimit: config.rateLimit,
      grantor: cluster.isWorker ? askPrimary() : undefined,
      trustProxy: config.trustProxy,
      logger: log,
    })
    const metrics = await openMetrics(app, database, config)
    const stop = stopSignal()
    // Listening comes first: when the port is taken, no password was made that nobody has seen.
    const url = await app.listen({
      host: config.host,
      port: config.port,
      listenTextResolver: () => 'listening',
    })
    announce(url, await fillFresh(database, config))
    log.info({ signal: await stop }, 'stopping')
    await close(app, log)
    metrics?.close()
  } finally {
    await database.close()
    log.flush()
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

/** @returns the first access, when the database was without accounts and was given one */
export async function fillFresh(database: Database, config: ServeConfig): Promise<FirstAccess | undefined> {
  const fresh = !(await anyUser(database.reader))
  const access = fresh && config.bootstrap ? await bootstrapOnce(database) : undefined
  if (config.demo) {
    const { fillWithDemo } = await import('./demo.ts')
    await fillWithDemo(database)
  }
  return access
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

async function bootstrap(database: Database): Promise<FirstAccess> {
  const login = 'admin'
  const password = generatePassword()
  const user = await createUser(
    database,
    {
      login,
      email: 'admin@example.com',
      role: 'administrator',
      password,
    },
    service,
  )
  const args = { name: 'First key', permissions: [...permissions] }
  const { key, token } = await createKey(database, user.id, args, permissions, service)
  return { login, password, publicKey: key.public_key, token }
}

export function stopSignal(): Promise<string> {
  return new Promise(resolve => {
    // A second signal, such as the one that a launcher passes on, must not break off what the first has begun.
    for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => resolve(signal))
  })
}

/**
 * Ends without losing a request. A connection that is open may have one on its way, so it is not cut: it ends with
 * the next answer, or when it was silent for a while.
 */
async function close(app: FastifyInstance, log: Logger): Promise<void> {
  const late = setTimeout(() => {
    log.warn('requests were still under way after 10 seconds and were cut off')
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
