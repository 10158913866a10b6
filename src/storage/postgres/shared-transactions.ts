/**
 * Transactions that share one, which saves most of their trips and commits. Those of a caller that come while others are
 * under way wait, and then run as one; if it fails, each runs again by itself.
 * See docs/decisions/trips.md.
 */
import { DatabaseUnavailable, type Reason, type Tx } from '../database.ts'

/** More would wait longer for one another, and save little. */
const MOST_MEMBERS = 32
/** The process prepares a second one while the server runs the first. */
const MOST_UNDER_WAY = 2
/** When another one begins nevertheless: those under way wait for somebody else's lock. */
const SLOW_MS = 100
/** How long nothing is shared after a failure: where one fails, others soon do. */
const ALONE_MS = 1000
/** Reasons that may concern a single member, which has waited for a lock. */
const MAY_CONCERN_ONE: readonly Reason[] = ['busy', 'too long']

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
   * @param attempt runs a transaction once
   * @param run runs it again as long as others disturb it
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
    caller.underWay += 1
    this.#perform(name, caller, members).finally(() => {
      caller.underWay -= 1
      this.#next(name, caller)
    })
  }

  async #perform(name: string, caller: Caller, members: readonly Member[]): Promise<void> {
    if (members.length > 1) {
      if (await this.#share(members)) return
      this.#leaveAlone(name, caller)
    }
    await Promise.all(members.map(({ work, resolve, reject }) => this.#run(work).then(resolve, reject)))
  }

  /** @returns false if nothing was done: each is to be run again */
  async #share(members: readonly Member[]): Promise<boolean> {
    try {
      const results = await this.#attempt(tx => allOf(members.map(({ work }) => work(tx))))
      for (const [index, { resolve }] of members.entries()) resolve(results[index])
      return true
    } catch (error) {
      const concernsAll = error instanceof DatabaseUnavailable && !MAY_CONCERN_ONE.includes(error.reason)
      if (concernsAll) for (const { reject } of members) reject(error)
      return concernsAll
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
