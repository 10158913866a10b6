/**
 * Requests of one caller that want the same at the same moment are done together: by one transaction with few statements,
 * instead of one with its own statements for each. Those that come while others are under way wait, and are then done at
 * once; if that fails, each is done by itself.
 * See docs/decisions/gathered.md.
 */
import { Failure } from '../base/errors.ts'
import { afterAnswers } from '../base/turn.ts'
import { type Database, DatabaseUnavailable, type Engine, type Gathered, type Tx } from './database.ts'

/** More would keep others waiting for longer, and save little. */
const MOST_MEMBERS = 32
/** When another one begins nevertheless, since those under way take long. */
const SLOW_MS = 100
/** How long everything is done by itself after a failure: where one fails, others soon do. */
const ALONE_MS = 1000

/** Checks that may refuse a write, inside its transaction. */
export interface Guards {
  before?(tx: Tx): Promise<void> | undefined
  /** Runs at the end: the write may have waited for others meanwhile. */
  after?(tx: Tx): Promise<void> | undefined
}

interface Member<T = unknown, R = unknown> {
  readonly gathered: Gathered<T, R>
  readonly guards: Guards
  readonly resolve: (result: R) => void
  readonly reject: (error: unknown) => void
}

interface Caller {
  readonly waiting: Member[]
  underWay: number
  isAlone: boolean
  /** Whether those that wait are looked at at the end of the turn. */
  isNext: boolean
  /** Runs while members wait. */
  slowTimer?: NodeJS.Timeout | undefined
}

type Grouping = Pick<Database, 'transaction'> & { readonly engine: Pick<Engine, 'mostInProgress'> }

export class Gatherings {
  readonly #database: Grouping
  readonly #callers = new Map<string, Caller>()

  constructor(database: Grouping) {
    this.#database = database
  }

  /**
   * @param name of the caller and of what it wants: what has the same name is done together
   * @param guards check this one in the transaction of all; `one` checks for itself
   */
  run<T, R>(name: string, gathered: Gathered<T, R>, guards: Guards): Promise<R> {
    const caller = this.#callers.get(name) ?? { waiting: [], underWay: 0, isAlone: false, isNext: false }
    this.#callers.set(name, caller)
    return new Promise<R>((resolve, reject) => {
      // Cast: those of one name have items and results of one type.
      caller.waiting.push({ gathered, guards, resolve, reject } as unknown as Member)
      this.#soon(name, caller)
    })
  }

  /** Requests that arrived together get here one after the other. */
  #soon(name: string, caller: Caller): void {
    if (caller.isNext) return
    caller.isNext = true
    afterAnswers(() => {
      caller.isNext = false
      this.#next(name, caller)
    })
  }

  #next(name: string, caller: Caller): void {
    while (
      caller.waiting.length > 0 &&
      (caller.isAlone || caller.underWay < this.#database.engine.mostInProgress)
    ) {
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
      if (caller.underWay === 0 && !caller.isAlone && !caller.isNext) this.#callers.delete(name)
    }
  }

  #begin(name: string, caller: Caller): void {
    const members = caller.waiting.splice(0, caller.isAlone ? 1 : MOST_MEMBERS)
    const [only] = members.length === 1 ? members : []
    caller.underWay += 1
    const ended = only ? this.#alone(only) : this.#together(name, caller, members)
    ended.finally(() => {
      caller.underWay -= 1
      this.#soon(name, caller)
    })
  }

  #alone({ gathered, resolve, reject }: Member): Promise<void> {
    return gathered.one().then(resolve, reject)
  }

  async #together(name: string, caller: Caller, members: readonly Member[]): Promise<void> {
    let hasBegun = false
    try {
      const results = await this.#database.transaction(
        async tx => {
          hasBegun = true
          return performed(tx, members)
        },
        { brief: true },
      )
      for (const [place, { resolve, reject }] of members.entries()) {
        const result = results[place]
        if (result instanceof Failure) reject(result)
        else resolve(result)
      }
    } catch (error) {
      // Without a connection, each by itself would wait as long once more.
      if (!hasBegun || (error instanceof DatabaseUnavailable && error.reason === 'in doubt')) {
        for (const { reject } of members) reject(error)
        return
      }
      this.#leaveAlone(name, caller)
      // Nobody waits for these, whatever they wait for.
      for (const member of members) void this.#alone(member)
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

async function performed(tx: Tx, members: readonly Member[]): Promise<readonly unknown[]> {
  for (const { guards } of members) await guards.before?.(tx)
  const { gathered } = members[0]!
  const results = await gathered.many(
    tx,
    members.map(({ gathered: { item } }) => item),
  )
  for (const { guards } of members) await guards.after?.(tx)
  return results
}

const known = new WeakMap<object, Gatherings>()

/** Those of a database. */
export function gatheringsOf(database: Grouping): Gatherings {
  const gatherings = known.get(database) ?? new Gatherings(database)
  known.set(database, gatherings)
  return gatherings
}
