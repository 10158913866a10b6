/** Removes what has expired, whether or not anybody asks for it. */
import { Rounds } from '../base/rounds.ts'
import type { Database, Tx } from './database.ts'

const SWEEP_EVERY_MS = 60_000

/** Removes some, so that no other write waits for long. Resolves to whether there may be more. */
type Sweep = (tx: Tx) => Promise<boolean>

/** There is one in each process. */
export class Sweeper {
  readonly #rounds: Rounds

  constructor(database: Database, sweeps: readonly Sweep[]) {
    this.#rounds = new Rounds(SWEEP_EVERY_MS, async () => {
      for (const sweep of sweeps) {
        while ((await database.transaction(sweep)) && !this.#rounds.closed);
      }
    })
  }

  close(): Promise<void> {
    return this.#rounds.close()
  }
}
