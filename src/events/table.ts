import type { Actor } from '../base/actor.ts'
import {
  ACCOUNTS,
  identity,
  integer,
  neither,
  nullable,
  type RowsOf,
  type Table,
  text,
} from '../storage/table.ts'

const entryColumns = {
  id: identity,
  /** Milliseconds since 1970. */
  at: integer(neither),
  actor_kind: text<Actor['kind']>(neither),
  /** The public part of an API key, else ''. */
  actor_name: text(neither),
  /** The account: the owner of the API key, or who had logged in. */
  actor_id: nullable(integer(neither)),
  address: text(neither),
  /** Such as 'affiliate.edit'. */
  action: text(neither),
  record_kind: text(neither),
  record_id: nullable(integer(neither)),
  /** JSON, or '' when there is nothing to say. */
  before_values: text(neither),
  after_values: text(neither),
  /** The account whom the change is about. */
  person_id: nullable(integer({ ...neither, references: { table: ACCOUNTS, person: true, outlives: true } })),
  /** SHA-256 of `personal` as it was written, which begins with a salt; '' when there was nothing personal. */
  personal_hash: text(neither),
  /** JSON with `salt`, `before` and `after`; '' when there was nothing personal, or it is erased. */
  personal: text({ personal: 'erase', money: false }),
} as const

/** Only added to. `personal` alone can be emptied, by the erasure of the person whom it is about. */
export const entriesTable = {
  name: 'events',
  key: ['id'],
  columns: entryColumns,
  copied: 'rows',
  appendOnly: true,
} as const satisfies Table

const sealColumns = {
  number: integer(neither),
  /** Milliseconds since 1970. */
  sealed_at: integer(neither),
  /** Identifiers of the entries that are sealed, such as '1-5,7'. */
  entries: text(neither),
  entry_count: integer(neither),
  /** In the order of the seals; the first event has 1. It follows from the seals before, so the hash leaves it out. */
  first_position: integer(neither),
  previous_hash: text(neither),
  hash: text(neither),
} as const

/** A link of the hash chain. */
export const sealsTable = {
  name: 'audit_seals',
  key: ['number'],
  columns: sealColumns,
  copied: 'rows',
  appendOnly: true,
} as const satisfies Table

const chainColumns = {
  id: integer(neither),
  number: integer(neither),
  hash: text(neither),
  last_entry: integer(neither),
  /**
   * JSON: identifiers below `last_entry` whose events were not there yet, as [first, last, next]. When no transaction runs
   * whose number is below `next`, they never will be.
   */
  missing: text(neither),
} as const

/** One row: where the chain ends. Whoever holds it may add a seal. */
export const chainTable = {
  name: 'audit_chain',
  key: ['id'],
  columns: chainColumns,
  copied: 'whole',
} as const satisfies Table

export interface EventsTable extends RowsOf<typeof entryColumns> {}
export interface AuditSealsTable extends RowsOf<typeof sealColumns> {}
export interface AuditChainTable extends RowsOf<typeof chainColumns> {}

declare module '../storage/tables.ts' {
  interface Tables {
    events: EventsTable
    audit_seals: AuditSealsTable
    audit_chain: AuditChainTable
  }
}
