/**
 * Requests of one caller that want the same at the same moment are done together: by one transaction with few statements,
 * instead of one with its own statements for each. Those that come while others are under way wait, and are then done at
 * once; if that fails, each is done by itself.
 * See docs/decisions/gathered.md.
 */
import { Failure } from '../base/errors.ts'
import { afterAnswers } from '../base/turn.ts'
import { type Database, DatabaseUnavailable, type Engine, type Gatherable, type Tx } from './database.ts'

/** More would keep others waiting for longer, and save little. */
const MOST_MEMBERS = 32
/** When another one begins nevertheless, since those under way take long. */
const SLOW_MS = 100
/**
 * For how many times as long as a failed attempt has taken everything is done by itself: a caller with many failures loses a tenth
 * of the time at most, and one with few is soon served together again.
 */
const ALONE_TIMES = 10
/** For how long at most, and after a defect, which would occur again. */
const ALONE_MS = 1000

/** Checks that may refuse a write, inside its transaction. */
export interface Guards {
  before?(tx: Tx): Promise<void> | undefined
  /** Runs at the end: the write may have waited for others meanwhile. */
  after?(tx: Tx): Promise<void> | undefined
  /** Told why what could be done together is done one by one, if it is a defect: callers see only that it takes longer. */
  reportDefect?(error: unknown): void
}

interface Member<T = unknown, R = unknown> {
  readonly work: Gatherable<T, R>
  readonly guards: Guards
  readonly resolve: (result: R) => void
  readonly reject: (error: unknown) => void
}

/** Members with the same key. */
interface Queue {
  readonly key: string
  readonly waiting: Member[]
  /** Transactions in progress. */
  underWay: number
  /** Whether each is done by itself, since some have failed. */
  isAlone: boolean
  /** Whether those that wait begin at the end of the turn. */
  isScheduled: boolean
  /** Runs while members wait. */
  slowTimer?: NodeJS.Timeout | undefined
}

type Grouping = Pick<Database, 'transaction'> & {
  readonly engine: Pick<Engine, 'mostInProgress' | 'isLostRace'>
}

export class Gatherings {
  readonly #database: Grouping
  readonly #queues = new Map<string, Queue>()

  constructor(database: Grouping) {
    this.#database = database
  }

  /**
   * @param key of the caller and of what it wants: what has the same key is done together
   * @param guards check this one in the transaction of all; `one` checks for itself
   */
  run<T, R>(key: string, work: Gatherable<T, R>, guards: Guards): Promise<R> {
    const queue = this.#queues.get(key) ?? {
      key,
      waiting: [],
      underWay: 0,
      isAlone: false,
      isScheduled: false,
    }
    this.#queues.set(key, queue)
    return new Promise<R>((resolve, reject) => {
      // Cast: those of one key have items and results of one type.
      queue.waiting.push({ work, guards, resolve, reject } as unknown as Member)
      this.#schedule(queue)
    })
  }

  /** Requests that arrived together get here one after the other. */
  #schedule(queue: Queue): void {
    if (queue.isScheduled) return
    queue.isScheduled = true
    afterAnswers(() => {
      queue.isScheduled = false
      this.#next(queue)
    })
  }

  #next(queue: Queue): void {
    while (
      queue.waiting.length > 0 &&
      (queue.isAlone || queue.underWay < this.#database.engine.mostInProgress)
    ) {
      this.#begin(queue)
    }
    if (queue.waiting.length > 0) {
      queue.slowTimer ??= setTimeout(() => {
        queue.slowTimer = undefined
        this.#begin(queue)
        this.#next(queue)
      }, SLOW_MS)
    } else {
      clearTimeout(queue.slowTimer)
      queue.slowTimer = undefined
      if (queue.underWay === 0 && !queue.isAlone && !queue.isScheduled) this.#queues.delete(queue.key)
    }
  }

  #begin(queue: Queue): void {
    const members = queue.waiting.splice(0, queue.isAlone ? 1 : MOST_MEMBERS)
    const [only] = members.length === 1 ? members : []
    queue.underWay += 1
    const ended = only ? this.#alone(only) : this.#together(queue, members)
    ended.finally(() => {
      queue.underWay -= 1
      this.#schedule(queue)
    })
  }

  #alone({ work, resolve, reject }: Member): Promise<void> {
    return work.one().then(resolve, reject)
  }

  async #together(queue: Queue, members: readonly Member[]): Promise<void> {
    const begin = performance.now()
    let hasBegun = false
    try {
      const results = await this.#database.transaction(async tx => {
        hasBegun = true
        return performAll(tx, members)
      }, 'brief')
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
      const failure = { error, tookMs: performance.now() - begin }
      this.#leaveAlone(queue, failure, members.at(-1)!.guards)
      // Nobody waits for these, whatever they wait for.
      for (const member of members) void this.#alone(member)
    }
  }

  /** Neither a refusal, nor what comes of the database, or of what others do at the same moment. */
  #isDefect(error: unknown): boolean {
    const isExpected = error instanceof Failure || error instanceof DatabaseUnavailable
    return !isExpected && !this.#database.engine.isLostRace(error)
  }

  #leaveAlone(
    queue: Queue,
    { error, tookMs }: { error: unknown; tookMs: number },
    { reportDefect }: Guards,
  ): void {
    if (queue.isAlone) return
    const isDefect = this.#isDefect(error)
    if (isDefect) reportDefect?.(error)
    queue.isAlone = true
    const end = () => {
      queue.isAlone = false
      this.#next(queue)
    }
    setTimeout(end, isDefect ? ALONE_MS : Math.min(ALONE_TIMES * tookMs, ALONE_MS)).unref()
  }
}

async function performAll(tx: Tx, members: readonly Member[]): Promise<readonly unknown[]> {
  for (const { guards } of members) await guards.before?.(tx)
  const { work } = members.at(-1)!
  const results = await work.many(
    tx,
    members.map(({ work: { item } }) => item),
  )
  // Otherwise somebody would get the result of another.
  if (results.length !== members.length)
    throw new Error(`There are ${results.length} results for ${members.length}.`)
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
