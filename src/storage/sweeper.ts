/** Removes what has expired, whether or not anybody asks for it. */
import { uptime } from 'node:os'
import { Rounds } from '../base/rounds.ts'
import type { Database, Tx } from './database.ts'

const SWEEP_EVERY_MS = 60_000
/** A clock that goes ahead of the time that has passed by more was set. */
const SET_MS = 120_000
/** How long what has expired by a clock that was set ahead is kept: it may be set back, and what was removed is gone. */
const DOUBTED_MS = 3_600_000

/** Removes some, so that no other write waits for long. Resolves to whether there may be more. */
type Sweep = (tx: Tx) => Promise<boolean>

/** There is one in each process. */
export class Sweeper {
  readonly #rounds: Rounds
  /** Of the clock before the time that has passed since the machine was started. */
  #aheadMs = Date.now() - passedMs()
  #doubtedUntil = 0

  /** @param failed called with the first error of several rounds that fail */
  constructor(database: Database, sweeps: readonly Sweep[], failed: (error: unknown) => void) {
    this.#rounds = new Rounds(SWEEP_EVERY_MS, () => this.#sweepAll(database, sweeps), failed)
  }

  /** One that fails leaves the others to go on. @throws the first failure, at the end */
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

/** Goes on while the machine is suspended, which `performance.now()` does not: its clock is not set ahead by that. */
function passedMs(): number {
  return uptime() * 1000
}
