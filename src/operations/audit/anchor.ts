/**
 * Delivers the heads of the audit log's chain to a place that the owner of the database cannot reach. Nothing is
 * queued: heads are read from the seals, so an outage costs no memory, and the place gets all in order afterwards.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Rounds } from '../../base/rounds.ts'
import { readChain, sealsAfter } from '../../events/store.ts'
import type { Database } from '../../storage/database.ts'
import { headOf } from './anchor-line.ts'
import { type Place, placeOf } from './anchor-places.ts'

const EVERY_MS = 500
const HEADS_AT_ONCE = 100
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000
/** How long a stopping service waits for its last delivery, which otherwise follows after the next start. */
const FAREWELL_MS = 1000

/** Delivers while a process is up; one process of each machine does so. */
export class Anchor {
  readonly #database: Database
  readonly #place: Place
  readonly #log: Logger
  readonly #rounds: Rounds
  readonly #stopping = new AbortController()
  #failures = 0
  #notBefore = 0
  #from: number | undefined

  constructor(database: Database, target: string, log: Logger) {
    this.#database = database
    this.#place = placeOf(target)
    this.#log = log
    this.#rounds = new Rounds(EVERY_MS, () => this.#deliverAll())
  }

  /** Delivers the last seals, unless that takes long. */
  async close(): Promise<void> {
    const closing = this.#rounds.close().then(() => this.#deliverAll())
    await Promise.race([closing, delay(FAREWELL_MS, undefined, { ref: false })])
    this.#stopping.abort()
  }

  async #deliverAll(): Promise<void> {
    if (this.#stopping.signal.aborted || performance.now() < this.#notBefore) return
    try {
      while (!this.#stopping.signal.aborted && (await this.#deliver()));
      if (this.#failures > 0)
        this.#log.info({ anchor: this.#place.name }, 'seals reach the audit anchor again')
      this.#failures = 0
    } catch (err) {
      if (this.#stopping.signal.aborted) return
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS)
      this.#failures += 1
      this.#notBefore = performance.now() + pauseMs
      const message = 'seals do not reach the audit anchor; it is tried again'
      this.#log.error({ err, anchor: this.#place.name, pause_ms: pauseMs }, message)
    }
  }

  /** @returns whether there may be more */
  async #deliver(): Promise<boolean> {
    const { reader } = this.#database
    const last = await this.#place.last()
    const heads = (await sealsAfter(reader, (last?.number ?? (await this.#first())) - 1, HEADS_AT_ONCE)).map(
      headOf,
    )
    if (last && heads.shift()?.hash !== last.hash) {
      throw new Error(
        `seal ${last.number} is there, and in the log it is another or missing: run audit verify --anchor. After a restoration, begin a new anchor.`,
      )
    }
    if (heads.length === 0) return false
    // A seal of another process may be seen before it is on the disk. A commit puts there whatever was committed before.
    await this.#database.transaction(async () => {})
    await this.#place.add(heads, this.#stopping.signal)
    return heads.length >= HEADS_AT_ONCE - 1
  }

  /** The first head of an empty place. It stays the same while the place is away: all from then on are delivered. */
  async #first(): Promise<number> {
    if (this.#place.wantsAll) return 1
    this.#from ??= (await readChain(this.#database.reader))?.number ?? 1
    return this.#from
  }
}
