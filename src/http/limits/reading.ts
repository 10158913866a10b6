/** Long reads of one request: time budget and concurrency. See docs/decisions/bounded-reads.md. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ReadBudget } from '../../storage/budget.ts'
import { type Load, releaseAfter } from './load.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for requests that only read, once they are performed. */
    reading: Reading | null
  }
}

export class Reading {
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #load: Load
  readonly #charge: ((readMs: number) => void) | undefined
  #budget: ReadBudget | undefined
  #isStream = false

  /** @param charge called with the total read time when the request has ended */
  constructor(request: FastifyRequest, reply: FastifyReply, load: Load, charge?: (readMs: number) => void) {
    this.#request = request
    this.#reply = reply
    this.#load = load
    this.#charge = charge
  }

  get budget(): ReadBudget {
    this.#budget ??= this.#begin()
    return this.#budget
  }

  /**
   * Counts the request as a long list until its answer has been read or given up.
   * @throws Failure too_many_streams, overloaded
   */
  beginStream(): void {
    if (this.#isStream) return
    releaseAfter(this.#reply, this.#load.stream(this.#request.actor!.name))
    this.#isStream = true
  }

  /** Renews the time budget when a part of the answer has been sent. */
  renew(): void {
    this.#budget?.renew()
  }

  #begin(): ReadBudget {
    const abort = new AbortController()
    const budget = new ReadBudget(this.#request.actor!.name, this.#load.readMs, abort.signal)
    releaseAfter(this.#reply, () => {
      abort.abort()
      this.#charge?.(budget.readMs)
    })
    return budget
  }
}
