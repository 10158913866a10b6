/** Checks by a write whether the database accepts writes: a full or read-only one still answers reads. */
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { DatabaseUnavailable, type Tx } from './database.ts'

/** Within this interval, callers get the last result. */
const EVERY_MS = 2000
/** How long a failed write counts: a larger write may need room that the probe does not. */
const REMEMBERED_MS = 10_000
/** What can only be read refuses the probe as well. */
const FAILURES: ReadonlySet<string> = new Set(['full', 'failing'])
/** A probe that waits longer is waiting for other writers. */
const PATIENCE_MS = 500
/** None of which take so long: a disk or server that neither confirms nor refuses hangs. */
const STALLED_MS = 15_000

export class WriteProbe {
  readonly #transaction: (work: (tx: Tx) => Promise<void>) => Promise<void>
  readonly #stalledMs: number
  #probe: Promise<void> = Promise.resolve()
  #isPending = false
  #beganAt = Number.NEGATIVE_INFINITY
  /** Since when writes hang, if they do: one that was given up does not end that. */
  #since: number | undefined
  #failure: DatabaseUnavailable | undefined
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(transaction: (work: (tx: Tx) => Promise<void>) => Promise<void>, stalledMs = STALLED_MS) {
    this.#transaction = transaction
    this.#stalledMs = stalledMs
  }

  /** Remembers the failure of a write, and rethrows it. */
  remember = (error: unknown): never => {
    if (error instanceof DatabaseUnavailable && FAILURES.has(error.reason)) {
      this.#failure = error
      this.#failedAt = performance.now()
    }
    throw error
  }

  /** @throws DatabaseUnavailable if writes fail or hang; not while others are writing */
  async look(): Promise<void> {
    const time = performance.now()
    if (this.#failure && time - this.#failedAt < REMEMBERED_MS) throw this.#failure
    if (!this.#isPending && time - this.#beganAt > EVERY_MS) this.#begin(time)
    if (this.#hangsAt(time)) {
      const seconds = Math.round((time - this.#since!) / 1000)
      throw new DatabaseUnavailable(`A write has waited ${seconds} seconds for the database.`)
    }
    try {
      await Promise.race([this.#probe, delay(PATIENCE_MS)])
    } catch (error) {
      if (error instanceof DatabaseUnavailable && error.reason === 'busy') return
      throw error
    }
  }

  #begin(time: number): void {
    this.#beganAt = time
    this.#isPending = true
    this.#since ??= time
    this.#probe = this.#transaction(write)
      .then(
        () => {
          this.#since = undefined
        },
        error => {
          if (!this.#hangsAt(performance.now())) this.#since = undefined
          throw error
        },
      )
      .finally(() => {
        this.#isPending = false
      })
    this.#probe.catch(() => {})
  }

  #hangsAt(time: number): boolean {
    return this.#since !== undefined && time - this.#since > this.#stalledMs
  }
}

/** A write without effect. */
async function write(tx: Tx): Promise<void> {
  await sql`UPDATE schema_version SET version = version`.execute(tx)
}
