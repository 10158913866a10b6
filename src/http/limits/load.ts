/**
 * Sheds load early when there is more work than can be done, so that accepted requests are answered in time.
 *
 * Two queues can grow. One consists of requests that the process has not looked at yet: once several turns of the event
 * loop in a row are long, only requests early in a turn are accepted. The other consists of requests that wait for the
 * database: its limit adapts to how long they take. Both go by time, so there are no numbers to tune. The last places of
 * the second queue are for callers who have few, so that whoever sends much refuses nobody but themselves. Password
 * hashing has a limit of its own, so that a flood of log-ins refuses nobody else.
 * See docs/decisions/overload.md.
 */
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { Failure, type FailureName } from '../../base/errors.ts'
import { MIB } from '../../base/schemas.ts'

/** Accepted in any case: with so few callers it is the work that is heavy, and refusing some would not help. */
const FEW = 256
/** The same in one turn, where there are more callers. */
const FEW_OF_MANY = 64

const TURN_MS = 25
/** How long a long turn counts as overload. */
const LATE_FOR_MS = 1000

const MOST_UNDER_WAY = 1024
/** Of these places, for callers who have less than an equal share of the others. */
const FOR_OTHERS = FEW
const ANSWER_MS = 150
const ADAPT_EVERY_MS = 250

/** How many times as long as the service may take for a part of an answer its caller may take none. */
const STALLED_TIMES = 3

/** About three seconds of hashing on two cores. */
const HASHES = 32

const STREAMS = 128
const STREAMS_PER_CALLER = 16

/** Bodies of many lines: each may take up to the maximum body size in memory. */
const BATCHES = 16
const BATCHES_PER_CALLER = 4

/** Of other bodies, in bytes. */
const BODIES = 256 * MIB
const BODIES_PER_CALLER = 64 * MIB

/** Releases a place when an answer has been read or given up; at once where its client has already gone. */
export function releaseAfter({ raw }: FastifyReply, release: () => void): void {
  if (raw.destroyed) release()
  else raw.once('close', release)
}

export class Load {
  /** Read time allowed until the answer, or until its next part. */
  readonly readMs: number
  /** How long a caller may take nothing of its answer. */
  readonly stalledMs: number
  #turnBegan = 0
  #takenInTurn = 0
  #wasLong = false
  #lateUntil = 0

  #connections = 0
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

  constructor(readMs: number) {
    this.readMs = readMs
    this.stalledMs = STALLED_TIMES * readMs
  }

  /** Counts a connection until it closes: each has one caller. */
  readonly connected = (socket: Socket): void => {
    this.#connections += 1
    socket.once('close', () => {
      this.#connections -= 1
    })
  }

  /** Whether to refuse the request; must be read once per request, before any other work. */
  get tooMuch(): boolean {
    const time = performance.now()
    if (this.#turnBegan === 0) {
      this.#turnBegan = time
      setImmediate(this.#endTurn)
    }
    if (this.#underWay >= this.#mostUnderWay) return true
    const few = this.#connections > FEW ? FEW_OF_MANY : FEW
    const isLate = this.#takenInTurn >= few && time - this.#turnBegan > TURN_MS && time < this.#lateUntil
    if (!isLate) this.#takenInTurn += 1
    return isLate
  }

  /** Whether the places that are left are for others: the caller has an equal share of the rest. */
  hasItsShare(caller: string): boolean {
    const shared = this.#mostUnderWay - FOR_OTHERS
    if (this.#underWay < shared) return false
    return (this.#underWayOf.get(caller) ?? 0) >= Math.max(1, shared / this.#underWayOf.size)
  }

  /**
   * @returns a function to call at the end
   * @throws Failure overloaded when the caller has its share: many may have been accepted before the first began
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
   * The same for a body of many lines, before it is read.
   * @throws Failure too_many_bodies, overloaded
   */
  batch(caller: string): () => void {
    return this.#batches.take(caller)
  }

  /**
   * The same for another body.
   * @param bytes how long it may be
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
    this.#takenInTurn = 0
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

/** Limits the concurrency of long work, in total and per caller. */
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
   * Takes some places, or all, where more are needed than there are.
   * @returns a function to call at the end
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

/** Names with nothing are not kept. */
function addTo(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}
