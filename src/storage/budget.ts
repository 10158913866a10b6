/** How much time the reads of one request may take, who makes it, and a signal that aborts them. */
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

  /** Grants the full budget once more. */
  renew(): void {
    this.#renewedAtMs = this.#readMs
  }

  count(readMs: number): void {
    this.#readMs += readMs
  }
}
