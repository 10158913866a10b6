/**
 * Says no early when there is more to do than can be done, so that what is taken on is done in time.
 *
 * Two queues can grow. One is that of requests which the process has not looked at yet: once turns of the event loop
 * are long one after the other, only what comes early in a turn is taken. The other is that of requests which wait
 * for the database: how many may is found out from how long they take. Both go by time, not by numbers that somebody
 * would have to tune. Who waits for a password's hash stands apart, so that a flood of log-ins refuses nobody else.
 * See docs/decisions/overload.md.
 */
import { Failure, type FailureName } from '../../base/errors.ts'

/** So few at once are taken however long they take: it is then the work that is heavy, not the number of callers. */
const TAKEN_IN_ANY_TURN = 64
const UNDER_WAY_IN_ANY_CASE = 256

const TURN_MS = 25
/** How long what is known of long turns holds: one short turn does not end an overload. */
const LATE_FOR_MS = 1000

const MOST_UNDER_WAY = 1024
const ANSWER_MS = 150
const ADAPT_EVERY_MS = 250

/** About three seconds of hashing on two cores. */
const HASHES = 32

const STREAMS = 128
const STREAMS_PER_CALLER = 16

/** Bodies of many lines: each may take as much memory as a body may be large. */
const BATCHES = 16
const BATCHES_PER_CALLER = 4

export class Load {
  /** How long a request may read before it has its answer, or the next part of it. */
  readonly readMs: number
  #turnBegan = 0
  #takenInTurn = 0
  #wasLong = false
  #lateUntil = 0

  #underWay = 0
  #mostUnderWay = MOST_UNDER_WAY
  #peak = 0
  #finished = 0
  #tookMs = 0
  #adaptedAt = 0

  #hashes = 0
  readonly #streams = new Places(STREAMS, STREAMS_PER_CALLER, 'too_many_streams')
  readonly #batches = new Places(BATCHES, BATCHES_PER_CALLER, 'too_many_batches')

  constructor(readMs: number) {
    this.readMs = readMs
  }

  /** To be asked once for each request, before anything else is done for it. */
  get tooMuch(): boolean {
    const time = performance.now()
    if (this.#turnBegan === 0) {
      this.#turnBegan = time
      setImmediate(this.#endTurn)
    }
    if (this.#underWay >= this.#mostUnderWay) return true
    const isLate =
      this.#takenInTurn >= TAKEN_IN_ANY_TURN && time - this.#turnBegan > TURN_MS && time < this.#lateUntil
    if (!isLate) this.#takenInTurn += 1
    return isLate
  }

  /** @returns to be called when it has ended */
  begin(): () => void {
    this.#underWay += 1
    if (this.#underWay > this.#peak) this.#peak = this.#underWay
    const beganAt = performance.now()
    return () => this.#end(beganAt)
  }

  /** @throws Failure overloaded when as many hash a password as may */
  refuseHashing(): void {
    if (this.#hashes >= HASHES) throw new Failure('overloaded')
  }

  /**
   * Begins what hashes a password for anybody who asks.
   * @returns to be called when it has ended
   * @throws Failure overloaded
   */
  hash(): () => void {
    this.refuseHashing()
    this.#hashes += 1
    return () => {
      this.#hashes -= 1
    }
  }

  #end(beganAt: number): void {
    const time = performance.now()
    this.#underWay -= 1
    this.#finished += 1
    this.#tookMs += time - beganAt
    if (time - this.#adaptedAt > ADAPT_EVERY_MS) this.#adapt(time)
  }

  /**
   * @param caller who reads it
   * @returns to be called when the answer has been read, or given up
   * @throws Failure too_many_streams, overloaded
   */
  stream(caller: string): () => void {
    return this.#streams.take(caller)
  }

  /**
   * The same of a body of many lines, before it is read.
   * @throws Failure too_many_batches, overloaded
   */
  batch(caller: string): () => void {
    return this.#batches.take(caller)
  }

  #endTurn = () => {
    const time = performance.now()
    const isLong = time - this.#turnBegan > TURN_MS
    // One after the other, or again: a single slow query refuses nobody.
    if (isLong && (this.#wasLong || time < this.#lateUntil)) this.#lateUntil = time + LATE_FOR_MS
    this.#wasLong = isLong
    this.#turnBegan = 0
    this.#takenInTurn = 0
  }

  #adapt(time: number): void {
    const slow = this.#tookMs / this.#finished > ANSWER_MS
    this.#mostUnderWay = slow
      ? Math.max(UNDER_WAY_IN_ANY_CASE, Math.floor(Math.min(this.#mostUnderWay, this.#peak) * 0.8))
      : Math.min(MOST_UNDER_WAY, Math.ceil(this.#mostUnderWay * 1.1))
    this.#adaptedAt = time
    this.#peak = this.#underWay
    this.#finished = 0
    this.#tookMs = 0
  }
}

/** How many callers do at once what takes long, and how often one of them does. */
class Places {
  readonly #most: number
  readonly #mostPerCaller: number
  readonly #failure: FailureName
  readonly #taken = new Map<string, number>()
  #count = 0

  /** @param failure of a caller who has taken as many as one may */
  constructor(most: number, mostPerCaller: number, failure: FailureName) {
    this.#most = most
    this.#mostPerCaller = mostPerCaller
    this.#failure = failure
  }

  /** @returns to be called when it has ended */
  take(caller: string): () => void {
    const takenByCaller = this.#taken.get(caller) ?? 0
    if (takenByCaller >= this.#mostPerCaller) throw new Failure(this.#failure, { data: { retry_after: 1 } })
    if (this.#count >= this.#most) throw new Failure('overloaded')
    this.#taken.set(caller, takenByCaller + 1)
    this.#count += 1
    return () => {
      const left = this.#taken.get(caller)! - 1
      if (left === 0) this.#taken.delete(caller)
      else this.#taken.set(caller, left)
      this.#count -= 1
    }
  }
}
