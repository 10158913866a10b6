/** In one turn of the event loop, in each of which Node accepts one connection only. */
const WRITERS_RUN_FOR_MS = 5

/** Says when writers have run for so long that what has arrived is to be looked at. */
export class LoopTurn {
  /** When its first writer began; 0 for none. */
  #runningSince = 0

  /** To be asked before each writer. */
  get isLong(): boolean {
    const time = performance.now()
    if (this.#runningSince === 0) {
      this.#runningSince = time
      setImmediate(() => {
        this.#runningSince = 0
      })
    }
    return time - this.#runningSince > WRITERS_RUN_FOR_MS
  }
}
