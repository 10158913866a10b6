/** Runs a task at an interval while the process is up, never twice at once. A round that failed is tried again at the next. */
export class Rounds {
  readonly #work: () => Promise<unknown>
  readonly #timer: NodeJS.Timeout
  #round: Promise<void> | undefined
  #closed = false

  constructor(everyMs: number, work: () => Promise<unknown>) {
    this.#work = work
    this.#timer = setInterval(() => this.go(), everyMs).unref()
  }

  /** Whether a round should end early. */
  get closed(): boolean {
    return this.#closed
  }

  /** Resolves at the end of the round that is under way, or else of one that begins now. */
  async go(): Promise<void> {
    this.#round ??= this.#work()
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        this.#round = undefined
      })
    await this.#round
  }

  /** Resolves at the end of the round that is under way. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#round
  }
}
