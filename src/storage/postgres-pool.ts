/**
 * Connections to PostgreSQL: `pg` under Kysely.
 *
 * Statements are sent unnamed, and nothing is set for a session, so a pooler that hands out servers by the
 * transaction (PgBouncer) may stand between. A server that is gone is told by its closed connection; one that
 * no longer answers (frozen, or behind a broken network) by the pulse, which asks it something simple on a new
 * connection while a query takes long, and cuts every connection when there is no answer.
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
import { DatabaseUnavailable, ReferenceViolation, UniqueViolation } from './database.ts'
import type { Tables } from './tables.ts'
import { commits, queries, tellDuration } from './timing.ts'

/** For a free connection, or a new one. */
const CONNECT_TIMEOUT_MS = 1500
const PULSE_EVERY_MS = 500
const PULSE_TIMEOUT_MS = 800
const IDLE_TIMEOUT_MS = 30_000

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

interface Busy {
  readonly client: pg.PoolClient
  readonly since: number
}

export class PostgresPool {
  readonly pool: pg.Pool
  readonly db: Kysely<Tables>
  readonly #config: pg.ClientConfig
  readonly #busy = new Set<Busy>()
  #pulse: NodeJS.Timeout | undefined

  constructor(config: pg.ClientConfig, size: number) {
    this.#config = { ...config, types, keepAlive: true, connectionTimeoutMillis: CONNECT_TIMEOUT_MS }
    this.pool = new pg.Pool({ ...this.#config, max: size, idleTimeoutMillis: IDLE_TIMEOUT_MS })
    // Whoever uses a connection hears of its end from the query; these only keep it from ending the process.
    this.pool.on('error', () => {})
    this.pool.on('connect', client => client.on('error', () => {}))
    this.db = kyselyOn(new PoolDriver(this))
  }

  async connect(): Promise<pg.PoolClient> {
    try {
      return await this.pool.connect()
    } catch (error) {
      throw new DatabaseUnavailable(`PostgreSQL: ${messageOf(error)}`, error)
    }
  }

  async query<R>(client: pg.PoolClient, text: string, parameters: readonly unknown[] = []) {
    const beganAt = queries.hasSubscribers ? performance.now() : 0
    const busy = { client, since: Date.now() }
    this.#busy.add(busy)
    this.#pulse ??= setInterval(() => this.#feelPulse(), PULSE_EVERY_MS).unref()
    try {
      return await client.query<R & pg.QueryResultRow>(text, parameters as unknown[])
    } catch (error) {
      throw translate(error)
    } finally {
      this.#busy.delete(busy)
      if (beganAt > 0) tellDuration(beganAt)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#pulse)
    await this.pool.end()
  }

  async #feelPulse(): Promise<void> {
    if (this.#busy.size === 0) {
      clearInterval(this.#pulse)
      this.#pulse = undefined
      return
    }
    const waiting = [...this.#busy].filter(({ since }) => Date.now() - since >= PULSE_EVERY_MS)
    if (waiting.length === 0 || (await this.#answers())) return
    for (const { client } of waiting) connectionOf(client).stream.destroy()
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
      throw new DatabaseUnavailable(error.message, error.cause, { inDoubt: true })
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
/** Connection, resources, operator, system; a server that became a replica; a query that was cancelled. */
const UNAVAILABLE = /^(?:08|53|58|57P|25006|57014|55P03)/
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
  if (code === FOREIGN_KEY_VIOLATION) return new ReferenceViolation(error)
  if (UNAVAILABLE.test(code)) return new DatabaseUnavailable(`PostgreSQL: ${error.message}`, error)
  return error
}

/** Where several addresses were tried, Node gives one error for all, without a message. */
export function messageOf(error: unknown): string {
  const { message, errors } = error as { message: string; errors?: Error[] }
  return message || (errors ?? []).map(one => one.message).join(', ')
}

/** The socket, which `pg` has no public way to cut. */
function connectionOf(client: pg.ClientBase): { stream: { destroy(): void } } {
  return (client as unknown as { connection: { stream: { destroy(): void } } }).connection
}
