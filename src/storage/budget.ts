/** Time budget of one request's reads, with its caller and an abort signal. */
export class ReadBudget {
  readonly caller: string
  readonly signal: AbortSignal
  readonly #budgetMs: number
  #readMs = 0
  #renewedAtMs = 0

  /** @param signal aborts the reads once nobody waits for the answer */
  constructor(caller: string, budgetMs: number, signal: AbortSignal) {
    this.caller = caller
    this.signal = signal
    this.#budgetMs = budgetMs
  }

  /** Read time so far. */
  get readMs(): number {
    return this.#readMs
  }

  get leftMs(): number {
    return this.#budgetMs + this.#renewedAtMs - this.#readMs
  }

  /** Starts the budget again from zero. */
  renew(): void {
    this.#renewedAtMs = this.#readMs
  }

  count(readMs: number): void {
    this.#readMs += readMs
  }
}
