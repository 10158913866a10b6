/**
 * Writes visits after they were answered, in batches: half a second after the first, or as soon as there are enough. A visit
 * then costs a small part of a write of its own, and whatever else writes waits for a batch that is short. A process that
 * is killed loses at most what waits, but no credit, because the click token carries the affiliate.
 * See docs/decisions/visitors.md.
 */
import { hash, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Rounds } from '../../base/rounds.ts'
import { dayOf, now } from '../../base/time.ts'
import { type RequestContext, write } from '../../events/write.ts'
import { DatabaseUnavailable, type Tx } from '../../storage/database.ts'
import { ROWS_AT_ONCE } from '../../storage/insert-many.ts'
import { addToCounters, affiliates } from '../affiliates/store.ts'
import { addVisits } from '../links/store.ts'
import { addToDays } from '../visits/days.ts'
import { writtenAmong } from '../visits/store.ts'
import { visit } from '../visits/visit.ts'
import * as store from './store.ts'

const EVERY_MS = 500
/**
 * So many share a transaction, as many as one statement inserts on the embedded engine, see `insertRows`: with more, each costs
 * less and others wait for longer.
 */
const TOGETHER = ROWS_AT_ONCE
/** And this part of those that wait, if that is more: where transactions are slow, fewer of them write as many. */
const PART_TOGETHER = 1 / 4
/** The most visits that wait; further ones are answered, and not written. */
const MOST_WAITING = 10_000
const VISITORS_PER_SWEEP = 1000
const CLOSING_MS = 8000

/** A visit that was answered. */
export interface AnsweredVisit {
  readonly affiliateId: number
  /** 0 when the affiliate was named without a link. */
  readonly linkId: number
  readonly campaign: string
  readonly url: string
  readonly referrer: string
  /** The network that the visitor came from, see `withoutHost`. */
  readonly network: string
  readonly userAgent: string
  readonly nonce: string
  /** In seconds. */
  readonly time: number
}

/** The last report of the script from a place, and when one was last counted. */
interface Sighted {
  readonly sighting: store.Sighting
  readonly countedAt: number
}

/** Called when visits could not be written. */
export interface VisitReports {
  /** A batch could not be written; it is tried again, and not reported again until one was written. */
  failed(error: unknown): void
  /** So many visits were answered and are not counted: too many were waiting, or the service ends. */
  dropped(visits: number): void
}

export class VisitBatch {
  readonly #context: RequestContext
  readonly #reports: VisitReports
  readonly #cutOff: AbortSignal | undefined
  readonly #rounds: Rounds
  readonly #waiting: AnsweredVisit[] = []
  /** Whether the first of those that wait may be written: nobody knows whether they were committed. */
  #isInDoubt = false
  #dropped = 0
  /** By place, as the settings name it; there are few. */
  readonly #sightings = new Map<string, Sighted>()
  readonly #loads = new Map<string, number>()

  constructor(context: RequestContext, reports: VisitReports, cutOff?: AbortSignal) {
    this.#context = context
    this.#reports = reports
    this.#cutOff = cutOff
    this.#rounds = new Rounds(
      EVERY_MS,
      () => this.#flushAll(),
      error => reports.failed(error),
    )
  }

  /** Adds a visit, and returns at once. */
  add(answered: AnsweredVisit): void {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#dropped += 1
      return
    }
    this.#waiting.push(answered)
    // Once: after a failure there are more, and they wait for the next round.
    if (this.#waiting.length === TOGETHER) this.#rounds.go()
  }

  /** Adds a report of the script: of each place the last one is stored, and when one was last counted. */
  saw(sighting: store.Sighting): void {
    const { place, outcome, time } = sighting
    const before = this.#sightings.get(place)?.countedAt ?? 0
    this.#sightings.set(place, { sighting, countedAt: outcome === 'counted' ? time : before })
  }

  /** A page of this place has loaded the script. */
  loaded(place: string, time: number): void {
    this.#loads.set(place, time)
  }

  /** Writes what is waiting. What the database refuses until the end is lost, which is reported. */
  async close(): Promise<void> {
    await this.#rounds.close()
    const giveUpAt = performance.now() + CLOSING_MS
    const waits = () => this.#waiting.length + this.#sightings.size + this.#loads.size > 0
    while (waits() && performance.now() < giveUpAt) {
      try {
        await this.#flush()
      } catch {
        // Rounds have reported why.
        if (this.#cutOff?.aborted) break
        await delay(EVERY_MS)
      }
    }
    const lost = this.#waiting.length + this.#dropped
    if (lost > 0) this.#reports.dropped(lost)
  }

  async #flushAll(): Promise<void> {
    do await this.#flush()
    while (this.#waiting.length >= TOGETHER)
  }

  /** @throws what the database has refused; all of it waits on */
  async #flush(): Promise<void> {
    if (this.#dropped > 0) this.#reports.dropped(this.#dropped)
    this.#dropped = 0
    const batch = this.#waiting.splice(0, Math.max(TOGETHER, this.#waiting.length * PART_TOGETHER))
    const sightings = [...this.#sightings.values()]
    const loads = [...this.#loads]
    if (batch.length + sightings.length + loads.length === 0) return
    this.#sightings.clear()
    this.#loads.clear()
    try {
      await write(
        this.#context,
        async tx => {
          if (batch.length > 0) await this.#write(tx, this.#isInDoubt ? await unwritten(tx, batch) : batch)
          for (const { sighting, countedAt } of sightings) await store.keepSighting(tx, sighting, countedAt)
          for (const [place, time] of loads) await store.keepLoad(tx, place, time)
        },
        'relaxed',
      )
      this.#isInDoubt = false
    } catch (error) {
      this.#isInDoubt ||= error instanceof DatabaseUnavailable && error.reason === 'in doubt'
      this.#waiting.unshift(...batch)
      this.#putBack(sightings, loads)
      const beyond = Math.max(0, this.#waiting.length - MOST_WAITING)
      this.#waiting.length -= beyond
      this.#dropped += beyond
      throw error
    }
  }

  /** Those of a batch that could not be written, where no later one has come meanwhile. */
  #putBack(sightings: readonly Sighted[], loads: readonly (readonly [place: string, time: number])[]): void {
    for (const sighted of sightings) {
      const { place } = sighted.sighting
      const later = this.#sightings.get(place)
      const countedAt = Math.max(sighted.countedAt, later?.countedAt ?? 0)
      this.#sightings.set(place, { ...(later ?? sighted), countedAt })
    }
    for (const [place, time] of loads) if (!this.#loads.has(place)) this.#loads.set(place, time)
  }

  async #write(tx: Tx, batch: readonly AnsweredVisit[]): Promise<void> {
    const settings = await this.#context.settings.current()
    const firstOnes = await newcomers(tx, batch)
    const rows = batch.map(one => ({
      ...visit.newRow(
        {
          affiliate_id: one.affiliateId,
          url: one.url,
          referrer: one.referrer,
          campaign: one.campaign,
          ip: one.network,
        },
        settings,
        { time: one.time, actor: 0 },
      ),
      link_id: one.linkId,
      nonce: one.nonce,
      repeated: firstOnes.has(one) ? 0 : 1,
    }))
    await store.insertVisits(tx, rows)
    for (const [id, visits] of sums(batch, visit => visit.affiliateId))
      await addToCounters(tx, id, { visits })
    for (const [id, visits] of sums(batch, visit => visit.linkId)) if (id > 0) await addVisits(tx, id, visits)
    await addToDays(tx, rows)
  }
}

/** Those that the transaction in doubt has not written. */
async function unwritten(tx: Tx, batch: readonly AnsweredVisit[]): Promise<AnsweredVisit[]> {
  // That transaction may still be under way: it has locked the affiliates, to whose figures it adds.
  await affiliates.lockAll(tx, [...new Set(batch.map(({ affiliateId }) => affiliateId))])
  const nonces = await writtenAmong(
    tx,
    batch.map(({ nonce }) => nonce),
  )
  return batch.filter(({ nonce }) => !nonces.has(nonce))
}

/** Removes the visitors of earlier days. */
export async function removeOldVisitors(tx: Tx): Promise<boolean> {
  const removedCount = await store.removeVisitors(tx, dayOf(Date.now() / 1000), VISITORS_PER_SWEEP)
  return removedCount === VISITORS_PER_SWEEP
}

/** The visits that are the visitor's first to the affiliate on the day of the visit, which may be over when it is written. */
async function newcomers(tx: Tx, batch: readonly AnsweredVisit[]): Promise<Set<AnsweredVisit>> {
  const firstOnes = new Set<AnsweredVisit>()
  // In order: the salt of a day is gone once a later one has its own. What is left of the day is then told apart by that one.
  const days = [...Map.groupBy(batch, ({ time }) => dayOf(time))].sort(([a], [b]) => a - b)
  for (const [day, visits] of days) {
    // It may be tomorrow on another node.
    const salt = await store.saltOf(tx, day, randomBytes(32).toString('base64url'), dayOf(now()) + 1)
    const byHash = new Map<string, AnsweredVisit>()
    for (const visit of visits) {
      const visitor = hashOf(salt, visit)
      // Only the first one within a batch is new.
      if (!byHash.has(visitor)) byHash.set(visitor, visit)
    }
    for (const { hash } of await store.addVisitors(tx, [...byHash.keys()], day)) {
      firstOnes.add(byHash.get(hash)!)
    }
  }
  return firstOnes
}

/** Of fixed length and cut, so nobody can extend it; a HMAC takes five times as long. */
const hashOf = (salt: string, { network, userAgent, affiliateId }: AnsweredVisit) =>
  hash('sha256', `${salt} ${affiliateId} ${network} ${userAgent}`, 'base64url').slice(0, 16)

/** Counts by key, in order, so that transactions which write the same rows do not deadlock. */
function sums(batch: readonly AnsweredVisit[], key: (visit: AnsweredVisit) => number): [number, number][] {
  const counts = new Map<number, number>()
  for (const visit of batch) counts.set(key(visit), (counts.get(key(visit)) ?? 0) + 1)
  return [...counts].sort(([a], [b]) => a - b)
}
