/**
 * Reads the log in the order of its seals. That order never changes and misses nothing: an event that commits late comes
 * after those that were sealed before it. The position of an event is its place in that order; a reader continues after
 * the last one it has seen.
 */
import { parseExactly } from '../base/json.ts'
import { type Database, DatabaseUnavailable, type Db } from '../storage/database.ts'
import { rangesIn, rangesOf } from './ranges.ts'
import { sealAll } from './seal.ts'
import * as store from './store.ts'

const POSITIONS_AT_ONCE = 1000
/** Ranges per query: planning time grows with their square, and SQLite refuses 1000. */
const MOST_SPANS = 100
/** Limits the scan of a request for rare events in a long log. */
const MOST_POSITIONS = 10_000

export interface Reading {
  /** Reads after this position. */
  readonly after: number
  readonly limit: number
  /** Filters. */
  readonly criteria: Pick<store.Criteria, 'actions' | 'recordKinds'>
}

export interface PositionedEvent {
  readonly position: number
  readonly entry: store.Entry
}

export interface EventPage {
  readonly events: readonly PositionedEvent[]
  /** Last position that was read. */
  readonly last: number
  /** Whether there is more after it. */
  readonly more: boolean
}

/**
 * Reads events up to the limits. Seals committed events first, so that none is missed; while nothing can be written, those
 * that are sealed are read, and the others once they are.
 */
export async function readEvents(
  database: Database,
  { after, limit, criteria }: Reading,
): Promise<EventPage> {
  await sealAll(database).catch(passUnavailable)
  const { reader, engine } = database
  const end = ((await store.readEnd(reader, engine))?.first_position ?? 1) - 1
  const events: PositionedEvent[] = []
  let last = after
  while (events.length < limit && last < Math.min(end, after + MOST_POSITIONS)) {
    const positions = await positionsBehind(database, last, Math.min(POSITIONS_AT_ONCE, end - last))
    const ids = [...positions.keys()].sort((a, b) => a - b)
    const ranges = rangesOf(ids.map(id => ({ id })))
    const entries = await store.entriesIn(reader, ranges, ids.length, criteria)
    const placed = entries
      .map(entry => ({ position: positions.get(entry.id)!, entry }))
      .sort((a, b) => a.position - b.position)
      .slice(0, limit - events.length)
    events.push(...placed)
    last = events.length < limit ? last + positions.size : placed.at(-1)!.position
  }
  return { events, last, more: last < end }
}

/** Positions of the next events, by identifier: up to the limit, or fewer if they are scattered. */
async function positionsBehind(
  { reader }: Database,
  after: number,
  count: number,
): Promise<Map<number, number>> {
  const positions = new Map<number, number>()
  const seals = await store.sealsFrom(reader, after + 1, count)
  let spans = 0
  for (const { first, last, position } of spansBehind(seals, after)) {
    if (spans === MOST_SPANS || positions.size === count) break
    spans += 1
    const end = Math.min(last, first + count - positions.size - 1)
    for (let id = first; id <= end; id += 1) positions.set(id, position + id - first)
  }
  return positions
}

/** Ranges of identifiers that the seals cover after a position, each with the position of its first. */
function* spansBehind(seals: Iterable<Pick<store.Seal, 'first_position' | 'entries'>>, after: number) {
  for (const seal of seals) {
    let position = seal.first_position
    for (const [from, last] of rangesIn(seal.entries) ?? []) {
      const skipped = Math.max(0, after + 1 - position)
      const first = from + skipped
      if (first <= last) yield { first, last, position: position + skipped }
      position += last - from + 1
    }
  }
}

/** A record as it was when it was deleted. */
export interface Deleted {
  readonly values: Values
  /** The account that it was about. */
  readonly personId: number | null
}

/** By identifier, those of the records that were deleted, with what is personal while it is not erased. */
export async function deletedAmong(
  db: Db,
  kind: string,
  ids: readonly number[],
): Promise<Map<number, Deleted>> {
  const entries = await store.deletionsOf(db, kind, ids)
  return new Map(
    entries.map(entry => [
      entry.record_id!,
      { values: valuesOf(entry).before ?? {}, personId: entry.person_id },
    ]),
  )
}

/** The account that a deleted record was about; null if there is none. */
export async function personOfDeleted(db: Db, kind: string, id: number): Promise<number | null> {
  return (await deletedAmong(db, kind, [id])).get(id)?.personId ?? null
}

type Values = Readonly<Record<string, unknown>>

/** What the log says that a column of a record is, which is not personal; undefined if it says nothing. */
export async function valueInLog(
  db: Db,
  record: { readonly kind: string; readonly id: number; readonly column: string },
): Promise<unknown> {
  const entry = await store.lastEntrySaying(db, record)
  return entry && valuesOf(entry).after?.[record.column]
}

/** Values of an event, including the personal ones unless they were erased. */
export function valuesOf({ before_values, after_values, personal, personal_hash }: store.Entry) {
  const personalValues: { before?: Values; after?: Values } = personal === '' ? {} : parseExactly(personal)
  return {
    before: merge(before_values, personalValues.before),
    after: merge(after_values, personalValues.after),
    erased: personal === '' && personal_hash !== '',
  }
}

function merge(plain: string, personalValues: Values | undefined): Values | null {
  return plain === '' && !personalValues ? null : { ...(plain && parseExactly(plain)), ...personalValues }
}

function passUnavailable(error: unknown): void {
  if (!(error instanceof DatabaseUnavailable)) throw error
}
