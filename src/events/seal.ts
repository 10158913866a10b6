/**
 * The hash chain over the audit log. Entries are written unsealed, so that no write waits for another; twice a second
 * whoever gets hold of the chain's end seals those that are new. A seal's hash covers the hash of the seal before,
 * which entries it seals, and every column of them, so none can be changed, removed or put in between unnoticed.
 *
 * Identifiers are given out before transactions commit: an entry may appear below one that is sealed. The identifiers
 * that were passed over are kept at the end of the chain and looked at again, so it is sealed when it appears.
 */
import { createHash } from 'node:crypto'
import { Rounds } from '../base/rounds.ts'
import type { Database } from '../storage/database.ts'
import * as store from './store.ts'

const SEAL_EVERY_MS = 500
const ENTRIES_PER_SEAL = 1000
/** A transaction that has not ended by then never will. */
const LATEST_MS = 3_600_000
/** How many spans of identifiers that were passed over are remembered. */
const MISSING_KEPT = 200

type Missing = readonly [first: number, last: number, since: number]

/** Seals while a process is up. */
export class Sealer {
  readonly #rounds: Rounds

  constructor(database: Database) {
    this.#rounds = new Rounds(SEAL_EVERY_MS, () => sealEntries(database))
  }

  /** Resolves once what this process wrote is sealed, unless the database does not answer. */
  async close(): Promise<void> {
    await this.#rounds.close()
    await this.#rounds.go()
  }
}

/** Seals every entry that is there, unless somebody else is about to. */
export async function sealEntries(database: Database): Promise<void> {
  while ((await sealSome(database)) === ENTRIES_PER_SEAL);
}

/** @returns how many were sealed, of those that are new or of those that are late: ENTRIES_PER_SEAL when there may be more */
async function sealSome(database: Database): Promise<number> {
  const { reader } = database
  const end = await store.readChain(reader)
  if (!end) return 0
  const missing = JSON.parse(end.missing) as Missing[]
  const passed = missing.map(([first, last]) => [first, last] as const)
  const late = passed.length > 0 ? await store.entriesIn(reader, passed, ENTRIES_PER_SEAL) : []
  const fresh = await store.entriesAfter(reader, end.last_entry, ENTRIES_PER_SEAL)
  const entries = [...late, ...fresh]
  if (entries.length === 0) return 0
  const seal = sealOf(end, Date.now(), rangesOf(entries), entries)
  const chain = {
    number: seal.number,
    hash: seal.hash,
    last_entry: fresh.at(-1)?.id ?? end.last_entry,
    missing: JSON.stringify(stillMissing(missing, late, end.last_entry, fresh)),
  }
  const sealed = await database.transaction(async tx => {
    const held = await store.holdChain(tx)
    if (held?.number !== end.number) return false
    await store.insertSeal(tx, seal, chain)
    return true
  })
  return sealed ? Math.max(late.length, fresh.length) : 0
}

export function sealOf(
  previous: { number: number; hash: string },
  sealedAt: number,
  ranges: readonly store.Range[],
  entries: readonly store.Entry[],
): store.Seal {
  const seal = {
    number: previous.number + 1,
    sealed_at: sealedAt,
    entries: ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(','),
    entry_count: entries.length,
    previous_hash: previous.hash,
  }
  const hash = createHash('sha256')
  hash.update(JSON.stringify(Object.values(seal)))
  for (const entry of entries) hash.update(`\n${canonical(entry)}`)
  return { ...seal, hash: hash.digest('hex') }
}

/** Every column but the personal one, whose hash is among them. */
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

function rangesOf(entries: readonly { id: number }[]): store.Range[] {
  const ranges: [number, number][] = []
  for (const { id } of entries) {
    const last = ranges.at(-1)
    if (last && last[1] === id - 1) last[1] = id
    else ranges.push([id, id])
  }
  return ranges
}

/** Those that were passed over and have not appeared, and those that are passed over now. */
function stillMissing(
  missing: readonly Missing[],
  late: readonly store.Entry[],
  lastEntry: number,
  fresh: readonly store.Entry[],
): Missing[] {
  const time = Date.now()
  const found = rangesOf(late)
  const left = missing
    .filter(([, , since]) => time - since < LATEST_MS)
    .flatMap(([first, last, since]) =>
      gaps([first, last], found).map(([from, to]) => [from, to, since] as const),
    )
  const passed = gaps([lastEntry + 1, fresh.at(-1)?.id ?? lastEntry], rangesOf(fresh))
  return [...left, ...passed.map(([first, last]) => [first, last, time] as const)].slice(-MISSING_KEPT)
}

/** What of a range is in none of others, which are in order. */
export function gaps([first, last]: store.Range, others: readonly store.Range[]): store.Range[] {
  const between: store.Range[] = []
  let next = first
  for (const [from, to] of others) {
    if (to < next || from > last) continue
    if (from > next) between.push([next, from - 1])
    next = Math.max(next, to + 1)
  }
  if (next <= last) between.push([next, last])
  return between
}
