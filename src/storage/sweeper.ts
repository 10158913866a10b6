/** Removes expired rows in the background. */
import { uptime } from 'node:os'
import { Rounds } from '../base/rounds.ts'
import type { Database, Tx } from './database.ts'

const SWEEP_EVERY_MS = 60_000
/** If the clock gains or loses more than this between two rounds, somebody has set it. */
const SET_MS = 120_000
/** For how long nothing is removed after the clock was set ahead: that may have been a mistake, and removed rows cannot be restored. */
const DOUBTED_MS = 3_600_000

/** Removes a limited number of rows, so that no other write waits for long. @returns whether there may be more */
type Sweep = (tx: Tx) => Promise<boolean>

export class Sweeper {
  readonly #rounds: Rounds
  /** The clock minus the time since the machine started; changes only if somebody sets the clock. */
  #aheadMs = Date.now() - passedMs()
  #doubtedUntil = 0

  /** @param failed called with the first error of several failed rounds in a row */
  constructor(database: Database, sweeps: readonly Sweep[], failed: (error: unknown) => void) {
    this.#rounds = new Rounds(SWEEP_EVERY_MS, () => this.#sweepAll(database, sweeps), failed)
  }

  /** Runs all sweeps, even if one fails. @throws the first failure, at the end */
  async #sweepAll(database: Database, sweeps: readonly Sweep[]): Promise<void> {
    this.#refuseDoubtful()
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

  /** @throws Error while the clock is not trusted */
  #refuseDoubtful(): void {
    const passed = passedMs()
    const setMs = Date.now() - passed - this.#aheadMs
    this.#aheadMs += setMs
    if (setMs > SET_MS) this.#doubtedUntil = passed + DOUBTED_MS
    if (setMs < -SET_MS) this.#doubtedUntil = 0
    if (passed < this.#doubtedUntil)
      throw new Error('The clock was set ahead: what has expired by it is removed after an hour.')
  }

  close(): Promise<void> {
    return this.#rounds.close()
  }
}

/** Time since the machine was started. Unlike `performance.now()` it includes time in which the machine was suspended. */
function passedMs(): number {
  return uptime() * 1000
}
