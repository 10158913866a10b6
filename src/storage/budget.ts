/** How long one request may read, for which caller, and the signal that ends it. */
export class ReadBudget {
  readonly caller: string
  readonly signal: AbortSignal
  readonly #budgetMs: number
  #readMs = 0
  #renewedAtMs = 0

  /** @param signal ends it: nobody waits for the answer any more */
  constructor(caller: string, budgetMs: number, signal: AbortSignal) {
    this.caller = caller
    this.signal = signal
    this.#budgetMs = budgetMs
  }

  /** What was read until now. */
  get readMs(): number {
    return this.#readMs
  }

  get leftMs(): number {
    return this.#budgetMs + this.#renewedAtMs - this.#readMs
  }

  /** As if nothing had been read until now. */
  renew(): void {
    this.#renewedAtMs = this.#readMs
  }

  count(readMs: number): void {
    this.#readMs += readMs
  }
}
