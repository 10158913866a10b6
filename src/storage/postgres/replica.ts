/**
 * Reads from a replica, without stale results.
 *
 * A write is answered only once the replica has it, so that it can be read through any process and node from then on. This adds the
 * time of its replay to each write (see docs/scaling.md). If the replica is away or too far behind, reads go to the primary, and no
 * write waits for the replica; each process finds this out for itself, at most `CHECK_EVERY_MS` plus `LAG_LIMIT_MS` later. When the
 * replica is back, writes wait for it at once, but reads go to it only `SETTLE_MS` later: by then, the writes of all processes wait.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { messageOf } from '../../base/unknown.ts'
import { type DatabaseOptions, DatabaseUnavailable } from '../database.ts'
import type { Tables } from '../tables.ts'
import { isLostRace } from './errors.ts'
import type { PostgresPool } from './pool.ts'
import { type Read, readingBy } from './reading.ts'
import { readSnapshot } from './transaction.ts'

const CHECK_EVERY_MS = 500
const LAG_LIMIT_MS = 1000
const LONGEST_PAUSE_MS = 16
const SETTLE_MS = 2000

export class ReplicaReader {
  /** Read-only. */
  readonly db: Kysely<Tables>
  readonly #primary: PostgresPool
  readonly #replica: PostgresPool
  readonly #report: NonNullable<DatabaseOptions['onReplica']>
  readonly #stopped = new AbortController()
  readonly #checks: Promise<void>
  /** Since when writes wait for the replica; undefined while it is not in use. */
  #followedSince: number | undefined
  /** What was reported last. */
  #reported: 'used' | 'unused' | undefined
  /** Concurrent writes share a round of queries about the replica: the current one, and the one after it. */
  #round: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(primary: PostgresPool, replica: PostgresPool, report: DatabaseOptions['onReplica'] = () => {}) {
    this.#primary = primary
    this.#replica = replica
    this.#report = report
    this.db = readingBy(this.read)
    this.#checks = this.#check()
  }

  /** Resolves when the replica has everything committed so far, or is not in use. */
  async caughtUp(): Promise<void> {
    if (this.#followedSince === undefined) return
    // The current round may have asked the primary before the commit of this caller, so it waits for the next one.
    this.#next ??= (this.#round ?? Promise.resolve()).then(() => {
      this.#next = undefined
      this.#round = this.#catchUp()
      return this.#round
    })
    await this.#next
  }

  async close(): Promise<void> {
    this.#stopped.abort()
    await this.#checks
    await this.#replica.close()
  }

  async #check(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      await this.#catchUp()
      await delay(CHECK_EVERY_MS, undefined, { signal: this.#stopped.signal }).catch(() => {})
    }
  }

  async #catchUp(): Promise<void> {
    const position = await this.#position()
    // Nothing can be said of the replica while the primary does not answer.
    const reason = position === undefined ? undefined : await this.#reasonNotToFollow(position)
    const isFollowing = position !== undefined && reason === undefined
    this.#followedSince = isFollowing ? (this.#followedSince ?? performance.now()) : undefined
    if (position === undefined || this.#stopped.signal.aborted) return
    const state = isFollowing ? 'used' : 'unused'
    if (state !== this.#reported) this.#report(reason)
    this.#reported = state
  }

  async #position(): Promise<string | undefined> {
    try {
      const { rows } = await sql<{
        position: string
      }>`SELECT pg_current_wal_insert_lsn()::text AS position`.execute(this.#primary.db)
      return rows[0]!.position
    } catch {
      return undefined
    }
  }

  /** @returns undefined once the replica has reached the position */
  async #reasonNotToFollow(position: string): Promise<string | undefined> {
    const giveUpAt = performance.now() + LAG_LIMIT_MS
    try {
      if (this.#followedSince === undefined && !(await this.#isOfSameDatabase()))
        return 'it has another database'
      for (let pauseMs = 1; performance.now() < giveUpAt; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
        const { rows } = await sql<{ reached: boolean | null }>`
          SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() >= ${position}::pg_lsn END AS reached`.execute(
          this.#replica.db,
        )
        const { reached } = rows[0]!
        if (reached) return undefined
        if (reached === null) return 'it is no replica'
        await delay(pauseMs)
      }
    } catch (error) {
      return messageOf(error)
    }
    return `it is more than ${LAG_LIMIT_MS} ms behind`
  }

  /** Positions of different databases can be compared as well, but that would mean nothing. */
  async #isOfSameDatabase(): Promise<boolean> {
    const names = [this.#primary, this.#replica].map(async ({ db }) => {
      const { rows } = await sql<{ name: string }>`
        SELECT (SELECT system_identifier FROM pg_control_system())::text || ' ' || current_database() AS name`.execute(
        db,
      )
      return rows[0]!.name
    })
    const [primary, replica] = await Promise.all(names)
    return primary === replica
  }

  readonly read: Read = (text, values, isNamed) => this.#from(pool => pool.read(text, values, isNamed))

  /** Runs work that reads what is committed at one moment. */
  snapshot<T>(work: (read: Read) => Promise<T>): Promise<T> {
    return this.#from(pool => readSnapshot(pool, work))
  }

  async #from<T>(read: (pool: PostgresPool) => Promise<T>): Promise<T> {
    if (performance.now() - (this.#followedSince ?? Number.POSITIVE_INFINITY) > SETTLE_MS) {
      try {
        return await read(this.#replica)
      } catch (error) {
        // A replica cancels reads that would keep it from following the primary.
        if (!(error instanceof DatabaseUnavailable) && !isLostRace(error)) throw error
        if (error instanceof DatabaseUnavailable) this.#followedSince = undefined
      }
    }
    return read(this.#primary)
  }
}
