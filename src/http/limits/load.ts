/**
 * Sheds load early when there is more work than can be done, so that accepted requests are answered in time.
 *
 * Two queues can grow. One consists of requests that the process has not looked at yet: once several turns of the event
 * loop in a row are long, only requests early in a turn are accepted. The other consists of requests that wait for the
 * database: its limit adapts to how long they take. Both go by time, so there are no numbers to tune. The last places of
 * the second queue are for callers who have few, so a caller who sends much is the only one to be refused.
 *
 * What takes long for other reasons has limits of its own, in total and per caller: hashing of passwords, so that a flood of
 * log-ins refuses nobody else, long answers, and bodies.
 * See docs/decisions/overload.md.
 */
import type { FastifyReply } from 'fastify'
import { Failure, type FailureName } from '../../base/errors.ts'
import { MIB } from '../../base/schemas.ts'

/** Accepted in one turn in any case: with so few callers the work itself is heavy, and refusing some would not help. */
const FEW = 256
/** The same if there are more callers than that. */
const FEW_OF_MANY = 64

const TURN_MS = 25
/** How long a long turn counts as overload. */
const LATE_FOR_MS = 1000

const MOST_UNDER_WAY = 1024
/** How many of these places are for callers who have less than an equal share of the others. */
const FOR_OTHERS = FEW
const ANSWER_MS = 150
const ADAPT_EVERY_MS = 250

/** How long a caller may take nothing of its answer, as a multiple of the time in which the service has to read a part of it. */
const STALLED_TIMES = 3

/** About three seconds of hashing on two cores. */
const HASHES = 32

const STREAMS = 128
const STREAMS_PER_CALLER = 16

/** Bodies of many lines: each may take up to the maximum body size in memory. */
const BATCHES = 16
const BATCHES_PER_CALLER = 4

/** Other bodies, in bytes. */
const BODIES = 256 * MIB
const BODIES_PER_CALLER = 64 * MIB

/** Releases a place once the answer has been read or its client has disconnected, which it may have already. */
export function releaseAfter({ raw }: FastifyReply, release: () => void): void {
  if (raw.destroyed) release()
  else raw.once('close', release)
}

export class Load {
  /** Read time allowed until the answer, or until its next part. */
  readonly readMs: number
  /** How long a caller may take nothing of its answer before it is cut off. */
  readonly stalledMs: number
  readonly #callers: { readonly open: number }
  #turnBegan = 0
  #acceptedInTurn = 0
  #wasLong = false
  #lateUntil = 0

  #underWay = 0
  #mostUnderWay = MOST_UNDER_WAY
  #peak = 0
  #finished = 0
  #tookMs = 0
  #adaptedAt = 0
  readonly #underWayOf = new Map<string, number>()

  #hashes = 0
  readonly #streams = new Places(STREAMS, STREAMS_PER_CALLER, 'too_many_streams')
  readonly #batches = new Places(BATCHES, BATCHES_PER_CALLER, 'too_many_bodies')
  readonly #bodies = new Places(BODIES, BODIES_PER_CALLER, 'too_many_bodies')

  /** @param callers as many as there are connections */
  constructor(readMs: number, callers: { readonly open: number }) {
    this.readMs = readMs
    this.#callers = callers
    this.stalledMs = STALLED_TIMES * readMs
  }

  /**
   * Accepts a request, whoever sends it; to be called once for each, before any other work.
   * @returns false if it has to be refused
   */
  accept(): boolean {
    const time = performance.now()
    if (this.#turnBegan === 0) {
      this.#turnBegan = time
      setImmediate(this.#endTurn)
    }
    if (this.#underWay >= this.#mostUnderWay) return false
    const few = this.#callers.open > FEW ? FEW_OF_MANY : FEW
    const isLate = this.#acceptedInTurn >= few && time - this.#turnBegan > TURN_MS && time < this.#lateUntil
    if (isLate) return false
    this.#acceptedInTurn += 1
    return true
  }

  /** Whether the places that are left are for others, because the caller has an equal share of the rest. */
  hasItsShare(caller: string): boolean {
    const shared = this.#mostUnderWay - FOR_OTHERS
    if (this.#underWay < shared) return false
    return (this.#underWayOf.get(caller) ?? 0) >= Math.max(1, shared / this.#underWayOf.size)
  }

  /**
   * Starts a request.
   * @returns a function to call at the end
   * @throws Failure overloaded when the caller has its share: many requests may have been accepted before the first began
   */
  begin(caller: string): () => void {
    if (this.hasItsShare(caller)) throw new Failure('overloaded')
    this.#underWay += 1
    addTo(this.#underWayOf, caller, 1)
    if (this.#underWay > this.#peak) this.#peak = this.#underWay
    const beganAt = performance.now()
    return () => this.#end(caller, beganAt)
  }

  /** @throws Failure overloaded when the limit of concurrent password hashes is reached */
  refuseHashing(): void {
    if (this.#hashes >= HASHES) throw new Failure('overloaded')
  }

  /**
   * Starts hashing a password for an anonymous caller.
   * @returns a function to call at the end
   * @throws Failure overloaded
   */
  hash(): () => void {
    this.refuseHashing()
    this.#hashes += 1
    return () => {
      this.#hashes -= 1
    }
  }

  #end(caller: string, beganAt: number): void {
    const time = performance.now()
    this.#underWay -= 1
    addTo(this.#underWayOf, caller, -1)
    this.#finished += 1
    this.#tookMs += time - beganAt
    if (time - this.#adaptedAt > ADAPT_EVERY_MS) this.#adapt(time)
  }

  /**
   * Starts a streamed answer.
   * @param caller who reads it
   * @returns a function to call when the answer has been read or given up
   * @throws Failure too_many_streams, overloaded
   */
  stream(caller: string): () => void {
    return this.#streams.take(caller)
  }

  /**
   * Reserves memory for a body of many lines, before it is read.
   * @returns a function to call at the end
   * @throws Failure too_many_bodies, overloaded
   */
  batch(caller: string): () => void {
    return this.#batches.take(caller)
  }

  /**
   * Reserves memory for another body, before it is read.
   * @param bytes its maximum length
   * @returns a function to call at the end
   * @throws Failure too_many_bodies, overloaded
   */
  body(caller: string, bytes: number): () => void {
    return this.#bodies.take(caller, bytes)
  }

  #endTurn = () => {
    const time = performance.now()
    const isLong = time - this.#turnBegan > TURN_MS
    // Requires two long turns: a single slow query must not refuse anybody.
    if (isLong && (this.#wasLong || time < this.#lateUntil)) this.#lateUntil = time + LATE_FOR_MS
    this.#wasLong = isLong
    this.#turnBegan = 0
    this.#acceptedInTurn = 0
  }

  #adapt(time: number): void {
    const slow = this.#tookMs / this.#finished > ANSWER_MS
    this.#mostUnderWay = slow
      ? Math.max(FEW + FOR_OTHERS, Math.floor(Math.min(this.#mostUnderWay, this.#peak) * 0.8))
      : Math.min(MOST_UNDER_WAY, Math.ceil(this.#mostUnderWay * 1.1))
    this.#adaptedAt = time
    this.#peak = this.#underWay
    this.#finished = 0
    this.#tookMs = 0
  }
}

/** Limits what is in progress at the same time, in total and per caller. */
class Places {
  readonly #most: number
  readonly #mostPerCaller: number
  readonly #failure: FailureName
  readonly #taken = new Map<string, number>()
  #count = 0

  /** @param failure thrown when a caller exceeds the limit per caller */
  constructor(most: number, mostPerCaller: number, failure: FailureName) {
    this.#most = most
    this.#mostPerCaller = mostPerCaller
    this.#failure = failure
  }

  /**
   * Takes some places. If a single piece of work needs more than a caller may have, it takes all that a caller may have.
   * @returns a function to call at the end
   * @throws Failure overloaded, or that of the limit per caller
   */
  take(caller: string, needed = 1): () => void {
    const count = Math.min(needed, this.#mostPerCaller)
    if ((this.#taken.get(caller) ?? 0) + count > this.#mostPerCaller)
      throw new Failure(this.#failure, { data: { retry_after: 1 } })
    if (this.#count + count > this.#most) throw new Failure('overloaded')
    addTo(this.#taken, caller, count)
    this.#count += count
    return () => {
      addTo(this.#taken, caller, -count)
      this.#count -= count
    }
  }
}

/** Removes a name whose count is 0. */
function addTo(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}
