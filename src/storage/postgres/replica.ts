/**
 * Reads from a replica, without stale results.
 *
 * A write is answered only once the replica has it, so that whoever made a write can read it through any process and
 * node. This adds the replay time to each write (see docs/scaling.md). If the replica is away or has fallen behind, its
 * reads go to the primary and no write waits for it; each process finds this out for itself, at most `CHECK_EVERY_MS`
 * plus `LAG_LIMIT_MS` later. When it is back, every process waits for it for `SETTLE_MS` before the first one reads from
 * it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { DatabaseUnavailable } from '../database.ts'
import type { Tables } from '../tables.ts'
import { isLostRace, type PostgresPool, type Read, readingBy } from './pool.ts'

const CHECK_EVERY_MS = 500
const LAG_LIMIT_MS = 1000
const LONGEST_PAUSE_MS = 16
const SETTLE_MS = 2000

export class ReplicaReader {
  /** Read-only. */
  readonly db: Kysely<Tables>
  readonly #primary: PostgresPool
  readonly #replica: PostgresPool
  readonly #stopped = new AbortController()
  readonly #checks: Promise<void>
  /** Since when writes wait for the replica; undefined while it is not fit for reads. */
  #followedSince: number | undefined
  /** Concurrent writes share one query to the replica. */
  #round: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(primary: PostgresPool, replica: PostgresPool) {
    this.#primary = primary
    this.#replica = replica
    this.db = readingBy(this.read)
    this.#checks = this.#check()
  }

  /** Resolves when the replica has everything committed so far, or is not in use. */
  async caughtUp(): Promise<void> {
    if (this.#followedSince === undefined) return
    // A round in progress may have asked the primary before this caller's commit: wait for the next one.
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
    try {
      const position = await this.#position()
      const reached = await this.#reaches(position)
      this.#followedSince = reached ? (this.#followedSince ?? performance.now()) : undefined
    } catch {
      this.#followedSince = undefined
    }
  }

  async #position(): Promise<string> {
    const { rows } = await sql<{
      position: string
    }>`SELECT pg_current_wal_insert_lsn()::text AS position`.execute(this.#primary.db)
    return rows[0]!.position
  }

  async #reaches(position: string): Promise<boolean> {
    const giveUpAt = performance.now() + LAG_LIMIT_MS
    for (let pauseMs = 1; performance.now() < giveUpAt; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const { rows } = await sql<{ reached: boolean }>`
        SELECT pg_last_wal_replay_lsn() >= ${position}::pg_lsn AS reached`.execute(this.#replica.db)
      if (rows[0]?.reached) return true
      await delay(pauseMs)
    }
    return false
  }

  readonly read: Read = async (text, values, isNamed) => {
    if (performance.now() - (this.#followedSince ?? Number.POSITIVE_INFINITY) > SETTLE_MS) {
      try {
        return await this.#replica.read(text, values, isNamed)
      } catch (error) {
        // A replica cancels reads that would keep it from following the primary.
        if (!(error instanceof DatabaseUnavailable) && !isLostRace(error)) throw error
        if (error instanceof DatabaseUnavailable) this.#followedSince = undefined
      }
    }
    return this.#primary.read(text, values, isNamed)
  }
}
