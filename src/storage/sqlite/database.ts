/**
 * The embedded engine: `node:sqlite` under Kysely.
 *
 * Two connections to one file. The reader sees what is committed. The writer carries one transaction at a time,
 * and transactions that wait at the same moment share one commit: each runs in a savepoint of its own, and each
 * is answered only after the commit that holds it is on disk (WAL, synchronous=FULL). One flush of the disk then
 * pays for many requests. A transaction never sees half of another: the next begins when the last has ended.
 */
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import {
  type Database,
  type DatabaseOptions,
  DatabaseUnavailable,
  DatabaseUnusable,
  type Engine,
  type Tx,
} from '../database.ts'
import { refusals } from '../migrations.ts'
import { WriteProbe } from '../probe.ts'
import type { Schema } from '../table.ts'
import type { Tables } from '../tables.ts'
import { commits } from '../timing.ts'
import { kyselyOn, SqliteConnection } from './dialect.ts'
import { isInDoubt, primaryCode, SQLITE_BUSY, translate } from './errors.ts'
import {
  fileOf,
  inUse,
  isInUse,
  leaveOpen,
  makeFolder,
  refuseForeign,
  refuseMissing,
  watchFiles,
} from './files.ts'
import { Statements } from './statements.ts'
import { SqliteThreads } from './threads.ts'

const BUSY_TIMEOUT_MS = 5000
/** So that reads are refused as well, soon after the file was removed. */
const FILES_LOOKED_AT_EVERY_MS = 500
const TRANSACTIONS_PER_COMMIT = 128
const WRITE_CACHE_KIB = 32_768
const READ_CACHE_KIB = 8192
const PAGES_IN_LOG = 8000

const sqlite: Engine = {
  name: 'SQLite',
  identity: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  integer: 'integer',
  text: 'TEXT',
  tableOptions: 'STRICT',
  async lastIdentity(db, table) {
    const { rows } = await sql<{
      seq: number
    }>`SELECT seq FROM sqlite_sequence WHERE name = ${table}`.execute(db)
    return rows[0]?.seq ?? 0
  },
  async continueIdentity(tx, table, last) {
    await sql`DELETE FROM sqlite_sequence WHERE name = ${table}`.execute(tx)
    await sql`INSERT INTO sqlite_sequence (name, seq) VALUES (${table}, ${last})`.execute(tx)
  },
  refusal: "BEGIN SELECT RAISE(ABORT, 'The audit log is only added to.'); END",
  appendOnly: (table, columns) => refusals(table, columns, sqlite.refusal),
  allowChanges: table => ['delete', 'update'].map(name => sqlite.dropTrigger(table, name)),
  dropTrigger: (table, name) => `DROP TRIGGER ${table}_${name}`,
  numbersFirst: () => [],
  async damages(db) {
    const { rows: damages } = await sql<{ integrity_check: string }>`PRAGMA integrity_check`.execute(db)
    const { rows: orphans } = await sql<{ table: string; rowid: number; parent: string }>`
      PRAGMA foreign_key_check`.execute(db)
    return [
      ...damages.map(row => row.integrity_check).filter(text => text !== 'ok'),
      ...orphans.map(({ table, rowid, parent }) => `${table}: row ${rowid} refers to no row of ${parent}`),
    ]
  },
  databaseSize: 'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
}

/**
 * Opens a database file, making it and its folder when they do not exist and `existing` does not ask for one.
 * @throws DatabaseUnusable when the file can't be opened or is no database
 */
export function openSqlite(url: string, schema: Schema, { existing, alone }: DatabaseOptions): Database {
  const file = fileOf(url)
  if (existing) refuseMissing(file)
  const connections: DatabaseSync[] = []
  const connect = () => {
    const connection = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
    connections.push(connection)
    return connection
  }
  try {
    makeFolder(dirname(file))
    if (alone && isInUse(file)) throw inUse(file)
    const write = connect()
    refuseForeign(write, file, { write: true })
    write.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
    // What is erased is overwritten, and not only left out.
    write.exec('PRAGMA secure_delete = ON')
    // A savepoint remembers each page that its transaction touches: more than SQLite keeps in memory by itself, and a
    // third of a write was spent on temporary files.
    write.exec('PRAGMA temp_store = MEMORY')
    // A new record touches a page of each index: those pages are kept at hand, and are moved from the log into the
    // file (every 32 MiB) after they have taken many records, not few.
    write.exec(`PRAGMA cache_size = -${WRITE_CACHE_KIB}; PRAGMA wal_autocheckpoint = ${PAGES_IN_LOG}`)
    // A start after a failure finds in the log what may never have reached the disk. Before anybody reads it, it does.
    write.exec('PRAGMA wal_checkpoint(PASSIVE)')
    const read = connect()
    read.exec(`PRAGMA query_only = ON; PRAGMA cache_size = -${READ_CACHE_KIB}`)
    // From here on a busy database is waited for without blocking the process.
    write.exec('PRAGMA busy_timeout = 0')
    const threads = new SqliteThreads(file, BUSY_TIMEOUT_MS, translate)
    return new SqliteDatabase(schema, read, write, threads, watchFiles(file))
  } catch (error) {
    for (const connection of connections) connection.close()
    if (error instanceof DatabaseUnusable) throw error
    const { message } = translate(error) as Error
    throw new DatabaseUnusable(`The database ${file} can't be opened: ${message}.`, error)
  }
}

/** Transactions that share one commit. */
interface Batch {
  size: number
  readonly committed: PromiseWithResolvers<void>
}

class SqliteDatabase implements Database {
  readonly engine = sqlite
  readonly schema: Schema
  readonly reader: Kysely<Tables>
  readonly replica: Kysely<Tables>
  readonly background: Database
  readonly failed: Promise<DatabaseUnavailable>
  readonly #fail: (reason: DatabaseUnavailable) => void
  /** Why nothing is read or written any more. */
  #refusal: DatabaseUnavailable | undefined
  readonly #filesAreThere: () => boolean
  readonly #watch: NodeJS.Timeout
  readonly #probe = new WriteProbe(work => this.transaction(work))
  readonly #read: DatabaseSync
  readonly #write: DatabaseSync
  readonly #threads: SqliteThreads
  readonly #reads: Statements
  readonly #writes: Statements
  readonly #tx: Tx
  #reading = false
  /** Requests are being looked at, of which the first has ended what was read before. */
  #arriving = false
  /** Of the state that the open read transaction sees. */
  #version: number | undefined
  /** Those who wait for their turn to write, first come, first served. */
  readonly #waiting: (() => void)[] = []
  #busy = false
  #batch: Batch | undefined
  #closing: Promise<void> | undefined

  constructor(
    schema: Schema,
    read: DatabaseSync,
    write: DatabaseSync,
    threads: SqliteThreads,
    filesAreThere: () => boolean,
  ) {
    this.schema = schema
    this.#read = read
    this.#write = write
    this.#threads = threads
    const failed = Promise.withResolvers<DatabaseUnavailable>()
    this.failed = failed.promise
    this.#fail = failed.resolve
    this.#filesAreThere = filesAreThere
    this.#watch = setInterval(() => this.#lookForFiles(), FILES_LOOKED_AT_EVERY_MS).unref()
    this.#reads = new Statements(read)
    this.#writes = new Statements(write)
    this.reader = kyselyOn(
      new SqliteConnection((text, parameters) => {
        this.#beginRead()
        return this.#reads.all(text, parameters as SQLInputValue[])
      }),
    )
    this.replica = this.reader
    this.#tx = kyselyOn(
      new SqliteConnection((text, parameters) => this.#writes.all(text, parameters as SQLInputValue[])),
    ) as Tx
    const threaded = kyselyOn({
      executeQuery: async query => {
        this.#refuse()
        return threads.executeQuery(query)
      },
      streamQuery: () => threads.streamQuery(),
    })
    const background: Database = {
      engine: sqlite,
      schema,
      reader: threaded,
      replica: threaded,
      get background() {
        return background
      },
      transaction: work => this.transaction(work),
      ready: () => this.ready(),
      close: () => this.close(),
    }
    this.background = background
  }

  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#closing) throw new DatabaseUnavailable('SQLite: closed')
    // While another process writes, whoever waits for a turn waits for that process, too.
    const giveUpAt = performance.now() + BUSY_TIMEOUT_MS
    await this.#turn()
    let result: T
    let batch: Batch
    try {
      batch = await this.#begin(giveUpAt)
    } catch (error) {
      this.#next()
      throw translate(error)
    }
    try {
      result = await work(this.#tx)
      this.#writes.run('RELEASE work')
    } catch (error) {
      this.#undo(batch, error)
      this.#next()
      throw translate(error)
    }
    batch.size += 1
    this.#next()
    await batch.committed.promise
    return result
  }

  /**
   * A read that began after the requests of a turn were looked at (when a commit ended, or by a timer) stays open while
   * the next ones arrive, and another process may have written since.
   */
  refresh = (): void => {
    if (this.#arriving) return
    this.#arriving = true
    this.#endRead()
    setImmediate(() => {
      this.#arriving = false
    })
  }

  version = (): number => {
    this.#beginRead()
    this.#version ??= this.#reads.all('PRAGMA data_version', [])[0]!.data_version as number
    return this.#version
  }

  async ready(): Promise<void> {
    this.#lookForFiles()
    await sql`SELECT version FROM schema_version`.execute(this.reader)
    await this.#probe.look()
  }

  /** Lets those who wait for their turn write, and nobody who comes later. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    await this.#turn()
    this.#commit()
    clearInterval(this.#watch)
    // What is in doubt only the next start can find out, and what was put into the place of the file is another's.
    if (this.#refusal || !this.#filesAreThere()) return leaveOpen()
    await this.#threads.close()
    this.#endRead()
    this.#read.close()
    this.#write.close()
  }

  async #turn(): Promise<void> {
    if (this.#busy) await new Promise<void>(turn => this.#waiting.push(turn))
    this.#busy = true
  }

  /** Passes the turn on; when nobody waits, commits as soon as the requests that arrived together are served. */
  #next(): void {
    if (this.#batch && this.#batch.size >= TRANSACTIONS_PER_COMMIT) this.#commit()
    const turn = this.#waiting.shift()
    if (turn) {
      turn()
    } else {
      this.#busy = false
      setImmediate(() => {
        if (!this.#busy) this.#commit()
      })
    }
  }

  /** Opens a savepoint, inside of the batch that is open or of a new one. */
  async #begin(giveUpAt: number): Promise<Batch> {
    this.#refuse()
    if (!this.#batch) {
      await this.#lockFile(giveUpAt)
      this.#batch = { size: 0, committed: Promise.withResolvers() }
      // A batch of which every transaction failed has nobody who listens.
      this.#batch.committed.promise.catch(() => {})
    }
    this.#writes.run('SAVEPOINT work')
    return this.#batch
  }

  /** Another process may be writing: tries again until it is done, and lets this process go on meanwhile. */
  async #lockFile(giveUpAt: number): Promise<void> {
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 20)) {
      try {
        if (this.#write.isTransaction) this.#writes.run('ROLLBACK')
        return this.#writes.run('BEGIN IMMEDIATE')
      } catch (error) {
        if (primaryCode(error) !== SQLITE_BUSY || performance.now() > giveUpAt) throw error
        await delay(pauseMs * (0.5 + Math.random()))
      }
    }
  }

  #undo(batch: Batch, cause: unknown): void {
    // SQLite gives up the whole transaction by itself when the disk is full or fails.
    if (!this.#write.isTransaction) {
      this.#giveUp(batch, cause)
      return
    }
    try {
      this.#writes.run('ROLLBACK TO work')
      this.#writes.run('RELEASE work')
    } catch (error) {
      // Half of the work may still be in it, so nothing of it may be committed.
      this.#giveUp(batch, error)
    }
  }

  #giveUp(batch: Batch, cause: unknown): void {
    this.#batch = undefined
    batch.committed.reject(translate(cause))
    try {
      if (this.#write.isTransaction) this.#writes.run('ROLLBACK')
    } catch {
      // Whoever begins next tries again.
    }
  }

  /**
   * Requests that arrived together read in one transaction, because taking and dropping the locks of a file for every
   * query costs as much as a query. It ends before anything else that arrives is looked at, and before a commit is answered.
   */
  #beginRead(): void {
    this.#refuse()
    if (this.#reading) return
    this.#reads.run('BEGIN')
    this.#reading = true
    setImmediate(() => this.#endRead())
  }

  #endRead(): void {
    if (!this.#reading) return
    this.#reading = false
    this.#version = undefined
    // SQLite ends it by itself when the disk fails.
    if (this.#read.isTransaction) this.#reads.run('COMMIT')
  }

  #commit(): void {
    const batch = this.#batch
    if (!batch) return
    this.#batch = undefined
    this.#endRead()
    try {
      this.#writes.run('COMMIT')
      this.#lookForFiles()
      this.#refuse()
      if (commits.hasSubscribers) commits.publish(undefined)
      batch.committed.resolve()
    } catch (error) {
      this.#giveUp(batch, isInDoubt(error) ? this.#doubt(error) : error)
    }
  }

  /** What was read from here on would deny what the next start may find. */
  #doubt(cause: unknown): DatabaseUnavailable {
    const failure = new DatabaseUnavailable(
      `SQLite: ${(cause as Error).message}, while a change was put on the disk: it may have been made or not. Look at the disk and its log, and whether the change is there, before it is made again.`,
      cause,
      'in doubt',
    )
    this.#refusal = new DatabaseUnavailable('SQLite: refused, because an earlier change is in doubt', failure)
    this.#fail(failure)
    return failure
  }

  /** A file that was moved away may come back. */
  #lookForFiles(): void {
    if (this.#refusal && this.#refusal.reason !== 'removed') return
    this.#refusal = this.#filesAreThere()
      ? undefined
      : new DatabaseUnavailable(
          'SQLite: the file of the database, or its write-ahead log beside it (-wal), was removed or replaced: put it back, or stop the service, restore a backup, and start it again.',
          undefined,
          'removed',
        )
  }

  #refuse(): void {
    if (this.#refusal) throw this.#refusal
  }
}
