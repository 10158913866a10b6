/**
 * What the rest of the program sees of a database.
 * Kysely builds the queries; there is no layer above it and no stand-in for tests. Where the engines differ,
 * the difference is a member of `Engine` or of `Database`, so no other file asks which engine it is.
 * See docs/decisions/two-engines.md.
 */
import type { ColumnDataType, Kysely } from 'kysely'
import type { TextSearch } from '../base/text.ts'
import type { ReadBudget } from './budget.ts'
import type { Schema } from './table.ts'
import type { Tables } from './tables.ts'

/** For reading what is committed. */
export type Db = Kysely<Tables>

/** A write transaction. Only `Database.transaction` makes one, so a function that takes a Tx can't run outside. */
export type Tx = Db & { readonly writes: true }

export interface Database {
  readonly engine: Engine
  /** Every table, as those declare them who own them. */
  readonly schema: Schema
  /** Sees what is committed, and nothing else. */
  readonly reader: Db
  /** The same for lists and records: may be read from a replica that has caught up, see `replica.ts`. */
  readonly replica: Db
  /**
   * The same database, whose `reader` and `replica` are meant for what takes long: callers read in turns, see `turns.ts`, on
   * the embedded engine on threads of its own, so that requests are answered meanwhile.
   * @param budget what may be read; without one, as long as it takes
   */
  background(budget?: ReadBudget): Database
  /**
   * Runs `work` in a write transaction and resolves once its effect is durable; when `work` throws, nothing
   * of it remains. On the embedded engine `work` should wait for nothing but the database.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>
  /**
   * A number that is another one once anything was committed, by whomever; where the engine can tell at once. Reads
   * that follow it immediately see the state that it stands for, or a later one.
   */
  readonly version?: () => number
  /** To be called when a request arrives: what is read from here on is not older. Where reads share a snapshot. */
  readonly refresh?: () => void
  /** Connections that are in use and free, and how many wait for one; where there is a pool. */
  readonly pool?: () => { used: number; free: number; waiting: number }
  /**
   * Resolves, where that can happen, once this process can't know any more what is committed and refuses everything: it
   * should end, so that a new start looks.
   */
  readonly failed?: Promise<DatabaseUnavailable>
  /** @throws DatabaseUnavailable when the database does not answer, or takes no writes */
  ready(): Promise<void>
  close(): Promise<void>
}

export interface TransactionOptions {
  /** Whatever the transaction reads stays as it is until it ends; run again when somebody else changed it meanwhile. */
  readonly steady?: boolean
}

/** A database whose transactions are all part of one that is open, and which reads what that one sees. */
export function within(database: Database, tx: Tx): Database {
  const joinedDatabase: Database = {
    engine: database.engine,
    schema: database.schema,
    ready: () => database.ready(),
    close: () => database.close(),
    reader: tx,
    replica: tx,
    background: () => joinedDatabase,
    transaction: work => work(tx),
  }
  return joinedDatabase
}

/** What may refuse a write, in the transaction that would do it. */
export interface Guards {
  before?(tx: Tx): Promise<void> | undefined
  /** At its end: what was written waited for others, and much may have happened. */
  after?(tx: Tx): Promise<void> | undefined
}

/** The same database, in which nothing is written unless the guards let it. One is made for each write. */
export class GuardedDatabase implements Database {
  readonly #database: Database
  readonly #guards: Guards

  constructor(database: Database, guards: Guards) {
    this.#database = database
    this.#guards = guards
  }

  get engine(): Engine {
    return this.#database.engine
  }

  get schema(): Schema {
    return this.#database.schema
  }

  get reader(): Db {
    return this.#database.reader
  }

  get replica(): Db {
    return this.#database.replica
  }

  background(budget?: ReadBudget): Database {
    return new GuardedDatabase(this.#database.background(budget), this.#guards)
  }

  transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#database.transaction(async tx => {
      const before = this.#guards.before?.(tx)
      if (before) await before
      const result = await work(tx)
      const after = this.#guards.after?.(tx)
      if (after) await after
      return result
    }, options)
  }

  ready(): Promise<void> {
    return this.#database.ready()
  }

  close(): Promise<void> {
    return this.#database.close()
  }
}

/** Tables that transactions keep each other from changing as a whole. */
export type Lock = 'settings'

/** A table, or an index, trigger or whatever else belongs to one, and what it is, in words that two databases can be compared by. */
export interface SchemaObject {
  readonly name: string
  readonly definition: string
}

/** What a migration needs to know of an engine. */
export interface Engine {
  readonly name: 'SQLite' | 'PostgreSQL'
  /** Column types. Text compares by code point on every engine. */
  readonly identity: string
  readonly integer: ColumnDataType
  readonly text: string
  /** What stands behind the closing parenthesis of CREATE TABLE. */
  readonly tableOptions: string
  /** Keeps other migrations out until the transaction ends, where writing alone does not, and lets this one take long. */
  readonly lockSchema: readonly string[]
  /** The last identifier that a table gave out; 0 before the first. */
  lastIdentity(db: Db, table: string): Promise<number>
  /** An identifier for a row that is yet to be inserted. */
  reserveIdentity(tx: Tx, table: string): Promise<number>
  /** The same for several rows, in ascending order. */
  reserveIdentities(tx: Tx, table: string, count: number): Promise<number[]>
  /** Until the transaction ends: together with others, or alone, where several transactions write at a time. */
  lock(tx: Tx, table: Lock, how: 'together' | 'alone'): Promise<void>
  /** Goes on behind this identifier, where rows were given theirs. */
  continueIdentity(tx: Tx, table: string, last: number): Promise<void>
  /** The action of a trigger that refuses what set it off. */
  readonly refusal: string
  /** Statements that keep the rows of a table from being removed, and these columns from being changed. */
  appendOnly(table: string, columns: readonly string[]): string[]
  /** What `appendOnly` refuses: each is a trigger `table_name`. */
  readonly refused: readonly string[]
  /** What the database has of these tables, and where it is the program's alone, all that it has. */
  objects(db: Db, tables: readonly string[]): Promise<SchemaObject[]>
  /** What a new database has, where none can be made to compare with. */
  readonly wantedObjects?: readonly SchemaObject[]
  /** Asks for the indexes that only make reading faster: `name`, `table` and the `definition` that makes each anew. */
  readonly indexes: string
  /** Takes back what `appendOnly` has said. */
  allowChanges(table: string): string[]
  /** The trigger `table_name`. */
  dropTrigger(table: string, name: string): string
  /**
   * Statements by which a transaction that adds rows to the table has its number before any of them has its identifier,
   * where transactions have numbers.
   */
  numbersFirst(table: string): string[]
  /** Where a transaction may commit after another one that has taken higher identifiers; see `events/seal.ts`. */
  readonly concurrent?: {
    /** The number of the oldest transaction that runs. */
    readonly oldest: string
    /** In a transaction: a number that no other has yet, above those of all that run. */
    readonly next: string
  }
  /** How names are found by a part of them. */
  readonly search: SearchIndex
  /** What is wrong with the files that the database is kept in, as far as they are its own to look at. */
  damages(db: Db): Promise<string[]>
  /** A query for the size of the database: one row with `bytes`. */
  readonly databaseSize: string
}

/** An index of the text of tables, which finds parts of words. See docs/decisions/search.md. */
export interface SearchIndex {
  /** Statements for a table that gets one, where that is all it takes. */
  indexed(table: string, columns: readonly string[]): string[]
  /**
   * Makes those that are missing, where a server must permit it.
   * @returns why they can't be had, so that searches look at every row
   */
  prepare?(database: Database, all: readonly Indexed[]): Promise<string | undefined>
  /**
   * Identifiers of all rows that match, and of others that may; more than the limit where there are more. What is
   * shorter than three letters is in no index, and looked for in every row until there are as many.
   */
  candidates(db: Db, of: Indexed, search: TextSearch, limit: number): Promise<number[]>
  /** Where the index is written later: whether there is enough that is not in it. */
  isBehind?(db: Db, of: Indexed): Promise<boolean>
  /** Writes a part of that. @returns whether there may be more */
  catchUp?(tx: Tx, of: Indexed): Promise<boolean>
  /** Empties it, so that it is written anew. */
  reset?(tx: Tx, of: Indexed): Promise<void>
}

/** A table that has a search index, and which columns are in it. */
export interface Indexed {
  readonly table: string
  readonly columns: readonly string[]
}

/** What can be chosen beside the URL. */
export interface DatabaseOptions {
  /** Refuses a database that is not there, or has no tables of this program, instead of making them. */
  readonly existing?: boolean
  /** Changes nothing, not even to bring the tables up to date; works on media that can only be read. */
  readonly readOnly?: boolean
  /** Refuses an embedded database that another process has open. */
  readonly alone?: boolean
  /** Takes a copy that is not complete, which is refused otherwise: what it has not got yet would be made anew. */
  readonly incomplete?: boolean
  /** Connections that this process opens at most. */
  readonly poolSize?: number | undefined
  /** Whether connections may prepare statements under names, which some poolers forbid; they do when omitted. */
  readonly isNaming?: boolean | undefined
  /** Where the key is that seals payment details; beside an embedded database when omitted. */
  readonly secretKeyFile?: string | undefined
  /** URL of a replica to read lists and records from. */
  readonly readUrl?: string | undefined
  /** How long a statement may take, where the engine can end one; without it, as long as it takes. */
  readonly statementMs?: number | undefined
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

/** A value that the database's own bounds refuse. */
export class BoundViolation extends Error {
  constructor(cause: unknown) {
    super('a value is out of its bounds', { cause })
    this.name = 'BoundViolation'
  }
}

/** A row refers to one that is not there, or no longer. */
export class ReferenceViolation extends Error {
  constructor(cause: unknown) {
    super('a row refers to one that is not there', { cause })
    this.name = 'ReferenceViolation'
  }
}

/** What the transaction has read is no longer so: it is run again from its beginning, as after a deadlock. */
export class LostRace extends Error {
  constructor() {
    super('another transaction has changed what this one relies on')
    this.name = 'LostRace'
  }
}

/** The database did not take the work: it is away, busy for too long, full, or was closed. Nothing was changed, unless it is in doubt. */
export class DatabaseUnavailable extends Error {
  readonly reason: Reason
  constructor(message: string, cause?: unknown, reason: Reason = 'no answer') {
    super(message, { cause })
    this.name = 'DatabaseUnavailable'
    this.reason = reason
  }
}

/** Why the database did not take the work, as far as callers may know. */
export type Reason =
  | 'no answer'
  /** Others have it to themselves for too long. */
  | 'busy'
  | 'full'
  | 'read-only'
  /** The disk fails. */
  | 'failing'
  | 'damaged'
  /** Its file was removed or replaced. */
  | 'removed'
  /** It failed while it was asked to commit: whether something was changed is not known. */
  | 'in doubt'
  /** A read used up its budget. */
  | 'too long'
  /** Nobody waits for the answer. */
  | 'not wanted'

/** The database can't be used at all; the message is for the operator. */
export class DatabaseUnusable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DatabaseUnusable'
  }
}
