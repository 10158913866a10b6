/** For how long writers may run in one turn of the event loop. Node accepts only one connection per turn. */
const WRITERS_RUN_FOR_MS = 5

/** Says when writers have run for so long that the event loop should go on, to see what has arrived. */
export class LoopTurn {
  /** When the first writer of the turn began; 0 if there was none. */
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
