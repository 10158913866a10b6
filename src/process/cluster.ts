/**
 * Multi-process mode: workers that answer requests, and a primary process that supervises them.
 *
 * The primary migrates the database and creates the first account. It accepts connections and distributes them
 * (node:cluster), so that a worker can be replaced while the port stays open: SIGHUP replaces the workers one after
 * the other, starting each successor before the old worker ends.
 */
import cluster, { type Worker } from 'node:cluster'
import { randomInt } from 'node:crypto'
import type { Server } from 'node:http'
import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { schema } from '../app.ts'
import { codeOf } from '../base/unknown.ts'
import { CommandFailed } from '../cli/command.ts'
import { Anchor } from '../operations/audit/anchor.ts'
import { openDatabase } from '../storage/open.ts'
import type { ServeConfig } from './config.ts'
import { listensOn, tryPort } from './listen.ts'
import { openLog } from './log.ts'
import { answerWorkers } from './messages.ts'
import { type Announce, serve, stopSignal, welcome } from './serve.ts'

/** A worker drains within ten seconds; one that is still running after this hangs. */
const KILL_AFTER_MS = 11_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000
/** A worker that has lived this long did not fail because of its configuration. */
const PROVEN_AFTER_MS = 10_000

/** Like `serve`, with `config.workers` processes; 0 means one per core. */
export async function serveWithWorkers(config: ServeConfig, announce: Announce): Promise<void> {
  if (cluster.isWorker) return work(config)
  const { log, closeLog } = await openLog(config.logLevel, true)
  const port = config.port || (await listensOn(freePort(config.host), config.host, config.port))
  const workers = new Workers(config.workers || availableParallelism(), port, log)
  process.on('SIGHUP', () => workers.roll())
  let metrics: Server | undefined
  let anchor: { close: () => Promise<void> } | undefined
  try {
    if (config.metricsPort !== undefined) {
      const { serveMetrics } = await import('./metrics.ts')
      metrics = await serveMetrics(config.metricsHost, config.metricsPort, { all: true, log })
    }
    anchor = await openAnchor(config, log)
    const database = await openDatabase(config.database, schema, { secretKeyFile: config.secretKeyFile })
    // Without workers, a signal ends the process at once.
    const stop = stopSignal()
    try {
      // Starting workers may take long; a stop signal does not wait for them.
      const url = await Promise.race([workers.start(), stop.then(() => undefined)])
      if (url !== undefined) await welcome(database, config, access => announce(url, access))
    } finally {
      await database.close()
    }
    log.info({ signal: await stop }, 'stopping')
  } finally {
    metrics?.close()
    await workers.stop()
    await anchor?.close()
    await closeLog()
  }
}

/** Opens a database handle of its own, because the primary needs none once the workers have started. */
async function openAnchor(
  config: ServeConfig,
  log: Logger,
): Promise<{ close: () => Promise<void> } | undefined> {
  if (config.auditAnchor === undefined) return undefined
  const { secretKeyFile } = config
  const database = await openDatabase(config.database, schema, { secretKeyFile, poolSize: 1 })
  const anchor = new Anchor(database, config.auditAnchor, log)
  const close = async () => {
    await anchor.close()
    await database.close()
  }
  return { close }
}

async function work(config: ServeConfig): Promise<void> {
  // A terminal sends it to every process; only the primary acts on it.
  process.on('SIGHUP', () => {})
  await serve({ ...config, bootstrap: false, demo: false }, url => process.send!({ url }))
}

/** The workers of this primary process. */
class Workers {
  readonly #size: number
  readonly #log: Logger
  /** Workers that should be running: one that ends is replaced. */
  readonly #workers = new Set<Worker>()
  #failures = 0
  readonly #answer = answerWorkers()
  readonly #stopping = new AbortController()
  #rolling: Promise<void> = Promise.resolve()

  constructor(size: number, port: number, log: Logger) {
    this.#size = size
    this.#log = log
    cluster.setupPrimary({ args: [...process.argv.slice(2), '--port', String(port)] })
  }

  /** @returns the URL, once all workers answer */
  async start(): Promise<string> {
    // The first worker starts alone, so that a start-up error is reported once.
    const url = await this.#startWorker()
    await Promise.all(Array.from({ length: this.#size - 1 }, () => this.#startWorker()))
    return url
  }

  /** Replaces all workers, one by one. Further calls are queued. */
  roll(): void {
    this.#rolling = this.#rolling
      .then(() => this.#replaceAll())
      .catch(error => {
        if (this.#stopping.signal.aborted) return
        this.#log.error({ err: error }, 'the workers were not all replaced')
      })
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(Object.values(cluster.workers ?? {}).map(worker => this.#end(worker!)))
  }

  async #replaceAll(): Promise<void> {
    this.#log.info('replacing the workers')
    for (const worker of [...this.#workers]) {
      if (this.#stopping.signal.aborted) return
      if (this.#workers.has(worker)) await this.#replaceOne(worker)
    }
    if (this.#workers.size < this.#size) {
      throw new CommandFailed('Workers are missing, and their successors do not listen yet.')
    }
    this.#log.info('all workers were replaced')
  }

  /** Starts the successor of a worker, then ends the worker. It stays if the successor does not start. */
  async #replaceOne(worker: Worker): Promise<void> {
    // If it ends by itself now, its successor is already starting.
    this.#workers.delete(worker)
    try {
      await this.#startWorker()
    } catch (error) {
      if (worker.isDead()) void this.#startSuccessor()
      else this.#workers.add(worker)
      throw error
    }
    await this.#end(worker)
  }

  /**
   * Starts a worker.
   * @returns the URL, once it answers
   * @throws CommandFailed if it ends before
   */
  async #startWorker(): Promise<string> {
    this.#stopping.signal.throwIfAborted()
    const worker = cluster.fork()
    const startedAt = performance.now()
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    this.#answer(worker)
    worker.on('message', ({ url }: { url?: string }) => {
      if (url === undefined) return
      if (this.#stopping.signal.aborted) worker.process.kill('SIGTERM')
      this.#workers.add(worker)
      resolve(url)
    })
    worker.on('error', error => {
      // A message that cannot be sent to an ending worker is answered by its end; a process that never started has
      // none.
      if (worker.process.pid === undefined) reject(error)
    })
    worker.once('exit', (code, signal) => {
      reject(
        new CommandFailed(`A worker ended (${signal ?? code}) before it listened: see its message above.`),
      )
      if (!this.#workers.delete(worker) || this.#stopping.signal.aborted) return
      this.#log.error({ worker: worker.process.pid, code, signal }, 'a worker ended and is replaced')
      if (performance.now() - startedAt > PROVEN_AFTER_MS) this.#failures = 0
      void this.#startSuccessor()
    })
    return promise
  }

  /** Starts the successor of a worker that has ended. Retries with growing pauses, since the cause may pass. */
  async #startSuccessor(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS)
      this.#failures += 1
      try {
        await delay(pauseMs, undefined, { signal })
        await this.#startWorker()
        return
      } catch (error) {
        if (signal.aborted) return
        this.#log.error({ err: error }, 'a worker was not replaced, which is tried again')
      }
    }
  }

  async #end(worker: Worker): Promise<void> {
    this.#workers.delete(worker)
    if (worker.isDead()) return
    // Not `once` of node:events, which rejects if a message cannot be sent any more.
    const exit = new Promise(resolve => worker.once('exit', resolve))
    worker.process.kill('SIGTERM')
    const killTimer = setTimeout(() => worker.process.kill('SIGKILL'), KILL_AFTER_MS)
    await exit
    clearTimeout(killTimer)
  }
}

/** Below those that systems give to connections, one of which could take the port before the first worker listens. */
const [FIRST_FREE, LAST_FREE] = [20_000, 32_000]

/** All workers must use the same port, including later ones. */
export async function freePort(host: string): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_FREE, LAST_FREE)
    try {
      await tryPort(host, port)
      return port
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') throw error
    }
  }
}
