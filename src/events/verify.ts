/** Verifies the hash chain over the audit log (`seal.ts`), from its first seal to its last. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Db } from '../storage/database.ts'
import { personalHash } from './append.ts'
import { gaps, missingIn, type Range, rangesIn, withoutNext } from './ranges.ts'
import { sealOf } from './seal.ts'
import * as store from './store.ts'

const SEALS_AT_ONCE = 100
const ENTRIES_AT_ONCE = 10_000
/** An entry that waits longer for its seal is a problem. */
const SEALED_WITHIN_MS = 10_000
/** While a long backlog is being sealed, another seal appears within this time. */
const NEXT_SEAL_MS = 2_000

export interface Verdict {
  readonly seals: number
  /** Number of sealed entries. */
  readonly entries: number
  /** Number of entries too recent to be sealed. */
  readonly unsealed: number
  /** Hash of the last seal: stored elsewhere, it reveals whether the end of the log was cut off. */
  readonly last_hash: string
  /** The first problem found. */
  readonly problem?: string
}

/** @param progress called with the number of seals checked and their total */
export async function verifyChain(
  db: Db,
  progress: (done: number, total: number) => void = () => {},
): Promise<Verdict> {
  // Seals made meanwhile are not checked.
  const end = await store.readChain(db)
  if (!end)
    return { seals: 0, entries: 0, unsealed: 0, last_hash: '', problem: 'The end of the chain is missing.' }
  const walk = new Walk(db)
  for (;;) {
    const seals = await store.sealsAfter(db, walk.number, SEALS_AT_ONCE)
    for (const seal of seals.filter(({ number }) => number <= end.number)) {
      const problem = await walk.step(seal)
      if (problem !== undefined) return { ...walk.verdict(0), problem }
    }
    progress(walk.number, end.number)
    if (seals.length < SEALS_AT_ONCE || walk.number >= end.number) break
  }
  const unsealed = await store.countAfter(db, walk.lastEntry)
  const problem = await problemBehind(db, walk, end)
  return { ...walk.verdict(unsealed), ...(problem !== undefined && { problem }) }
}

/** Beyond the seals. */
async function problemBehind(db: Db, walk: Walk, end: store.Chain): Promise<string | undefined> {
  const missing = missingIn(end)
  if (!missing) return `The end of the chain was changed: what it waits for is "${end.missing}".`
  const awaited = withoutNext(missing)
  return (
    endProblem(walk, end) ?? (await walk.inserted(awaited)) ?? (await unsealedProblem(db, walk, end, awaited))
  )
}

function endProblem(walk: Walk, end: store.Chain): string | undefined {
  if (walk.number !== end.number || walk.hash !== end.hash) {
    return `The chain ends at seal ${walk.number}, and should at seal ${end.number}.`
  }
  if (walk.lastEntry !== end.last_entry) {
    return `The last entry that is sealed is ${walk.lastEntry}, and the end of the chain was changed to ${end.last_entry}.`
  }
  return undefined
}

async function unsealedProblem(
  db: Db,
  walk: Walk,
  end: store.Chain,
  awaited: readonly Range[],
): Promise<string | undefined> {
  const appeared = await store.entriesIn(db, awaited, ENTRIES_AT_ONCE)
  const next = [...appeared, ...(await store.entriesAfter(db, walk.lastEntry, 1))].find(isOverdue)
  if (!next) return undefined
  await delay(NEXT_SEAL_MS)
  const later = await store.readChain(db)
  return later?.number === end.number
    ? `Entry ${next.id} is in no seal, and nobody seals: start the service, which seals it, and look again.`
    : undefined
}

/** In both directions, since an inserted entry may have a forged time. */
function isOverdue({ at }: store.Entry): boolean {
  return Math.abs(Date.now() - at) > SEALED_WITHIN_MS
}

class Walk {
  number = 0
  hash = ''
  lastEntry = 0
  #entries = 0
  /** Sealed identifiers, as ordered ranges. */
  #covered: Range[] = []
  readonly #db: Db
  #erased: ReadonlySet<string> = new Set()

  constructor(db: Db) {
    this.#db = db
  }

  /** @returns what is wrong with the seal or one of its entries */
  async step(seal: store.Seal): Promise<string | undefined> {
    const name = `Seal ${seal.number}`
    if (seal.number !== this.number + 1) return `Seal ${this.number + 1} is missing.`
    if (seal.previous_hash !== this.hash) return `${name} does not follow from the seal before it.`
    const ranges = rangesIn(seal.entries)
    if (!ranges) return `${name} was changed.`
    const entries: store.Entry[] = []
    for (const range of ranges) {
      const [uncovered] = gaps(range, this.#covered)
      if (uncovered?.[0] !== range[0] || uncovered[1] !== range[1]) {
        return `${name} was changed: it seals what another seals.`
      }
      const rangeEntries = await store.entriesIn(this.#db, [range], ENTRIES_AT_ONCE)
      const [missing] = gaps(
        range,
        rangeEntries.map(({ id }) => [id, id] as const),
      )
      if (missing) return `Entry ${missing[0]} is missing (seal ${seal.number}).`
      entries.push(...rangeEntries)
      this.#cover(range)
    }
    const expected = sealOf(this, seal.sealed_at, ranges, entries, this.#entries + 1)
    if (seal.first_position !== expected.first_position) {
      return `${name} was changed: its first position is ${expected.first_position}, not ${seal.first_position}.`
    }
    if (expected.hash !== seal.hash || seal.entry_count !== entries.length) {
      return `${name} does not fit the entries that it seals (${seal.entries}): one of them, or the seal, was changed.`
    }
    this.number = seal.number
    this.hash = seal.hash
    this.#entries += entries.length
    for (const entry of entries) {
      const problem = await this.#personal(entry)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  /** Finds entries inserted below the last sealed one, which no seal covers and none will. */
  async inserted(awaited: readonly Range[]): Promise<string | undefined> {
    const known = [...this.#covered, ...awaited].sort(([one], [other]) => one - other)
    for (const gap of gaps([-Number.MAX_SAFE_INTEGER, this.lastEntry], known)) {
      const unsealed = await store.entriesIn(this.#db, [gap], ENTRIES_AT_ONCE)
      const overdue = unsealed.find(isOverdue)
      if (overdue) return `Entry ${overdue.id} is in no seal: it was put in later.`
    }
    return undefined
  }

  verdict(unsealed: number): Verdict {
    return { seals: this.number, entries: this.#entries, unsealed, last_hash: this.hash }
  }

  async #personal(entry: store.Entry): Promise<string | undefined> {
    const { id, personal, personal_hash, person_id, record_kind, record_id } = entry
    // People are erased with their account, or as a record without one.
    const isErased = () =>
      this.#erased.has(`user ${person_id}`) || this.#erased.has(`${record_kind} ${record_id}`)
    if (personal !== '') {
      return personalHash(personal) === personal_hash
        ? undefined
        : `Entry ${id}: what is personal was changed.`
    }
    if (personal_hash === '' || isErased()) return undefined
    // It may have been erased a moment ago.
    this.#erased = await store.erasedRecords(this.#db)
    if (isErased()) return undefined
    return `Entry ${id}: what is personal was removed, and the log tells of no erasure.`
  }

  #cover([first, last]: Range): void {
    const before = this.#covered.findLastIndex(([, to]) => to < first)
    const after = this.#covered.slice(before + 1)
    const merged: [number, number] = [first, last]
    const left = this.#covered[before]
    const right = after[0]
    let start = before + 1
    let removed = 0
    if (left && left[1] === first - 1) {
      merged[0] = left[0]
      start = before
      removed += 1
    }
    if (right && right[0] === last + 1) {
      merged[1] = right[1]
      removed += 1
    }
    this.#covered.splice(start, removed, merged)
    this.lastEntry = Math.max(this.lastEntry, last)
  }
}
