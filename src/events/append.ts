/**
 * Events: who did what to which record, when and from where.
 *
 * Only declared fields of a record are written (`Logged`), so that password hashes and tokens cannot get in as part of a
 * row. Personal values are stored separately, beside a salted hash of them. The hash chain (`seal.ts`) covers that hash
 * only, so that personal data can be erased and the chain still verified.
 */
import { hash, randomUUID } from 'node:crypto'
import type { Origin } from '../base/actor.ts'
import { hasMembers } from '../base/unknown.ts'
import type { Logged } from '../storage/table.ts'
import type { Action } from './schema.ts'
import type { NewEntry } from './store.ts'

const LONGEST_TEXT = 2000

type Values = Readonly<Record<string, unknown>>

/** A record before and after a change, by field names. A created record has no `before`. */
export interface Change {
  readonly before?: object
  readonly after?: object
  /** Identifier from `WriteTx.reserveEvent`. */
  readonly event?: number
  /** The account that the record is about, if no field says so. */
  readonly person?: number | null | undefined
  /** The account that it was about before, if another one. */
  readonly formerPerson?: number | null | undefined
  /** Identifier of the event of the former person, which comes first, where that of the change is reserved. */
  readonly formerEvent?: number | undefined
}

/**
 * An event can be about one person, with whom it is erased: where a record passes from one to another, the end of what
 * was said of the first is an event of its own.
 * @returns the rows of the event: none if nothing has changed
 */
export function eventsOf(
  origin: Origin,
  logged: Logged,
  action: Action,
  id: number | null,
  change: Change,
): NewEntry[] {
  const { formerPerson, formerEvent, person, before, after } = change
  const kept = formerPerson === person ? undefined : withoutWords(logged, before, after)
  if (!formerPerson || !kept) return rowsOf(origin, logged, action, id, change)
  return [
    // Cast: what passes to another person is edited, whatever else it is.
    ...rowsOf(origin, logged, `${logged.kind}.edit` as Action, id, {
      before: before!,
      after: kept,
      person: formerPerson,
      ...(formerEvent !== undefined && { event: formerEvent }),
    }),
    ...rowsOf(origin, logged, action, id, { ...change, before: kept }),
  ]
}

/** The record without the personal values that a change replaces; undefined if there are none. */
function withoutWords({ personal }: Logged, before: unknown, after: unknown): Values | undefined {
  if (!hasMembers(before) || !hasMembers(after)) return undefined
  const replaced = personal.filter(
    name => isWritten(name, before, after) && isWritten(name, before, undefined),
  )
  const ends = replaced.map(name => [name, typeof before[name] === 'string' ? '' : null])
  return ends.length === 0 ? undefined : { ...before, ...Object.fromEntries(ends) }
}

function rowsOf(
  { actor, address }: Origin,
  { kind, plain, personal, person }: Logged,
  action: Action,
  id: number | null,
  { before, after, event, person: about }: Change,
): NewEntry[] {
  const previous = hasMembers(before) ? before : undefined
  const current = hasMembers(after) ? after : undefined
  const changed = (name: string) => isWritten(name, previous, current)
  const plainNames = plain.filter(changed)
  const personalNames = personal.filter(changed)
  if (previous && current && plainNames.length + personalNames.length === 0) return []
  const personalText =
    personalNames.length === 0
      ? ''
      : JSON.stringify({
          // 122 random bits, which Node buffers; fresh ones cost as much as a query.
          salt: randomUUID(),
          before: pick(previous, personalNames),
          after: pick(current, personalNames),
        })
  const row = {
    ...(event !== undefined && { id: event }),
    at: Date.now(),
    actor_kind: actor.kind,
    // Sessions are recorded by account identifier, which outlives its name.
    actor_name: actor.kind === 'key' ? actor.name : '',
    actor_id: actor.userId || null,
    address,
    action,
    record_kind: kind,
    record_id: id,
    before_values: text(previous, plainNames),
    after_values: text(current, plainNames),
    person_id: about ?? personOf(person, id, current ?? previous),
    personal_hash: personalText && personalHash(personalText),
    personal: personalText,
  }
  return [row]
}

/** The account that the record is about. */
function personOf(field: string | undefined, id: number | null, values: Values = {}): number | null {
  if (field === undefined) return null
  return field === 'id' ? id : Number(values[field] ?? 0) || null
}

function isWritten(name: string, before: Values | undefined, after: Values | undefined): boolean {
  if (before && after) {
    // Most values are the same, and cost nothing to compare.
    return before[name] !== after[name] && JSON.stringify(before[name]) !== JSON.stringify(after[name])
  }
  const value = (before ?? after)?.[name]
  return value !== undefined && value !== null && value !== ''
}

function pick(values: Values | undefined, names: readonly string[]): Values | undefined {
  return values && Object.fromEntries(names.map(name => [name, values[name]]))
}

/** Value by value: a function that `JSON.stringify` asks about each takes three times as long. */
function text(values: Values | undefined, names: readonly string[]): string {
  if (!values || names.length === 0) return ''
  const members: string[] = []
  for (const name of names) {
    const json = textOfValue(values[name])
    if (json !== undefined) members.push(`${JSON.stringify(name)}:${json}`)
  }
  return `{${members.join()}}`
}

const textOfMembers = (value: object): string => JSON.stringify(value, (_name, one) => brief(one))

const textOfValue = (value: unknown): string | undefined =>
  hasMembers(value) ? textOfMembers(value) : JSON.stringify(brief(value))

/** A value as the log has it. */
export const valueInLog = (value: unknown): unknown =>
  hasMembers(value) ? JSON.parse(textOfMembers(value)) : brief(value)

/** Replaces a long text, such as a list of thousands of identifiers, by its hash and length. */
function brief(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= LONGEST_TEXT) return value
  return `sha256:${hash('sha256', value, 'hex')} (${value.length} characters)`
}

export function personalHash(personal: string): string {
  return hash('sha256', personal, 'hex')
}
