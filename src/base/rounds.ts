/** Runs a task at an interval while the process is up, never twice at once. A round that failed is tried again at the next. */
export class Rounds {
  readonly #work: () => Promise<unknown>
  readonly #failed: (error: unknown) => void
  readonly #timer: NodeJS.Timeout
  #round: Promise<void> | undefined
  #closed = false
  #isFailing = false

  /** @param failed hears of the error of a round, until one has succeeded no more than once */
  constructor(everyMs: number, work: () => Promise<unknown>, failed: (error: unknown) => void = () => {}) {
    this.#work = work
    this.#failed = failed
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
        () => {
          this.#isFailing = false
        },
        error => {
          if (!this.#isFailing) this.#failed(error)
          this.#isFailing = true
        },
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
