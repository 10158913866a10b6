/**
 * Who reads next where few can read at once. What takes long is read in turns: the next query is that of the caller who
 * has read least of late, and the last free place is kept for callers who have read little, so that whoever asks for much
 * waits for nobody but themselves.
 * See docs/decisions/bounded-reads.md.
 */
import type { ReadBudget } from './budget.ts'
import { DatabaseUnavailable } from './database.ts'

/** Beyond this a caller has read much. */
const MUCH_MS = 250
/** What was read is forgotten by half in this time. */
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

  /** @param places how many read at once */
  constructor(places: number) {
    this.#places = places
  }

  /**
   * Runs the query when it is its turn.
   * @param query may be several: it calls `goOn` before each, which throws once nobody waits any more
   * @throws DatabaseUnavailable when the budget is used up before it has ended, which then nobody waits for
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

  /** @param aborted rejects when the caller does not wait any more */
  async #turn(caller: string, aborted: Promise<never> | undefined): Promise<void> {
    const turn = Promise.withResolvers<void>()
    const waiting = { caller, begin: turn.resolve }
    this.#waiting.add(waiting)
    this.#next()
    // One whose turn has come takes it, and gives it back.
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

  /** Of callers who have read alike, the one who came first. */
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
