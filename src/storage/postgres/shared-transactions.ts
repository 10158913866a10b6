/**
 * Transactions that share one, which saves most of their trips and commits. Those of a caller that come while others are
 * under way wait, and then run as one; if it fails, each runs again by itself.
 * See docs/decisions/trips.md.
 */
import { DatabaseUnavailable, type Tx } from '../database.ts'

/** More would wait longer for one another, and save little. */
const MOST_MEMBERS = 32
/** The process prepares a second one while the server runs the first. */
const MOST_UNDER_WAY = 2
/** When another one begins nevertheless, since those under way take long. */
const SLOW_MS = 100
/** How long nothing is shared after a failure: where one fails, others soon do. */
const ALONE_MS = 1000

interface Member {
  readonly work: (tx: Tx) => Promise<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

interface Caller {
  readonly waiting: Member[]
  underWay: number
  isAlone: boolean
  /** Runs while members wait. */
  slowTimer?: NodeJS.Timeout | undefined
}

type Run = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

export class SharedTransactions {
  readonly #attempt: Run
  readonly #run: Run
  readonly #callers = new Map<string, Caller>()

  /**
   * @param attempt runs a shared transaction, once; it fails rather than wait long for a lock
   * @param run runs one that is not shared, again as long as others disturb it
   */
  constructor(attempt: Run, run: Run) {
    this.#attempt = attempt
    this.#run = run
  }

  /** @param name of the caller, with whose other work this may share a transaction */
  run<T>(name: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    const caller = this.#callers.get(name) ?? { waiting: [], underWay: 0, isAlone: false }
    this.#callers.set(name, caller)
    return new Promise((resolve, reject) => {
      // Cast: each gets what its own work returns.
      caller.waiting.push({ work, resolve: resolve as Member['resolve'], reject })
      this.#next(name, caller)
    })
  }

  #next(name: string, caller: Caller): void {
    while (caller.waiting.length > 0 && (caller.isAlone || caller.underWay < MOST_UNDER_WAY)) {
      this.#begin(name, caller)
    }
    if (caller.waiting.length > 0) {
      caller.slowTimer ??= setTimeout(() => {
        caller.slowTimer = undefined
        this.#begin(name, caller)
        this.#next(name, caller)
      }, SLOW_MS)
    } else {
      clearTimeout(caller.slowTimer)
      caller.slowTimer = undefined
      if (caller.underWay === 0 && !caller.isAlone) this.#callers.delete(name)
    }
  }

  #begin(name: string, caller: Caller): void {
    const members = caller.waiting.splice(0, caller.isAlone ? 1 : MOST_MEMBERS)
    const [only] = members.length === 1 ? members : []
    caller.underWay += 1
    const ended = only ? this.#perform(only) : this.#share(name, caller, members)
    ended.finally(() => {
      caller.underWay -= 1
      this.#next(name, caller)
    })
  }

  #perform({ work, resolve, reject }: Member): Promise<void> {
    return this.#run(work).then(resolve, reject)
  }

  async #share(name: string, caller: Caller, members: readonly Member[]): Promise<void> {
    let hasBegun = false
    try {
      const results = await this.#attempt(tx => {
        hasBegun = true
        return allOf(members.map(({ work }) => work(tx)))
      })
      for (const [index, { resolve }] of members.entries()) resolve(results[index])
    } catch (error) {
      // Without a connection, each by itself would wait as long once more.
      if (!hasBegun || (error instanceof DatabaseUnavailable && error.reason === 'in doubt')) {
        for (const { reject } of members) reject(error)
        return
      }
      this.#leaveAlone(name, caller)
      // Nobody waits for these, whatever they wait for.
      for (const member of members) void this.#perform(member)
    }
  }

  #leaveAlone(name: string, caller: Caller): void {
    if (caller.isAlone) return
    caller.isAlone = true
    const end = () => {
      caller.isAlone = false
      this.#next(name, caller)
    }
    setTimeout(end, ALONE_MS).unref()
  }
}

/** Like Promise.all, but fails only when all have ended: nothing of a transaction may run on while it is rolled back. */
async function allOf<T>(works: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(works)
  return Promise.all(works)
}
