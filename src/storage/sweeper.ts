/** Removes expired rows in the background. */
import { isClockDoubtful } from '../base/clock-watch.ts'
import { Rounds } from '../base/rounds.ts'
import type { Database, Tx } from './database.ts'

const SWEEP_EVERY_MS = 60_000

/** Removes a limited number of rows, so that no other write waits for long. @returns whether there may be more */
type Sweep = (tx: Tx) => Promise<boolean>

export class Sweeper {
  readonly #rounds: Rounds

  /** @param failed called with the first error of several failed rounds in a row */
  constructor(database: Database, sweeps: readonly Sweep[], failed: (error: unknown) => void) {
    this.#rounds = new Rounds(SWEEP_EVERY_MS, () => this.#sweepAll(database, sweeps), failed)
  }

  /** Runs all sweeps, even if one fails. @throws the first failure, at the end; Error while the clock is doubtful */
  async #sweepAll(database: Database, sweeps: readonly Sweep[]): Promise<void> {
    if (isClockDoubtful())
      throw new Error(
        'The clock was set ahead: what has expired by it is removed, and holds that have ended by it are released, after an hour.',
      )
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
