/**
 * Turns of sales whose earnings depend on what their affiliate has sold before: each is recorded after the one before it, so that
 * it counts that one, whoever records it. Sales of different affiliates do not wait for one another.
 * See docs/decisions/tiers.md.
 */
import { lockIdentifiers } from '../../storage/advisory-locks.ts'
import { forEachConcurrently } from '../../storage/concurrently.ts'
import type { Tx } from '../../storage/database.ts'

/** Whose turn is meant. */
export interface Place {
  readonly affiliateId: number
  /** The order among those that are recorded concurrently in one transaction. */
  readonly place?: number | undefined
}

interface Waiting extends Place {
  readonly begins: PromiseWithResolvers<void>
  readonly ends: PromiseWithResolvers<void>
}

/**
 * Turns of what is recorded concurrently in one transaction. All wait until each either waits for its turn or needs none: then the
 * affiliates are known, and are locked in an order that is the same for all transactions.
 */
class Turns {
  readonly #tx: Tx
  #running = 0
  #waiting: Waiting[] = []

  constructor(tx: Tx) {
    this.#tx = tx
  }

  /** One of what is recorded concurrently. */
  async during(work: () => Promise<void>): Promise<void> {
    this.#running += 1
    try {
      await work()
    } finally {
      this.#rest()
    }
  }

  async take<T>(of: Place, work: () => Promise<T>): Promise<T> {
    const waiting = { ...of, begins: Promise.withResolvers<void>(), ends: Promise.withResolvers<void>() }
    this.#waiting.push(waiting)
    this.#rest()
    try {
      await waiting.begins.promise
      return await work()
    } finally {
      waiting.ends.resolve()
    }
  }

  #rest(): void {
    this.#running -= 1
    if (this.#running === 0 && this.#waiting.length > 0) this.#begin()
  }

  #begin(): void {
    const all = this.#waiting.sort((a, b) => (a.place ?? 0) - (b.place ?? 0))
    this.#waiting = []
    this.#running = all.length
    const byAffiliate = Map.groupBy(all, ({ affiliateId }) => affiliateId)
    const locked = lockIdentifiers(this.#tx, byAffiliate.keys())
    for (const turns of byAffiliate.values()) void inTurn(turns, locked)
  }
}

/** If the affiliate could not be locked, each fails. */
async function inTurn(turns: readonly Waiting[], locked: Promise<void>): Promise<void> {
  for (const { begins, ends } of turns) {
    locked.then(begins.resolve, begins.reject)
    await ends.promise
  }
}

const current = new WeakMap<Tx, Turns>()

/**
 * Works concurrently on the items of one wave after the other; those of a wave depend on one another only in their turns.
 * @throws the first failure
 */
export async function forEachInTurns<T>(
  tx: Tx,
  waves: Iterable<readonly T[]>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const turns = new Turns(tx)
  current.set(tx, turns)
  try {
    for (const wave of waves) await forEachConcurrently(tx, wave, item => turns.during(() => work(item)))
  } finally {
    current.delete(tx)
  }
}

/** Judges and records a sale in its turn; for others the turn only ends with the transaction. */
export async function inTurnOf<T>(tx: Tx, of: Place, work: () => Promise<T>): Promise<T> {
  const turns = current.get(tx)
  if (turns) return turns.take(of, work)
  await lockIdentifiers(tx, [of.affiliateId])
  return work()
}
