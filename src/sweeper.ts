/** Removes what has expired, whether or not anybody asks for it. */
import type { Database, Tx } from './storage/database.ts'

const SWEEP_EVERY_MS = 60_000

/** Removes some, so that no other write waits for long. Resolves to whether there may be more. */
type Sweep = (tx: Tx) => Promise<boolean>

/** There is one in each process. */
export class Sweeper {
  readonly #database: Database
  readonly #sweeps: readonly Sweep[]
  readonly #timer: NodeJS.Timeout
  #round: Promise<void> | undefined
  #closed = false

  constructor(database: Database, sweeps: readonly Sweep[]) {
    this.#database = database
    this.#sweeps = sweeps
    this.#timer = setInterval(() => {
      this.#round ??= this.#sweep()
        // The next round tries again.
        .catch(() => {})
        .finally(() => {
          this.#round = undefined
        })
    }, SWEEP_EVERY_MS).unref()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#round
  }

  async #sweep(): Promise<void> {
    for (const sweep of this.#sweeps) {
      while ((await this.#database.transaction(sweep)) && !this.#closed);
    }
  }
}
