/** Checks by a write whether the database accepts writes: a full or read-only one still answers reads. */
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { DatabaseUnavailable, type Tx } from './database.ts'

/** Within this interval, callers get the last result. */
const EVERY_MS = 2000
/** How long a failed write counts: a larger write may need room that the probe does not. */
const REMEMBERED_MS = 10_000
const FAILURES: ReadonlySet<string> = new Set(['full', 'failing', 'read-only'])
/** A probe that waits longer is waiting for other writers. */
const PATIENCE_MS = 500

export class WriteProbe {
  readonly #transaction: (work: (tx: Tx) => Promise<void>) => Promise<void>
  #probe: Promise<void> = Promise.resolve()
  #beganAt = Number.NEGATIVE_INFINITY
  #failure: DatabaseUnavailable | undefined
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(transaction: (work: (tx: Tx) => Promise<void>) => Promise<void>) {
    this.#transaction = transaction
  }

  /** Remembers the failure of a write, and rethrows it. */
  remember = (error: unknown): never => {
    if (error instanceof DatabaseUnavailable && FAILURES.has(error.reason)) {
      this.#failure = error
      this.#failedAt = performance.now()
    }
    throw error
  }

  /** @throws DatabaseUnavailable if writes fail; not while others are writing */
  async look(): Promise<void> {
    const time = performance.now()
    if (this.#failure && time - this.#failedAt < REMEMBERED_MS) throw this.#failure
    if (time - this.#beganAt > EVERY_MS) {
      this.#beganAt = time
      this.#probe = this.#transaction(write)
      this.#probe.catch(() => {})
    }
    try {
      await Promise.race([this.#probe, delay(PATIENCE_MS)])
    } catch (error) {
      if (error instanceof DatabaseUnavailable && error.reason === 'busy') return
      throw error
    }
  }
}

/** A write without effect. */
async function write(tx: Tx): Promise<void> {
  await sql`UPDATE schema_version SET version = version`.execute(tx)
}
