/** Runs a task at an interval, never twice at once. A failed round is repeated at the next interval. */
export class Rounds {
  readonly #work: () => Promise<unknown>
  readonly #failed: (error: unknown) => void
  readonly #timer: NodeJS.Timeout
  #round: Promise<void> | undefined
  #closed = false
  #isFailing = false

  /** @param failed called with the first error; further errors are suppressed until a round has succeeded */
  constructor(everyMs: number, work: () => Promise<unknown>, failed: (error: unknown) => void = () => {}) {
    this.#work = work
    this.#failed = failed
    this.#timer = setInterval(() => this.go(), everyMs).unref()
  }

  /** Whether the current round should end early. */
  get closed(): boolean {
    return this.#closed
  }

  /** Runs a round now, or joins the one in progress; resolves when it ends. */
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

  /** Stops the timer; resolves when the round in progress ends. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#round
  }
}
