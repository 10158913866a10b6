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
  /** The public part of an API key, otherwise ''. */
  actor_name: text(neither),
  /** The account: the owner of the API key, or the user who had logged in. */
  actor_id: nullable(integer(neither)),
  address: text(neither),
  /** Such as 'affiliate.edit'. */
  action: text(neither),
  record_kind: text(neither),
  record_id: nullable(integer(neither)),
  /** JSON, or '' if there are no values. */
  before_values: text(neither),
  after_values: text(neither),
  /** The account that the change is about. */
  person_id: nullable(integer({ ...neither, references: { table: ACCOUNTS, person: true, outlives: true } })),
  /** SHA-256 of `personal` as it was written, including its salt; '' if there was nothing personal. */
  personal_hash: text(neither),
  /** JSON with `salt`, `before` and `after`; '' if there was nothing personal, or it was erased. */
  personal: text({ personal: 'erase', money: false }),
} as const

/** Append-only. `personal` alone can be emptied, by erasure of the person that the entry is about. */
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
  /** Identifiers of the sealed entries, such as '1-5,7'. */
  entries: text(neither),
  entry_count: integer(neither),
  /**
   * Position in the order of the seals; the first event has 1. It follows from the earlier seals, so the hash leaves
   * it out.
   */
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
   * JSON: identifiers below `last_entry` whose events had not appeared yet, as [first, last, next]. Once no transaction
   * with a number below `next` is running, they never will.
   */
  missing: text(neither),
} as const

/** One row: the end of the chain. Its lock is required to add a seal. */
export const chainTable = {
  name: 'audit_chain',
  key: ['id'],
  columns: chainColumns,
  copied: 'whole',
} as const satisfies Table

const countColumns = {
  record_kind: text(neither),
  /** Of the field that the kind is counted by. */
  value: text(neither),
  records: integer(neither),
} as const

/** How many records there are, by what is sealed of the log; see `counts.ts`. */
export const countsTable = {
  name: 'record_counts',
  key: ['record_kind', 'value'],
  columns: countColumns,
  copied: 'never',
} as const satisfies Table

const countedColumns = {
  record_kind: text(neither),
  field: text(neither),
  /** The seal as of which the counts are right; a negative number when they are not. */
  as_of: integer(neither),
} as const

/** Kinds that were counted. Where one is not, or not as of the last seal, its rows have to be counted. */
export const countedTable = {
  name: 'counted_kinds',
  key: ['record_kind'],
  columns: countedColumns,
  copied: 'never',
} as const satisfies Table

export interface EventsTable extends RowsOf<typeof entryColumns> {}
export interface AuditSealsTable extends RowsOf<typeof sealColumns> {}
export interface AuditChainTable extends RowsOf<typeof chainColumns> {}
export interface RecordCountsTable extends RowsOf<typeof countColumns> {}
interface CountedKindsTable extends RowsOf<typeof countedColumns> {}

declare module '../storage/tables.ts' {
  interface Tables {
    events: EventsTable
    audit_seals: AuditSealsTable
    audit_chain: AuditChainTable
    record_counts: RecordCountsTable
    counted_kinds: CountedKindsTable
  }
}
