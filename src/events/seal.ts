/**
 * The hash chain over the log, which also defines its order. Events are written unsealed, so that no write waits for
 * another; twice a second, the process that locks the end of the chain seals the new ones. A seal's hash covers the
 * previous seal's hash, the identifiers it seals, and every column of those events, so that none can be changed, removed
 * or inserted unnoticed. The position of an event is the seal's `first_position` plus its place among the events of that
 * seal.
 *
 * With concurrent transactions, identifiers are assigned before they commit: an event may appear below one that is
 * already sealed. The identifiers that were skipped are stored at the end of the chain and checked again, so that such an
 * event is sealed when it appears. They are given up once every transaction has ended that was running when they were
 * skipped: a transaction gets its number before it takes an identifier (`Engine.numbersFirst`), lower than the number at
 * the time of sealing.
 * See docs/decisions/one-log.md.
 * See docs/decisions/hash-chain.md.
 */
import { createHash } from 'node:crypto'
import { Rounds } from '../base/rounds.ts'
import type { Database } from '../storage/database.ts'
import { countSealed } from './counts.ts'
import { gaps, type Missing, missingIn, type Range, rangesOf, textOf, withoutNext } from './ranges.ts'
import * as store from './store.ts'

const SEAL_EVERY_MS = 500
const ENTRIES_PER_SEAL = 1000
/** Limit of skipped ranges; beyond it, further events wait for their seal. */
const MOST_MISSING = 5000

/** Seals events periodically while the process runs. */
export class Sealer {
  readonly #rounds: Rounds
  readonly #database: Database

  /** @param failed called with the first error of several rounds that fail */
  constructor(database: Database, failed: (error: unknown) => void) {
    this.#database = database
    this.#rounds = new Rounds(SEAL_EVERY_MS, () => sealEntries(database), failed)
  }

  /** Resolves when this process's events are sealed, unless the database does not answer. */
  async close(): Promise<void> {
    await this.#rounds.close()
    // Another node that stops at the same moment may have started to seal before the last events of this one were
    // written.
    await sealAll(this.#database).catch(() => {})
  }
}

/** Seals all events, unless another process is about to. */
export async function sealEntries(database: Database): Promise<void> {
  while ((await sealSome(database, false)) === 'more');
}

/** Seals all events committed so far, waiting for another process if necessary. */
export async function sealAll(database: Database): Promise<void> {
  while ((await sealSome(database, true)) !== 'done');
}

async function sealSome(database: Database, waits: boolean): Promise<'done' | 'more' | 'overtaken'> {
  const { reader, engine, schema } = database
  const end = await store.readEnd(reader, engine)
  if (!end) return 'done'
  const missing = missingIn(end)
  if (!missing) throw new Error('The end of the chain was changed.')
  // A single statement: two could see the second of two changes of a record and not the first.
  const candidates = await store.entriesIn(
    reader,
    [...withoutNext(missing), [end.last_entry + 1, Number.MAX_SAFE_INTEGER]],
    ENTRIES_PER_SEAL,
  )
  const entries = candidates.slice(0, sealable(candidates, end.last_entry, missing.length))
  if (entries.length === 0) return 'done'
  const { last_entry, first_position } = end
  const seal = sealOf(end, Date.now(), rangesOf(entries), entries, first_position)
  const isSealed = await database.transaction(async tx => {
    const chainEnd = await store.lockChain(tx, engine, waits)
    if (chainEnd?.number !== end.number) return false
    const stillMissing = stillMissingOf(missing, end.oldest, entries)
    // What is skipped now could still appear while a transaction runs that is running now, or was when the events
    // were read.
    const skipped = engine.concurrent ? skippedRanges(last_entry, entries) : []
    await countSealed(tx, schema, entries, end.number, seal.number)
    await store.insertSeal(tx, seal, {
      number: seal.number,
      hash: seal.hash,
      last_entry: Math.max(last_entry, entries.at(-1)!.id),
      missing: JSON.stringify([
        ...stillMissing,
        ...skipped.map(([first, last]) => [first, last, chainEnd.next]),
      ]),
    })
    return true
  })
  if (!isSealed) return 'overtaken'
  return candidates.length === ENTRIES_PER_SEAL ? 'more' : 'done'
}

/**
 * The next link of the chain.
 * @param sealedAt in milliseconds
 * @param ranges the identifiers of the entries
 * @param first_position place of the first entry in the order in which programs read events
 */
export function sealOf(
  previous: { number: number; hash: string },
  sealedAt: number,
  ranges: readonly Range[],
  entries: readonly store.Entry[],
  first_position: number,
): store.Seal {
  const seal = {
    number: previous.number + 1,
    sealed_at: sealedAt,
    entries: textOf(ranges),
    entry_count: entries.length,
    previous_hash: previous.hash,
  }
  const hash = createHash('sha256')
  hash.update(JSON.stringify(Object.values(seal)))
  for (const entry of entries) hash.update(`\n${canonical(entry)}`)
  return { ...seal, first_position, hash: hash.digest('hex') }
}

/** All columns except the personal one, whose hash is included. */
function canonical(entry: store.Entry): string {
  return JSON.stringify([
    entry.id,
    entry.at,
    entry.actor_kind,
    entry.actor_name,
    entry.actor_id,
    entry.address,
    entry.action,
    entry.record_kind,
    entry.record_id,
    entry.before_values,
    entry.after_values,
    entry.person_id,
    entry.personal_hash,
  ])
}

/** How many of the first entries can be sealed without exceeding the limit of skipped ranges. */
function sealable(entries: readonly store.Entry[], lastEntry: number, missing: number): number {
  let spans = missing
  let last = lastEntry
  for (const [index, { id }] of entries.entries()) {
    if (id <= last) continue
    if (id > last + 1) spans += 1
    if (spans > MOST_MISSING) return index
    last = id
  }
  return entries.length
}

/** Skipped identifiers that have not appeared and still could. */
function stillMissingOf(
  missing: readonly Missing[],
  oldest: number,
  entries: readonly store.Entry[],
): Missing[] {
  const appeared = rangesOf(entries)
  return missing
    .filter(([, , next]) => oldest < next)
    .flatMap(([first, last, next]) =>
      gaps([first, last], appeared).map(([from, to]) => [from, to, next] as const),
    )
}

/** Identifiers between the last one sealed so far and the last one sealed now. */
function skippedRanges(lastEntry: number, entries: readonly store.Entry[]): Range[] {
  return gaps([lastEntry + 1, entries.at(-1)!.id], rangesOf(entries))
}
