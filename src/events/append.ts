/**
 * What an event says: who did what to which record, when and from where.
 *
 * Only what is declared of a record is written (`Logged`): a password's hash or a token can't get in by being part of a
 * row. What is personal stands apart in an entry, beside a salted hash of itself. The hash chain
 * (`seal.ts`) covers the hash only, so what is personal can be erased and the chain still be checked.
 */
import { hash, randomUUID } from 'node:crypto'
import type { Origin } from '../base/actor.ts'
import { hasMembers } from '../base/unknown.ts'
import type { Logged } from '../storage/table.ts'
import type { Action } from './schema.ts'
import type { NewEntry } from './store.ts'

const LONGEST_TEXT = 2000

type Values = Readonly<Record<string, unknown>>

/** A record before and after a change, by the names of its fields. A record that was created has no `before`. */
export interface Change {
  readonly before?: object
  readonly after?: object
  /** The identifier that `WriteTx.reserveEvent` gave. */
  readonly event?: number
  /** The account whom the record is about, where no field says so. */
  readonly person?: number | null
}

/** @returns the row of the event; undefined when nothing has changed */
export function eventOf(
  { actor, address }: Origin,
  { kind, plain, personal, person }: Logged,
  action: Action,
  id: number | null,
  { before, after, event, person: about }: Change,
): NewEntry | undefined {
  const previous = hasMembers(before) ? before : undefined
  const current = hasMembers(after) ? after : undefined
  const changed = (name: string) => isWritten(name, previous, current)
  const plainNames = plain.filter(changed)
  const personalNames = personal.filter(changed)
  if (previous && current && plainNames.length + personalNames.length === 0) return undefined
  const personalText =
    personalNames.length === 0
      ? ''
      : JSON.stringify({
          // 122 random bits, which Node has ready; asking for fresh ones costs as much as a query.
          salt: randomUUID(),
          before: pick(previous, personalNames),
          after: pick(current, personalNames),
        })
  return {
    ...(event !== undefined && { id: event }),
    at: Date.now(),
    actor_kind: actor.kind,
    // The account behind a session is known by its identifier, which outlives its name.
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
}

/** The account whom the record is about. */
function personOf(field: string | undefined, id: number | null, values: Values = {}): number | null {
  if (field === undefined) return null
  return field === 'id' ? id : Number(values[field] ?? 0) || null
}

function isWritten(name: string, before: Values | undefined, after: Values | undefined): boolean {
  if (before && after) return JSON.stringify(before[name]) !== JSON.stringify(after[name])
  const value = (before ?? after)?.[name]
  return value !== undefined && value !== null && value !== ''
}

function pick(values: Values | undefined, names: readonly string[]): Values | undefined {
  return values && Object.fromEntries(names.map(name => [name, values[name]]))
}

const text = (values: Values | undefined, names: readonly string[]) =>
  values && names.length > 0 ? JSON.stringify(pick(values, names), (_name, value) => brief(value)) : ''

/** A long text, such as a list of thousands of identifiers, stands in the log as its hash and its length. */
export function brief(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= LONGEST_TEXT) return value
  return `sha256:${hash('sha256', value, 'hex')} (${value.length} characters)`
}

export function personalHash(personal: string): string {
  return hash('sha256', personal, 'hex')
}
