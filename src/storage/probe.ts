/** Checks whether the database answers reads, and by a write whether it accepts writes: a full or read-only one still answers reads. */
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

export class ReadinessProbe {
  readonly #transaction: (work: (tx: Tx) => Promise<void>) => Promise<void>
  readonly #stalledMs: number
  #probe: Promise<void> = Promise.resolve()
  /** Once for all who ask: where all connections are busy, each would wait for one. */
  #reading: Promise<unknown> | undefined
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

  /**
   * @param read reads something
   * @throws DatabaseUnavailable if reads or writes fail, or writes hang; not while others are reading and writing
   */
  async look(read: () => Promise<unknown>): Promise<void> {
    this.#reading ??= read().finally(() => {
      this.#reading = undefined
    })
    await orBusy(this.#reading)
    const time = performance.now()
    if (this.#failure && time - this.#failedAt < REMEMBERED_MS) throw this.#failure
    if (!this.#isPending && time - this.#beganAt > EVERY_MS) this.#begin(time)
    if (this.#hangsAt(time)) {
      const seconds = Math.round((time - this.#since!) / 1000)
      throw new DatabaseUnavailable(`A write has waited ${seconds} seconds for the database.`)
    }
    await orBusy(this.#probe)
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

/** Waits no longer than others may be in the way. */
async function orBusy(work: Promise<unknown>): Promise<void> {
  try {
    await Promise.race([work, delay(PATIENCE_MS)])
  } catch (error) {
    if (error instanceof DatabaseUnavailable && error.reason === 'busy') return
    throw error
  }
}

/** A write without effect. */
async function write(tx: Tx): Promise<void> {
  await sql`UPDATE schema_version SET version = version`.execute(tx)
}
