/**
 * The interface of a database to the rest of the program. Kysely builds the queries; there is no layer above it and no
 * stand-in for tests. Where the engines differ, the difference is a member of `Engine` or `Database`, so that no other
 * file asks which engine it is.
 * See docs/decisions/two-engines.md.
 */
import type { ColumnDataType, Kysely } from 'kysely'
import type { Failure } from '../base/errors.ts'
import type { TextSearch } from '../base/text.ts'
import type { ReadBudget } from './budget.ts'
import type { Schema } from './table.ts'
import type { Tables } from './tables.ts'

/** Reads committed data. */
export type Db = Kysely<Tables>

/** A write transaction. Only `Database.transaction` creates one, so a function that takes a Tx cannot run outside. */
export type Tx = Db & { readonly writes: true }

export interface Database {
  readonly engine: Engine
  /** All tables, as declared by the folders that own them. */
  readonly schema: Schema
  /** Sees committed data only. */
  readonly reader: Db
  /** The same for lists and records: may read from a replica that has caught up, see `replica.ts`. */
  readonly replica: Db
  /**
   * The same database with `reader` and `replica` for long reads: callers take turns (see `turns.ts`), on the embedded
   * engine on separate threads, so that requests are answered meanwhile.
   * @param budget limits the reads; without it they may take as long as they need
   */
  background(budget?: ReadBudget): Database
  /**
   * Runs `work`, which only reads, on what is committed at one moment; from a replica, as `replica` does. It is one long read,
   * and may be run again from its beginning. It should wait for nothing but its `db`: until it ends, the server cannot clean up
   * old rows, and the log of the embedded engine cannot begin anew.
   */
  snapshot<T>(work: (db: Db) => Promise<T>): Promise<T>
  /**
   * Runs `work` in a write transaction and resolves once its effect is durable; if `work` throws, it is rolled back. On
   * the embedded engine, `work` should wait for nothing but the database.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, mode?: TransactionMode): Promise<T>
  /**
   * Does it together with what others ask for under the same key at the same moment. Present where requests come in.
   * See docs/decisions/gathered.md.
   */
  gather?<T, R>(key: string, work: Gatherable<T, R>): Promise<R>
  /**
   * Changes with every commit by any process; present where the engine can tell at once. Reads that follow immediately
   * see that state or a later one.
   */
  readonly version?: () => number
  /** Must be called when a request arrives: later reads are at least as recent. Present where reads share a snapshot. */
  readonly refresh?: () => void
  /** Connections in use and free, and callers waiting for one; present where there is a pool. */
  readonly pool?: () => { used: number; free: number; waiting: number }
  /**
   * Resolves when this process can no longer know what is committed and refuses everything: it should exit, so that a new
   * start can find out. Present where that can happen.
   */
  readonly failed?: Promise<DatabaseUnavailable>
  /** @throws DatabaseUnavailable if the database does not answer, or accepts no writes */
  ready(): Promise<void>
  close(): Promise<void>
}

/** In which way a transaction differs from others. */
export type TransactionMode =
  /**
   * Repeatable reads: what the transaction has read stays unchanged; it is run again if someone else changed it
   * meanwhile.
   */
  | 'steady'
  /**
   * It writes many records, in an order of its own. One at a time does: two would lock the rows that they share, such as
   * balances, in a circle.
   */
  | 'many'
  /**
   * It fails where it would wait long for a lock, or be run again: whoever asks for it has another way. The embedded engine,
   * where nobody waits for a lock of a row, does not distinguish it.
   */
  | 'brief'
  /**
   * It resolves once it is committed, and may be lost if the machine fails soon after: nobody has been told of it. Whatever else
   * writes does not wait until it is on disk. PostgreSQL does not distinguish it.
   */
  | 'relaxed'

/** What can be done for one, or for many together. */
export interface Gatherable<T, R> {
  readonly item: T
  /** Does it for this item, in a transaction of its own. */
  one(): Promise<R>
  /**
   * Does it for many; the function of the last one is called, which has read last what it depends on, such as the settings.
   * @returns for each the result, or why there is none
   * @throws where it cannot be said whose failure it is: each is then done by itself
   */
  many(tx: Tx, items: readonly T[]): Promise<readonly (R | Failure)[]>
}

/** A database whose transactions join an open one, and whose reads go through it. */
export function within(database: Database, tx: Tx): Database {
  const joinedDatabase: Database = {
    engine: database.engine,
    schema: database.schema,
    ready: () => database.ready(),
    close: () => database.close(),
    reader: tx,
    replica: tx,
    background: () => joinedDatabase,
    snapshot: work => work(tx),
    transaction: work => work(tx),
  }
  return joinedDatabase
}

/** Tables that are locked as a whole. */
export type Lock = 'settings'

/**
 * A table, or an index, trigger or other object that belongs to one, with a definition that can be compared between
 * databases.
 */
export interface SchemaObject {
  readonly name: string
  readonly definition: string
}

/** An index or a foreign key of a table. */
export interface Addition {
  readonly table: string
  /** The statement that makes it, and the one that takes it away. */
  readonly made: string
  readonly removed: string
}

/** What migrations need to know about an engine. */
export interface Engine {
  readonly name: 'SQLite' | 'PostgreSQL'
  /** Column types. Text compares by code point on every engine. */
  readonly identity: string
  readonly integer: ColumnDataType
  readonly text: string
  /** Appended after the closing parenthesis of CREATE TABLE. */
  readonly tableOptions: string
  /** The same where rows are found by their primary key alone, which then is the only index. */
  readonly clusteredTableOptions: string
  /** Lift the limits of time until the transaction ends, where there are any. */
  readonly withoutLimits: readonly string[]
  /** Excludes other migrations until the transaction ends, where writing alone does not, and lifts the time limit. */
  readonly lockSchema: readonly string[]
  /** The last identifier that a table has assigned; 0 before the first. */
  lastIdentity(db: Db, table: string): Promise<number>
  /**
   * How many transactions of one caller may be in progress while others wait to be done together; Infinity where transactions run
   * one after the other, and commit together.
   */
  readonly mostInProgress: number
  /** Reserves the identifier of a row that will be inserted later. */
  reserveIdentity(tx: Tx, table: string): Promise<number>
  /**
   * The same where it saves a trip: who has reserved the identifier beside other work need not wait for the insertion. Undefined
   * where the database is near.
   */
  reserveAhead(tx: Tx, table: string): Promise<number | undefined>
  /** The same as `reserveIdentity` for several rows, in ascending order. */
  reserveIdentities(tx: Tx, table: string, count: number): Promise<number[]>
  /** Locks a table until the transaction ends, shared or exclusively; has no effect where transactions don't overlap. */
  lock(tx: Tx, table: Lock, how: 'together' | 'alone'): Promise<void>
  /** Continues identifiers after this one, when rows were inserted with their own. */
  continueIdentity(tx: Tx, table: string, last: number): Promise<void>
  /** Action of a trigger that refuses its statement. */
  readonly refusal: string
  /** Statements that protect a table's rows from deletion, and these columns from change. */
  appendOnly(table: string, columns: readonly string[]): string[]
  /** Operations that `appendOnly` refuses: each has a trigger `table_name`. */
  readonly refused: readonly string[]
  /** Objects of these tables and, where the database belongs to the program alone, all others. */
  objects(db: Db, tables: readonly string[]): Promise<SchemaObject[]>
  /** Objects of a new database, where none can be created for comparison. */
  readonly wantedObjects?: readonly SchemaObject[]
  /**
   * Query for what costs each new row of a table, and can be made when all are there: indexes that only serve reads, and where
   * it can be added to a table, foreign keys. Its rows are `Addition`s.
   */
  readonly additions: string
  /** Reverts `appendOnly`. */
  allowChanges(table: string): string[]
  /** Drops the trigger `table_name`. */
  dropTrigger(table: string, name: string): string
  /**
   * Statements that let nobody else read or write these tables until the transaction ends, where others run meanwhile: a
   * migration that makes a table anew from its rows begins with them. In the order in which others write the tables.
   */
  lockTables(tables: readonly string[]): string[]
  /**
   * Statements that make a transaction get its number before its first row in the table gets an identifier, where
   * transactions have numbers.
   */
  numbersFirst(table: string): string[]
  /** Present where a transaction may commit after another one that took higher identifiers; see `events/seal.ts`. */
  readonly concurrent?: {
    /** Number of the oldest running transaction. */
    readonly oldest: string
    /** Within a transaction: a new number, above those of all running ones. */
    readonly next: string
  }
  /** Whether concurrent work has made it fail: the transaction is run again from its beginning. */
  isLostRace(error: unknown): boolean
  /** How names are found by a part of them. */
  readonly search: SearchIndex
  /** Damage of the database files, where they are accessible. */
  damages(db: Db): Promise<string[]>
  /** Query for the size of the database: one row with `bytes`. */
  readonly databaseSize: string
}

/** An index of the text of tables, which finds parts of words. See docs/decisions/search.md. */
export interface SearchIndex {
  /** Statements for a table that gets one, where that is all it takes. */
  indexed(table: string, columns: readonly string[]): string[]
  /**
   * Makes those that are missing, where a server must permit it.
   * @returns why they cannot be had, so that searches look at every row
   */
  prepare?(database: Database, all: readonly Indexed[]): Promise<string | undefined>
  /**
   * Identifiers of all rows that match, and of others that may; more than the limit where there are more. What is
   * shorter than three letters is in no index, and looked for in every row until there are as many.
   */
  candidates(db: Db, of: Indexed, search: TextSearch, limit: number): Promise<number[]>
  /** Present where the program writes the index, some time after the rows. */
  readonly later?: IndexWriter
}

/** Writes a search index in parts. */
interface IndexWriter {
  /** Whether enough rows are outside the index to write a part. */
  isBehind(db: Db, of: Indexed): Promise<boolean>
  /** Writes a part. @returns whether there may be more */
  catchUp(tx: Tx, of: Indexed): Promise<boolean>
  /** Empties the index, so that it is written anew. */
  reset(tx: Tx, of: Indexed): Promise<void>
}

/** A table that has a search index, and which columns are in it. */
export interface Indexed {
  readonly table: string
  readonly columns: readonly string[]
}

/** Options beside the URL. */
export interface DatabaseOptions {
  /** Refuses a missing database, or one without tables of this program, instead of creating them. */
  readonly existing?: boolean
  /** Changes nothing, not even by migration; works on read-only media. */
  readonly readOnly?: boolean
  /** Creates the tables of a new database, and refuses one of an older version: a program of that version may be using it. */
  readonly onlyNew?: boolean
  /** Refuses an embedded database that another process has open. */
  readonly alone?: boolean
  /** Accepts an incomplete copy, which is otherwise refused: missing parts would be created anew. */
  readonly incomplete?: boolean
  /** Maximum number of connections of this process. */
  readonly poolSize?: number | undefined
  /** Whether connections may name prepared statements, which some poolers forbid; true by default. */
  readonly isNaming?: boolean | undefined
  /** File with the key that seals payment details; by default beside an embedded database. */
  readonly secretKeyFile?: string | undefined
  /** URL of a replica to read lists and records from. */
  readonly readUrl?: string | undefined
  /** Called when the replica is no longer used, with the reason, and when it is used, without one. */
  readonly onReplica?: ((reason?: string) => void) | undefined
  /** How long a statement may take, where the engine can end one; without it, as long as it takes. */
  readonly statementMs?: number | undefined
  /** Aborted when nobody waits for work in progress any more; connections to a server are then closed. */
  readonly cutOff?: AbortSignal | undefined
}

/** A unique constraint was violated; `key` is 'table.column'. */
export class UniqueViolation extends Error {
  readonly key: string
  constructor(key: string, cause: unknown) {
    super(`not unique: ${key}`, { cause })
    this.name = 'UniqueViolation'
    this.key = key
  }
}

/** A value violates a CHECK. */
export class BoundViolation extends Error {
  constructor(cause: unknown) {
    super('a value is out of its bounds', { cause })
    this.name = 'BoundViolation'
  }
}

/** A row refers to one that does not exist, or still does when it is deleted. */
export class ReferenceViolation extends Error {
  constructor(cause: unknown) {
    super('a row refers to one that is not there', { cause })
    this.name = 'ReferenceViolation'
  }
}

/** Another transaction has changed what this one has read: it is run again from its beginning, as after a deadlock. */
export class LostRace extends Error {
  constructor() {
    super('another transaction has changed what this one relies on')
    this.name = 'LostRace'
  }
}

/**
 * For a write of what was free when it was looked for: run again, the transaction finds what has taken it.
 * @throws LostRace for a violated unique constraint, and any other error as it is
 */
export function throwLostRace(cause: unknown): never {
  throw cause instanceof UniqueViolation ? new LostRace() : cause
}

/** The database did not do the work, since it is unreachable, busy for too long, full or closed. Nothing was changed, unless `in doubt`. */
export class DatabaseUnavailable extends Error {
  readonly reason: Reason
  constructor(message: string, cause?: unknown, reason: Reason = 'no answer') {
    super(message, { cause })
    this.name = 'DatabaseUnavailable'
    this.reason = reason
  }
}

/** Why the database did not do the work, as far as callers may know. */
export type Reason =
  | 'no answer'
  /** Locked by others for too long. */
  | 'busy'
  | 'full'
  | 'read-only'
  /** The disk fails. */
  | 'failing'
  | 'damaged'
  /** Its file was removed or replaced. */
  | 'removed'
  /** What belongs to it was replaced, so that only a new start can tell what is there. */
  | 'replaced'
  /** A commit failed in a way that leaves its outcome unknown. */
  | 'in doubt'
  /** A read exceeded its budget. */
  | 'too long'
  /** Nobody waits for the answer. */
  | 'not wanted'

/** The database cannot be used at all; the message is for the operator. */
export class DatabaseUnusable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DatabaseUnusable'
  }
}

/** The URL cannot be that of a database; the message is for the operator. */
export class UrlInvalid extends DatabaseUnusable {}
