/** Whether the database takes writes, found out by writing: what is full or read-only still answers reads. */
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { DatabaseUnavailable, type Tx } from './database.ts'

/** Whoever asks more often is told what was found last. */
const EVERY_MS = 2000
/** So long a write that failed counts: one that is larger than the probe may need room that the probe has. */
const REMEMBERED_MS = 10_000
const FAILURES: ReadonlySet<string> = new Set(['full', 'failing', 'read-only'])
/** What waits for longer waits for others who write. */
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

  /** Remembers how a write failed, and throws it on. */
  remember = (error: unknown): never => {
    if (error instanceof DatabaseUnavailable && FAILURES.has(error.reason)) {
      this.#failure = error
      this.#failedAt = performance.now()
    }
    throw error
  }

  /** @throws DatabaseUnavailable when something could not be written, or nothing can; not when others are writing */
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

/** Changes nothing, and is written all the same. */
async function write(tx: Tx): Promise<void> {
  await sql`UPDATE schema_version SET version = version`.execute(tx)
}
