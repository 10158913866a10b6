/** Removes what has expired, whether or not anybody asks for it. */
import { Rounds } from '../base/rounds.ts'
import type { Database, Tx } from './database.ts'

const SWEEP_EVERY_MS = 60_000

/** Removes some, so that no other write waits for long. Resolves to whether there may be more. */
type Sweep = (tx: Tx) => Promise<boolean>

/** There is one in each process. */
export class Sweeper {
  readonly #rounds: Rounds

  /** @param failed called with the first error of several rounds that fail */
  constructor(database: Database, sweeps: readonly Sweep[], failed: (error: unknown) => void) {
    this.#rounds = new Rounds(SWEEP_EVERY_MS, () => this.#sweepAll(database, sweeps), failed)
  }

  /** One that fails leaves the others to go on. @throws the first failure, at the end */
  async #sweepAll(database: Database, sweeps: readonly Sweep[]): Promise<void> {
    const errors: unknown[] = []
    for (const sweep of sweeps) {
      try {
        while ((await database.transaction(sweep)) && !this.#rounds.closed);
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }

  close(): Promise<void> {
    return this.#rounds.close()
  }
}
