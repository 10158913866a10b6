/**
 * Connections to PostgreSQL: `pg` under Kysely.
 *
 * Statements are sent unnamed, and nothing is set for a session, so a pooler that hands out servers by the
 * transaction (PgBouncer) may stand between. A server that is gone is told by its closed connection; one that
 * no longer answers (frozen, or behind a broken network) by the pulse: while nothing is answered for a moment, it asks the
 * server something simple on a new connection, and cuts every connection when there is no answer. What the server
 * takes long for while it answers is waited for.
 */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import pg from 'pg'
import {
  BoundViolation,
  DatabaseUnavailable,
  type Reason,
  ReferenceViolation,
  UniqueViolation,
} from '../database.ts'
import type { Tables } from '../tables.ts'
import { commits, queries, tellDuration } from '../timing.ts'

/** For a free connection, while the server answers. */
const QUEUE_TIMEOUT_MS = 10_000
const PULSE_EVERY_MS = 400
const PULSE_TIMEOUT_MS = 800
const IDLE_TIMEOUT_MS = 30_000
/** For what somebody else holds. */
const LOCK_MS = 8000

/** A whole number when a JavaScript number holds it exactly; sums and counts as well. */
const readNumber = (text: string) => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}
const INT8 = 20
const NUMERIC = 1700
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 || oid === NUMERIC ? readNumber : pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig

export class PostgresPool {
  readonly pool: pg.Pool
  readonly db: Kysely<Tables>
  readonly #config: pg.ClientConfig
  readonly #clients = new Set<pg.PoolClient>()
  /** When what is under way began. */
  readonly #underWay = new Set<{ readonly since: number }>()
  #pulse: NodeJS.Timeout | undefined
  /** Sends away those who wait for a connection. */
  readonly #waiting = new Set<(reason: Error) => void>()
  #away = false
  /** When something was last done. */
  #answeredAt = 0

  /** @param statementMs how long a statement may take; without it, as long as it takes */
  constructor(config: pg.ClientConfig, size: number, statementMs?: number) {
    this.#config = {
      ...config,
      types,
      keepAlive: true,
      ...(statementMs !== undefined && { statement_timeout: statementMs, lock_timeout: LOCK_MS }),
    }
    this.pool = new pg.Pool({
      ...this.#config,
      max: size,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      connectionTimeoutMillis: QUEUE_TIMEOUT_MS,
    })
    // Whoever uses a connection hears of its end from the query; these only keep it from ending the process.
    this.pool.on('error', () => {})
    this.pool.on('connect', client => {
      client.on('error', () => {})
      this.#clients.add(client)
      // One read would take several processors, and the service reads in turns.
      if (statementMs !== undefined) client.query('SET max_parallel_workers_per_gather = 0').catch(() => {})
    })
    this.pool.on('remove', client => this.#clients.delete(client))
    this.db = kyselyOn(new PoolDriver(this))
  }

  async connect(): Promise<pg.PoolClient> {
    if (this.#away) throw new DatabaseUnavailable('PostgreSQL: no answer')
    const connecting = this.pool.connect()
    const sentAway = Promise.withResolvers<never>()
    this.#waiting.add(sentAway.reject)
    try {
      return await this.#timed(Promise.race([connecting, sentAway.promise]))
    } catch (error) {
      // One that comes too late goes back.
      connecting.then(
        client => client.release(),
        () => {},
      )
      throw new DatabaseUnavailable(`PostgreSQL: ${messageOf(error)}`, error)
    } finally {
      this.#waiting.delete(sentAway.reject)
    }
  }

  async query<R>(client: pg.PoolClient, text: string, parameters: readonly unknown[] = []) {
    const beganAt = queries.hasSubscribers ? performance.now() : 0
    try {
      return await this.#timed(client.query<R & pg.QueryResultRow>(text, parameters as unknown[]))
    } catch (error) {
      throw translate(error)
    } finally {
      if (beganAt > 0) tellDuration(beganAt)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#pulse)
    await this.pool.end()
  }

  async #timed<T>(work: Promise<T>): Promise<T> {
    const begun = { since: performance.now() }
    this.#underWay.add(begun)
    this.#pulse ??= setInterval(() => this.#feelPulse(), PULSE_EVERY_MS).unref()
    try {
      const result = await work
      this.#answeredAt = performance.now()
      return result
    } finally {
      this.#underWay.delete(begun)
    }
  }

  async #feelPulse(): Promise<void> {
    if (this.#underWay.size === 0 && !this.#away) {
      clearInterval(this.#pulse)
      this.#pulse = undefined
      return
    }
    const askedAt = performance.now()
    const longest = askedAt - Math.min(...[...this.#underWay].map(({ since }) => since))
    const silent = Math.min(longest, askedAt - this.#answeredAt)
    if (silent < PULSE_EVERY_MS && !this.#away) return
    // A server under such load that it takes no new connection in time may still answer on others.
    this.#away = !(await this.#answers()) && this.#answeredAt < askedAt
    if (!this.#away) return
    // Also those that are idle: nobody would hear that they are dead.
    for (const client of this.#clients) connectionOf(client).stream.destroy()
    for (const sendAway of this.#waiting) sendAway(new Error('no answer'))
  }

  async #answers(): Promise<boolean> {
    const probe = new pg.Client({
      ...this.#config,
      connectionTimeoutMillis: PULSE_TIMEOUT_MS,
      query_timeout: PULSE_TIMEOUT_MS,
    })
    probe.on('error', () => {})
    try {
      await probe.connect()
      await probe.query('SELECT 1')
      return true
    } catch (error) {
      // A server that refuses is one that answers.
      return error instanceof pg.DatabaseError
    } finally {
      connectionOf(probe).stream.destroy()
    }
  }
}

class PoolDriver implements Driver {
  readonly #pool: PostgresPool
  constructor(pool: PostgresPool) {
    this.#pool = pool
  }
  async init() {}
  async destroy() {}
  async acquireConnection() {
    return new PostgresConnection(this.#pool, await this.#pool.connect())
  }
  async releaseConnection(connection: PostgresConnection) {
    connection.release()
  }
  async beginTransaction(connection: PostgresConnection, { isolationLevel }: TransactionSettings) {
    await connection.run(
      isolationLevel === 'repeatable read' ? 'BEGIN ISOLATION LEVEL REPEATABLE READ' : 'BEGIN',
    )
  }
  async commitTransaction(connection: PostgresConnection) {
    await connection.commit()
  }
  async rollbackTransaction(connection: PostgresConnection) {
    await connection.rollback()
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly #pool: PostgresPool
  readonly #client: pg.PoolClient
  #broken = false

  constructor(pool: PostgresPool, client: pg.PoolClient) {
    this.#pool = pool
    this.#client = client
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows } = await this.#pool.query<R>(this.#client, sql, parameters)
    return { rows }
  }

  // biome-ignore lint/correctness/useYield: lists are read page by page, so that no reader holds a connection.
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Not supported: read page by page.')
  }

  async run(statement: string): Promise<string> {
    return (await this.#pool.query(this.#client, statement)).command
  }

  async commit(): Promise<void> {
    let done: string
    try {
      done = await this.run('COMMIT')
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error
      throw new DatabaseUnavailable(error.message, error.cause, 'in doubt')
    }
    if (commits.hasSubscribers) commits.publish(undefined)
    // PostgreSQL answers so, and not with an error, when a statement had failed.
    if (done !== 'COMMIT') throw new Error('The transaction was rolled back: a statement in it had failed.')
  }

  async rollback(): Promise<void> {
    try {
      await this.run('ROLLBACK')
    } catch {
      // Its connection ends, and the transaction with it. What went wrong before is what the caller should hear.
      this.#broken = true
    }
  }

  release(): void {
    this.#client.release(this.#broken)
  }
}

export function kyselyOn(driver: Driver): Kysely<Tables> {
  return new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
}

// SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html)
const UNIQUE_VIOLATION = '23505'
const FOREIGN_KEY_VIOLATION = '23503'
const CHECK_VIOLATION = '23514'
/** Connection, resources, operator, system; a server that became a replica; a query that was cancelled. */
const UNAVAILABLE = /^(?:08|53|58|57P|25006|57014|55P03)/
const reasons: Readonly<Record<string, Reason>> = {
  '53100': 'full',
  '25006': 'read-only',
  '55P03': 'busy',
  '57014': 'too long',
}
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'

/** The work was not done because of what others did at the same time, and would be if it were done again. */
export function isLostRace(error: unknown): boolean {
  const { code } = error as { code?: string }
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED
}

/** Turns an error of a query into one of the three that the rest of the program knows; others stay as they are. */
function translate(error: unknown): unknown {
  // What the server did not say itself is about the connection to it.
  if (!(error instanceof pg.DatabaseError)) {
    return new DatabaseUnavailable(`PostgreSQL: ${messageOf(error)}`, error)
  }
  const { code = '', constraint = '', table = '', detail = '' } = error
  if (code === UNIQUE_VIOLATION) {
    const column = /\(([^),]+)/.exec(detail)?.[1]
    return new UniqueViolation(constraint.includes('.') ? constraint : `${table}.${column}`, error)
  }
  if (code === CHECK_VIOLATION) return new BoundViolation(error)
  if (code === FOREIGN_KEY_VIOLATION) return new ReferenceViolation(error)
  if (UNAVAILABLE.test(code)) {
    return new DatabaseUnavailable(`PostgreSQL: ${error.message}`, error, reasons[code])
  }
  return error
}

/** Where several addresses were tried, Node gives one error for all, without a message. */
export function messageOf(error: unknown): string {
  const { message, errors } = error as { message: string; errors?: Error[] }
  return message || (errors ?? []).map(one => one.message).join(', ')
}

/** Runs each query by the function, and takes no transactions. */
export function readingBy(read: <R>(query: CompiledQuery) => Promise<QueryResult<R>>): Driver {
  const connection = {
    executeQuery: read,
    // biome-ignore lint/correctness/useYield: lists are read page by page.
    async *streamQuery(): AsyncIterableIterator<never> {
      throw new Error('Not supported: read page by page.')
    },
  }
  const refuse = async () => {
    throw new Error('Only for reading.')
  }
  return {
    init: async () => {},
    destroy: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
  }
}

/** The socket, which `pg` has no public way to cut. */
function connectionOf(client: pg.ClientBase): { stream: { destroy(): void } } {
  return (client as unknown as { connection: { stream: { destroy(): void } } }).connection
}
