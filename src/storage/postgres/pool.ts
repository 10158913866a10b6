/**
 * The PostgreSQL connection pool: `pg` under Kysely.
 *
 * A session has no state except names of statements, and does without them if necessary, so a transaction pooler (PgBouncer) may be
 * used. How failures are noticed:
 *
 * - A server that has ended closes its connections.
 * - A server that no longer answers (frozen, or behind a broken network) is noticed by the pulse: if nothing is answered for a moment,
 *   a simple query is sent on a new connection, and if it gets no answer, all connections are cut.
 * - If the server answers that query, a connection is only cut if it is silent for longer than its statements may take.
 * - If another server has taken the place of the first one, only new connections lead to it. Those to the first one, whose machine may
 *   have failed without closing them, are cut as soon as they are silent.
 */
import type { Duplex } from 'node:stream'
import type { Kysely } from 'kysely'
import pg from 'pg'
import { memberOf, messageOf } from '../../base/unknown.ts'
import { DatabaseUnavailable } from '../database.ts'
import { rowsOf } from '../rows.ts'
import type { Tables } from '../tables.ts'
import { isForLock, isForTooMany } from './errors.ts'
import { type Read, readingBy, statementOf } from './reading.ts'
import { isOfNames, Naming, Session } from './session.ts'
import { type Result, streamOf } from './trip.ts'

/** How long to wait for a free connection, while the server answers. */
export const QUEUE_TIMEOUT_MS = 10_000
const PULSE_EVERY_MS = 100
/** How long nothing is answered before the pulse is felt. */
const DOUBTFUL_MS = 400
const PULSE_TIMEOUT_MS = 800
/** How long a pool is content with its connections after the server has refused a further one. */
const MAKE_DO_MS = 5000
/** Identifies the server that answers, by the time at which it was started. */
const WHICH = 'extract(epoch FROM pg_postmaster_start_time())::text AS server'
const IDLE_TIMEOUT_MS = 30_000
/** The longest silence of a trip, as a multiple of the time limit of a statement. */
const SILENT = 1.5
/** How long operations in progress may take when the pool is closed. */
const CLOSE_MS = 2000
/** The shortest time between two calls of `beginAnew`: while the server is read-only, others go on reading from it. */
const ANEW_EVERY_MS = 1000
/** How long to wait for a lock: soon all connections would wait for a table that somebody keeps locked. */
const LOCK_MS = 1000
/** The same for what may wait longer: commands, and transactions that have waited before. */
export const LONG_LOCK_MS = 8000
/** Expression by which a transaction waits longer from then on, unless something else was set. */
export const WAITING_LONGER = `CASE current_setting('lock_timeout')::interval WHEN '${LOCK_MS} ms'
  THEN set_config('lock_timeout', '${LONG_LOCK_MS}', true) END`
/**
 * How long the server waits for the next statement of a transaction; less than others wait for its locks. Only a process that is
 * frozen or cut off from the network takes longer.
 */
const IDLE_MS = 5000
/** The same for commands, which may read from a file or another database meanwhile. */
const IDLE_COMMAND_MS = 60_000
/** How long to wait for a lock once the service is about to end. */
const LAST_LOCK_MS = 500

/** Integers, also sums and counts, are numbers if a JavaScript number holds them exactly, and text otherwise. */
const readNumber = (text: string) => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}
const INT8 = 20
const NUMERIC = 1700
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === INT8 || oid === NUMERIC ? readNumber : pg.types.getTypeParser(oid, format),
}

/** A named statement may fail for each of two reasons (see `Naming`) before it succeeds. */
const READ_ATTEMPTS = 3

interface PoolOptions {
  /** Maximum number of connections. */
  readonly size: number
  /** Time limit of a statement; none if omitted. */
  readonly statementMs?: number | undefined
  /** Whether statements are prepared by name; true by default. */
  readonly isNaming?: boolean | undefined
}

interface UnderWay {
  readonly since: number
  readonly session: Session | undefined
}

export class PostgresPool {
  readonly pool: pg.Pool
  readonly db: Kysely<Tables>
  readonly #config: pg.ClientConfig
  readonly #sessions = new Map<pg.PoolClient, Session>()
  readonly #naming: Naming
  readonly #silentMs: number
  /** Operations in progress; those without a session wait for a connection. */
  readonly #underWay = new Set<UnderWay>()
  #pulse: NodeJS.Timeout | undefined
  /** Rejects the callers that wait for a connection. */
  readonly #waiting = new Set<(reason: Error) => void>()
  /** Statements that have waited too long for a lock, and whether somebody tries again. */
  readonly #locked = new Map<string, boolean>()
  #away = false
  #isCutOff = false
  readonly #isForCommands: boolean
  #isAsking = false
  /** The server to which the newest connection has led. */
  #server: string | undefined
  /** Time of the last answer. */
  #answeredAt = 0
  #begunAnewAt = Number.NEGATIVE_INFINITY
  #makingDo: NodeJS.Timeout | undefined

  constructor(config: pg.ClientConfig, { size, statementMs, isNaming = true }: PoolOptions) {
    this.#naming = new Naming(isNaming)
    this.#silentMs = statementMs === undefined ? Number.POSITIVE_INFINITY : statementMs * SILENT
    this.#isForCommands = statementMs === undefined
    this.#config = {
      ...config,
      types,
      keepAlive: true,
      lock_timeout: this.#isForCommands ? LONG_LOCK_MS : LOCK_MS,
      ...(statementMs !== undefined && { statement_timeout: statementMs }),
    }
    this.pool = new pg.Pool({
      ...this.#config,
      max: size,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      connectionTimeoutMillis: QUEUE_TIMEOUT_MS,
    })
    // The end of a connection makes its query fail. These handlers only prevent that it ends the process as well.
    this.pool.on('error', () => {})
    this.pool.on('connect', client => {
      this.#answeredAt = performance.now()
      client.on('error', () => {})
      const session = this.#sessionOf(client)
      this.#sessions.set(client, session)
      const limits: Record<string, number> = {
        idle_in_transaction_session_timeout: statementMs === undefined ? IDLE_COMMAND_MS : IDLE_MS,
        // The service limits how many long reads run at once, so none of them should take several processors.
        ...(statementMs !== undefined && { max_parallel_workers_per_gather: 0 }),
        ...(this.#isCutOff && { lock_timeout: LAST_LOCK_MS }),
      }
      this.#ask(client, limits).then(
        server => {
          session.server = server
        },
        () => {},
      )
    })
    this.pool.on('remove', client => this.#sessions.delete(client))
    this.db = readingBy(this.read)
  }

  /** Whether work that has waited too long for a lock may be done again, and wait longer. */
  get mayWaitLonger(): boolean {
    return !this.#isForCommands && !this.#isCutOff
  }

  #sessionOf(client: pg.PoolClient): Session {
    const onTrip = () => this.#begin(session)
    const session = new Session(client, { naming: this.#naming, types, onTrip })
    return session
  }

  /** @param waitMs how long to wait for a connection, if less than the limit of the pool */
  async connect(waitMs?: number): Promise<Session> {
    if (this.#away) throw new DatabaseUnavailable('PostgreSQL: no answer')
    const connecting = this.#granted(performance.now() + QUEUE_TIMEOUT_MS)
    const sentAway = Promise.withResolvers<never>()
    this.#waiting.add(sentAway.reject)
    const giveUp = () => sentAway.reject(new Error('all connections are busy'))
    const timer = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs)
    const end = this.#begin()
    try {
      const client = await Promise.race([connecting, sentAway.promise])
      return this.#sessions.get(client)!
    } catch (error) {
      // A connection that comes too late is returned.
      connecting.then(
        client => client.release(),
        () => {},
      )
      throw new DatabaseUnavailable(`PostgreSQL: ${messageOf(error)}`, error)
    } finally {
      // This is no sign that the server answers: the pool gives out idle connections without asking it, even dead ones.
      end(false)
      clearTimeout(timer)
      this.#waiting.delete(sentAway.reject)
    }
  }

  /** A connection; an existing one if the server refuses a further one. */
  async #granted(giveUpAt: number): Promise<pg.PoolClient> {
    for (;;) {
      try {
        return await this.pool.connect()
      } catch (error) {
        if (!isForTooMany(error) || this.#sessions.size === 0 || performance.now() > giveUpAt) throw error
        this.#makeDo()
      }
    }
  }

  #makeDo(): void {
    const { options } = this.pool
    const { max } = options
    options.max = Math.min(max, this.#sessions.size)
    this.#makingDo ??= setTimeout(() => {
      options.max = max
      this.#makingDo = undefined
    }, MAKE_DO_MS).unref()
  }

  /** Runs a single statement on any free connection. */
  readonly read: Read = <R>(text: string, values: readonly unknown[], isNamed: boolean) =>
    this.reading(session => {
      const run = async () => {
        const { rows } = await new Promise<Result>((resolve, reject) =>
          session.send(statementOf({ text, values, isNamed }, resolve, reject)),
        )
        return rowsOf<R>(rows)
      }
      return isNamed ? this.#unlessLocked(text, run) : run()
    })

  /** Where a statement has waited too long for a lock, one at a time tries again; the others would only take connections. */
  async #unlessLocked<T>(text: string, run: () => Promise<T>): Promise<T> {
    const isTried = this.#locked.get(text)
    if (isTried) throw new DatabaseUnavailable('PostgreSQL: somebody keeps a table locked', undefined, 'busy')
    if (isTried === false) this.#locked.set(text, true)
    try {
      const result = await run()
      this.#locked.delete(text)
      return result
    } catch (error) {
      if (isForLock(error)) this.#locked.set(text, false)
      else this.#locked.delete(text)
      throw error
    }
  }

  /** Runs work that only reads on any free connection. */
  async reading<T>(work: (session: Session) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const session = await this.connect()
      try {
        return await work(session)
      } catch (error) {
        if (!isOfNames(error) || attempt === READ_ATTEMPTS) throw error
      } finally {
        session.client.release(session.isBroken)
      }
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#pulse)
    const cutOff = setTimeout(() => this.#cutAll(), CLOSE_MS)
    await this.pool.end()
    clearTimeout(cutOff)
  }

  /** Ends all operations in progress, and sends away those who wait. Later ones wait for locks only briefly. */
  cutOff(): void {
    this.#isCutOff = true
    this.#endAll('the service ends')
  }

  /**
   * Ends all idle connections, and this one. To be called if a write fails because a connection is read-only: a session stays as it
   * began, and only a new one can write once the server accepts writes again.
   * @returns whether the write can be tried again; false if connections were ended a moment ago, and this is a new one
   */
  beginAnew(session: Session): boolean {
    // It was in use when the others were ended.
    if (session.openedAt < this.#begunAnewAt) {
      session.isBroken = true
      return true
    }
    const now = performance.now()
    if (now - this.#begunAnewAt < ANEW_EVERY_MS) return false
    this.#begunAnewAt = now
    this.#endIdle(() => true)
    return true
  }

  /** Ends the idle connections that are meant. */
  #endIdle(isMeant: (session: Session) => boolean): void {
    const busy = new Set([...this.#underWay].map(({ session }) => session))
    for (const [client, session] of this.#sessions) {
      if (!busy.has(session) && isMeant(session)) socketOf(client).destroy()
    }
  }

  /** Finds out to which server a new connection has led, and sets the limits of the session. */
  async #ask(client: pg.ClientBase, limits: Record<string, number> = {}): Promise<string> {
    const settings = Object.entries(limits).map(([name, value]) => `set_config('${name}', '${value}', false)`)
    const { rows } = await client.query<{ server: string }>(`SELECT ${[...settings, WHICH].join(', ')}`)
    const { server } = rows[0]!
    const isAnother = this.#server !== undefined && this.#server !== server
    this.#server = server
    if (isAnother) this.#endIdle(session => this.#isElsewhere(session))
    return server
  }

  /** Whether a session is on another server than the one to which new connections lead. */
  #isElsewhere({ server }: Session): boolean {
    return server !== undefined && server !== this.#server
  }

  #cutAll(): void {
    for (const client of this.#sessions.keys()) socketOf(client).destroy()
  }

  #cutSilent(now: number): void {
    for (const { since, session } of this.#underWay) {
      if (!session) continue
      const ownMs = session.isUnlimited ? Number.POSITIVE_INFINITY : this.#silentMs
      const limitMs = this.#isElsewhere(session) ? DOUBTFUL_MS : ownMs
      if (now - since > limitMs) socketOf(session.client).destroy()
    }
  }

  /** Registers an operation. @returns a function to call at its end */
  #begin(session?: Session): (isAnswered: boolean) => void {
    const begun = { since: performance.now(), session }
    this.#underWay.add(begun)
    this.#pulse ??= setInterval(() => this.#feelPulse(), PULSE_EVERY_MS).unref()
    return isAnswered => {
      this.#underWay.delete(begun)
      if (isAnswered) this.#answeredAt = performance.now()
    }
  }

  async #feelPulse(): Promise<void> {
    if (this.#underWay.size === 0 && !this.#away) {
      clearInterval(this.#pulse)
      this.#pulse = undefined
      return
    }
    const askedAt = performance.now()
    this.#cutSilent(askedAt)
    const longest = askedAt - Math.min(...[...this.#underWay].map(({ since }) => since))
    const silent = Math.min(longest, askedAt - this.#answeredAt)
    if (this.#isAsking || (silent < DOUBTFUL_MS && !this.#away)) return
    this.#isAsking = true
    const answers = await this.#answers()
    this.#isAsking = false
    if (answers) this.#answeredAt = performance.now()
    // An overloaded server may accept no new connection in time, and still answer on others.
    this.#away = !answers && this.#answeredAt < askedAt
    if (!this.#away) return
    // Idle connections as well, since nobody would notice that they are dead.
    this.#endAll('no answer')
  }

  #endAll(why: string): void {
    this.#cutAll()
    for (const sendAway of this.#waiting) sendAway(new Error(why))
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
      await this.#ask(probe)
      return true
    } catch (error) {
      // A server that refuses is one that answers.
      return error instanceof pg.DatabaseError
    } finally {
      socketOf(probe).destroy()
    }
  }
}

/** The socket, which `pg` offers no public way to cut. */
function socketOf(client: pg.ClientBase): Duplex {
  return streamOf(memberOf(client, 'connection'))
}
