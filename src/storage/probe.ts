/** Checks that the database answers reads and accepts writes: one that is full or read-only still answers reads. */
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { DatabaseUnavailable, type Tx } from './database.ts'

/** Within this interval, callers get the last result. */
const EVERY_MS = 2000
/** How long the failure of another write counts: it may have needed more room than the write of the probe. */
const REMEMBERED_MS = 10_000
/** The reasons of failures that count. Others, such as a read-only database, make the probe itself fail. */
const FAILURES: ReadonlySet<string> = new Set(['full', 'failing'])
/** A probe that takes longer is considered to wait for other readers or writers. */
const PATIENCE_MS = 500
/** After this time, it does not wait for others: the disk or the server hangs. */
const STALLED_MS = 15_000

export class ReadinessProbe {
  readonly #transaction: (work: (tx: Tx) => Promise<void>) => Promise<void>
  readonly #stalledMs: number
  #probe: Promise<void> = Promise.resolve()
  /** The current read, shared by all callers: if all connections are busy, each would wait for one of its own. */
  #reading: Promise<unknown> | undefined
  #isPending = false
  #beganAt = Number.NEGATIVE_INFINITY
  /** When the first write began that has not been answered. It counts on if that one is given up after it hung. */
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
   * @throws DatabaseUnavailable if reads or writes fail, or writes hang; not if others merely keep the database busy
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

/** Waits for work, but not for long, and not at all if the database is busy. */
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
