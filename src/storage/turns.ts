/**
 * Long reads take turns, because only a few can run at once. The next turn goes to the caller who has recently read least, and the
 * last free place is reserved for callers who have read little, so that heavy readers only delay themselves.
 * See docs/decisions/bounded-reads.md.
 */
import type { ReadBudget } from './budget.ts'
import { DatabaseUnavailable } from './database.ts'

/** Recent read time beyond which a caller does not get the last place. */
const MUCH_MS = 250
/** Time in which half of a caller's read time is forgotten. */
const HALF_LIFE_MS = 2000
const CALLERS_KEPT = 1000

interface Waiting {
  readonly caller: string
  readonly begin: () => void
}

export class Turns {
  readonly #places: number
  readonly #waiting = new Set<Waiting>()
  readonly #read = new Map<string, { ms: number; at: number }>()
  #taken = 0

  /** @param places how many reads may run at once */
  constructor(places: number) {
    this.#places = places
  }

  /**
   * Runs a query when it is its turn.
   * @param budget the caller and their remaining time; without it, the query takes as long as it needs
   * @param query runs one or more queries; it calls `goOn` before each, which throws if nobody waits for the result any more
   * @throws DatabaseUnavailable if the budget is used up first; the query may still be running then
   */
  async read<T>(budget: ReadBudget | undefined, query: (goOn: () => void) => Promise<T>): Promise<T> {
    if (budget === undefined) return this.#run('', () => query(doNothing), doNothing)
    const { caller, signal, leftMs } = budget
    if (signal.aborted) throw unwanted()
    if (leftMs <= 0) throw tooLong()
    const aborted = Promise.withResolvers<never>()
    let hasEnded = false
    const goOn = () => {
      if (hasEnded) throw unwanted()
    }
    const timer = setTimeout(() => aborted.reject(tooLong()), leftMs)
    const leave = () => aborted.reject(unwanted())
    signal.addEventListener('abort', leave)
    try {
      return await Promise.race([
        this.#run(caller, () => query(goOn), budget.count.bind(budget), aborted.promise),
        aborted.promise,
      ])
    } finally {
      hasEnded = true
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
    }
  }

  async #run<T>(
    caller: string,
    query: () => Promise<T>,
    count: (readMs: number) => void,
    aborted?: Promise<never>,
  ): Promise<T> {
    await this.#turn(caller, aborted)
    const beganAt = performance.now()
    try {
      return await query()
    } finally {
      const took = performance.now() - beganAt
      count(took)
      this.#remember(caller, took)
      this.#taken -= 1
      this.#next()
    }
  }

  /** @param aborted rejects once the caller no longer waits */
  async #turn(caller: string, aborted: Promise<never> | undefined): Promise<void> {
    const turn = Promise.withResolvers<void>()
    const waiting = { caller, begin: turn.resolve }
    this.#waiting.add(waiting)
    this.#next()
    // If its turn has come already, `#run` takes it and gives it back.
    aborted?.catch(error => {
      if (this.#waiting.delete(waiting)) turn.reject(error)
    })
    await turn.promise
  }

  #next(): void {
    while (this.#taken < this.#places) {
      const next = this.#least()
      if (next === undefined) return
      const isLast = this.#taken === this.#places - 1 && this.#places > 1
      if (isLast && this.#readBy(next.caller) > MUCH_MS) return
      this.#waiting.delete(next)
      this.#taken += 1
      next.begin()
    }
  }

  /** The one whose caller has recently read least; of equals, the first. */
  #least(): Waiting | undefined {
    let least: Waiting | undefined
    let leastMs = Number.POSITIVE_INFINITY
    for (const waiting of this.#waiting) {
      const ms = this.#readBy(waiting.caller)
      if (ms < leastMs) {
        least = waiting
        leastMs = ms
      }
    }
    return least
  }

  #readBy(caller: string): number {
    const read = this.#read.get(caller)
    return read === undefined ? 0 : read.ms * 0.5 ** ((performance.now() - read.at) / HALF_LIFE_MS)
  }

  #remember(caller: string, tookMs: number): void {
    const ms = this.#readBy(caller) + tookMs
    this.#read.delete(caller)
    this.#read.set(caller, { ms, at: performance.now() })
    if (this.#read.size > CALLERS_KEPT) this.#read.delete(this.#read.keys().next().value!)
  }
}

const doNothing = () => {}
const tooLong = () => new DatabaseUnavailable('A read took longer than it may', undefined, 'too long')
const unwanted = () => new DatabaseUnavailable('Nobody waits for the answer', undefined, 'not wanted')
