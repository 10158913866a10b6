/**
 * Transactions of one caller that become one, which saves most of their trips and commits: those that come while others
 * are under way wait, and then run together. If one fails, each runs again by itself.
 * See docs/decisions/trips.md.
 */
import { DatabaseUnavailable, type Reason, type Tx } from '../database.ts'

/** More would wait longer for one another, and save little. */
const MOST_TOGETHER = 32
/** The process prepares a second one while the server runs the first. */
const UNDER_WAY = 2
/** How long a caller's transactions run by themselves after a failure: where one fails, others soon do. */
const ALONE_MS = 1000

interface Member {
  readonly work: (tx: Tx) => Promise<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

interface Caller {
  readonly waiting: Member[]
  underWay: number
  /** By `performance.now()`. */
  aloneUntil: number
}

type Run = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

export class Together {
  readonly #once: Run
  readonly #alone: Run
  /** Keyed by name, of those who have transactions under way. */
  readonly #callers = new Map<string, Caller>()

  /**
   * @param once runs a transaction
   * @param alone runs it again as long as others disturb it
   */
  constructor(once: Run, alone: Run) {
    this.#once = once
    this.#alone = alone
  }

  /** Runs the work in a transaction that it may share with other work of this caller. */
  run<T>(name: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    const caller = this.#callers.get(name) ?? { waiting: [], underWay: 0, aloneUntil: 0 }
    this.#callers.set(name, caller)
    return new Promise((resolve, reject) => {
      // Cast: each gets what its own work returns.
      caller.waiting.push({ work, resolve: resolve as Member['resolve'], reject })
      this.#next(name, caller)
    })
  }

  #next(name: string, caller: Caller): void {
    const isAlone = performance.now() < caller.aloneUntil
    if (caller.waiting.length > 0 && (isAlone || caller.underWay < UNDER_WAY)) {
      caller.underWay += 1
      this.#run(caller, caller.waiting.splice(0, isAlone ? 1 : MOST_TOGETHER)).finally(() => {
        caller.underWay -= 1
        this.#next(name, caller)
      })
    }
    if (caller.underWay === 0) this.#callers.delete(name)
  }

  async #run(caller: Caller, members: readonly Member[]): Promise<void> {
    const isDone = members.length > 1 && (await this.#share(members))
    if (isDone) return
    if (members.length > 1) caller.aloneUntil = performance.now() + ALONE_MS
    await Promise.all(members.map(({ work, resolve, reject }) => this.#alone(work).then(resolve, reject)))
  }

  /** @returns whether each has got its result; false where they are to be run again */
  async #share(members: readonly Member[]): Promise<boolean> {
    try {
      const results = await this.#once(tx => allOf(members.map(({ work }) => work(tx))))
      for (const [index, { resolve }] of members.entries()) resolve(results[index])
      return true
    } catch (error) {
      const isOfAll = error instanceof DatabaseUnavailable && !OF_ONE.includes(error.reason)
      if (isOfAll) for (const { reject } of members) reject(error)
      return isOfAll
    }
  }
}

/** Reasons that may concern a single member: it has waited for a lock. */
const OF_ONE: readonly Reason[] = ['busy', 'too long']

/** @throws what the first that failed has thrown, when all have ended */
async function allOf<T>(works: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(works)
  return Promise.all(works)
}
