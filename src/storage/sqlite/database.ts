/**
 * The embedded engine: `node:sqlite` under Kysely.
 *
 * Two connections to one file. The reader sees committed data. The writer carries one transaction at a time, and
 * transactions that wait at the same moment share one commit: each is answered, and seen by the reader, only when that
 * commit is on disk. One flush of the disk thus serves many requests, and the next transactions run meanwhile. A
 * transaction never sees half of another: the next begins when the previous one has ended. If one fails, those that share
 * its commit are run again, each in a savepoint.
 * See docs/decisions/shared-commits.md.
 */
import type { DatabaseSync } from 'node:sqlite'
import { type Kysely, sql } from 'kysely'
import { afterAnswers } from '../../base/turn.ts'
import type { ReadBudget } from '../budget.ts'
import { type Database, type DatabaseOptions, DatabaseUnavailable, type Tx } from '../database.ts'
import { ReadinessProbe } from '../probe.ts'
import type { Schema } from '../table.ts'
import type { Tables } from '../tables.ts'
import { commits } from '../timing.ts'
import { type Batch, isRelaxed, type Member, newBatch, onceGrown } from './batch.ts'
import { Checkpoints } from './checkpoints.ts'
import { BUSY_TIMEOUT_MS, type Connections, connect } from './connect.ts'
import { kyselyOn, SqliteConnection, writerOn } from './dialect.ts'
import { sqlite } from './engine.ts'
import { translate } from './errors.ts'
import { type Absence, fileOf, leaveOpen, watchFiles } from './files.ts'
import { Log } from './log.ts'
import { LoopTurn } from './loop-turn.ts'
import { Refusal } from './refusal.ts'
import { Snapshot } from './snapshot.ts'
import { Statements } from './statements.ts'
import { type ReadOnThread, SqliteThreads, ThreadedConnection } from './threads.ts'
import { whenFree } from './when-free.ts'

const TRANSACTIONS_PER_COMMIT = 128

/**
 * Opens a database file. Creates it and its folder if missing, unless `existing` is set.
 * @throws DatabaseUnusable if the file cannot be opened or is not a database
 */
export function openSqlite(url: string, schema: Schema, options: DatabaseOptions): Database {
  const file = fileOf(url)
  const connections = connect(file, options)
  const threads = new SqliteThreads(file, options.readOnly ?? false, translate)
  const { absence, log } = options.readOnly
    ? { absence: () => undefined, log: undefined }
    : { absence: watchFiles(file), log: new Log(file) }
  return new SqliteDatabase(schema, { ...connections, log }, threads, { absence, cutOff: options.cutOff })
}

/** Batches that use savepoints after one with a failure: where one fails, others soon do. */
const CAREFUL_BATCHES = 16

class SqliteDatabase implements Database {
  readonly engine = sqlite
  readonly schema: Schema
  readonly reader: Kysely<Tables>
  readonly replica: Kysely<Tables>
  readonly failed: Promise<DatabaseUnavailable>
  readonly #refusal: Refusal
  readonly #cutOff: AbortSignal | undefined
  readonly #probe = new ReadinessProbe(work => this.#transact(work))
  readonly #read: DatabaseSync
  readonly #write: DatabaseSync
  /** Undefined where nothing can be written. */
  readonly #log: Log | undefined
  readonly #threads: SqliteThreads
  readonly #snapshot: Snapshot
  readonly #writes: Statements
  readonly #checkpoints: Checkpoints
  readonly #tx: Tx
  /** Writers waiting for their turn, first come, first served. */
  readonly #waiting: (() => void)[] = []
  #busy = false
  readonly #loopTurn = new LoopTurn()
  #batch: Batch | undefined
  /** While the last commit is put on the disk: the next one waits for it. */
  #flushing: Promise<void> | undefined
  /** While a commit that nobody waits for is put on the disk: only another one of those waits for it. */
  #flushingAside: Promise<void> | undefined
  /** Stands for the lock of the file: another one each time it is taken. */
  #lock: object = {}
  /** Number of further batches that use savepoints. */
  #carefulFor = 0
  #closing: Promise<void> | undefined

  constructor(
    schema: Schema,
    { read, write, log }: Connections & { readonly log: Log | undefined },
    threads: SqliteThreads,
    { absence, cutOff }: Pick<DatabaseOptions, 'cutOff'> & { readonly absence: Absence },
  ) {
    this.schema = schema
    this.#read = read
    this.#write = write
    this.#log = log
    this.#threads = threads
    this.#refusal = new Refusal(absence)
    this.failed = this.#refusal.failed
    this.#cutOff = cutOff
    const reads = new Statements(read)
    this.#writes = new Statements(write)
    this.#snapshot = new Snapshot(reads, this.#writes)
    this.#checkpoints = new Checkpoints(reads, this.#writes, threads)
    this.reader = kyselyOn(
      new SqliteConnection((text, parameters) => {
        this.#refusal.check()
        this.#snapshot.begin()
        return reads.all(text, parameters)
      }),
    )
    this.replica = this.reader
    const writer = writerOn(
      (text, parameters) => this.#writes.all(text, parameters),
      () => this.#lock,
    )
    this.#tx = Object.assign(writer, { writes: true } as const)
  }

  background(budget?: ReadBudget): Database {
    const threaded = this.#threaded(query => this.#threads.read(query, budget))
    return {
      engine: sqlite,
      schema: this.schema,
      reader: threaded,
      replica: threaded,
      background: other => this.background(other ?? budget),
      snapshot: work => this.#threads.snapshot(read => work(this.#threaded(read)), budget),
      transaction: (work, mode) => this.transaction(work, mode),
      ready: () => this.ready(),
      close: () => this.close(),
    }
  }

  #threaded(read: ReadOnThread): Kysely<Tables> {
    return kyselyOn(
      new ThreadedConnection(query => {
        this.#refusal.check()
        return read(query)
      }),
    )
  }

  snapshot: Database['snapshot'] = work => this.background().snapshot(work)

  transaction: Database['transaction'] = (work, mode) =>
    this.#transact(work, mode === 'relaxed').catch(this.#probe.remember)

  async #transact<T>(work: (tx: Tx) => Promise<T>, relaxed = false): Promise<T> {
    if (this.#closing) throw new DatabaseUnavailable('SQLite: closed')
    // While another process writes, callers waiting for a turn wait for that process, too.
    const giveUpAt = performance.now() + BUSY_TIMEOUT_MS
    await this.#turn()
    let resultOf = (): T => {
      throw new Error('a transaction that did not run has no result')
    }
    const run = async () => {
      const result = await work(this.#tx)
      resultOf = () => result
    }
    const member: Member = { run, relaxed, failure: undefined }
    let batch: Batch | undefined
    try {
      batch = await this.#begin(giveUpAt)
      await this.#perform(batch, member)
    } catch (error) {
      member.failure = error
    }
    this.#next()
    // A failure, too, tells of what others have written, such as that something is there already.
    await batch?.committed.promise
    if (member.failure !== undefined) throw translate(member.failure)
    return resultOf()
  }

  refresh = (): void => this.#snapshot.refresh()

  version = (): number => {
    this.#refusal.check()
    return this.#snapshot.version()
  }

  async ready(): Promise<void> {
    this.#refusal.lookForFiles()
    await this.#probe.look(() => sql`SELECT version FROM schema_version`.execute(this.reader))
  }

  /** Serves the waiting writers, and refuses later ones. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    await this.#turn()
    await this.#flushed()
    this.#commit()
    await this.#flushed()
    // An unknown outcome can only be found out by the next start, and a file put in this one's place belongs to someone
    // else.
    if (this.#refusal.end()) return leaveOpen()
    await this.#threads.close()
    this.#log?.close()
    this.#snapshot.end()
    this.#read.close()
    this.#write.close()
  }

  async #turn(): Promise<void> {
    if (this.#busy) await new Promise<void>(turn => this.#waiting.push(turn))
    this.#busy = true
    if (this.#loopTurn.isLong) await new Promise<void>(afterAnswers)
  }

  /** Passes the turn on; if nobody waits, commits as soon as the requests that arrived together are served. */
  #next(): void {
    if (this.#batch && this.#batch.members.length >= TRANSACTIONS_PER_COMMIT) this.#commit()
    const turn = this.#waiting.shift()
    if (turn) {
      turn()
    } else {
      this.#busy = false
      this.#commitSoon()
    }
  }

  #commitSoon(): void {
    const batch = this.#batch
    if (batch) onceGrown(batch, () => this.#busy || this.#batch !== batch || this.#commit())
  }

  /** The open batch, or a new one. */
  async #begin(giveUpAt: number): Promise<Batch> {
    // The commit of as many as share one waits for the disk, and so does whoever comes next.
    if (this.#batch && this.#batch.members.length >= TRANSACTIONS_PER_COMMIT) {
      await this.#flushed()
      this.#commit()
    }
    this.#refusal.check()
    if (!this.#batch) {
      await this.#lockFile(giveUpAt)
      const careful = this.#carefulFor > 0
      if (careful) this.#carefulFor -= 1
      this.#batch = newBatch(careful)
    }
    return this.#batch
  }

  async #perform(batch: Batch, member: Member): Promise<void> {
    if (batch.careful) {
      await this.#inSavepoint(batch, member)
    } else {
      try {
        await member.run()
      } catch (error) {
        await this.#redo(batch, error)
        throw error
      }
    }
    batch.members.push(member)
  }

  /** Rolls back the batch, since a single failed member cannot be rolled back, and runs the others again. */
  async #redo(batch: Batch, cause: unknown): Promise<void> {
    // SQLite rolls back the whole transaction by itself if the disk is full or fails.
    if (!this.#write.isTransaction) return this.#giveUp(batch, cause)
    this.#carefulFor = CAREFUL_BATCHES
    try {
      this.#writes.run('ROLLBACK')
      if (batch.members.length === 0) {
        this.#batch = undefined
        batch.committed.resolve(this.#flushing?.then(() => this.#refusal.check()))
        return
      }
      await this.#lockFile(performance.now() + BUSY_TIMEOUT_MS)
    } catch (error) {
      return this.#giveUp(batch, error)
    }
    batch.careful = true
    for (const member of batch.members) {
      if (this.#batch !== batch) return
      try {
        await this.#inSavepoint(batch, member)
      } catch (error) {
        member.failure = error
      }
    }
  }

  async #inSavepoint(batch: Batch, { run }: Member): Promise<void> {
    this.#writes.run('SAVEPOINT work')
    try {
      await run()
      this.#writes.run('RELEASE work')
    } catch (error) {
      this.#undo(batch, error)
      throw error
    }
  }

  async #lockFile(giveUpAt: number): Promise<void> {
    await whenFree(giveUpAt, this.#cutOff, () => {
      if (this.#write.isTransaction) this.#writes.run('ROLLBACK')
      this.#writes.run('BEGIN IMMEDIATE')
    })
    this.#lock = {}
  }

  #undo(batch: Batch, cause: unknown): void {
    if (!this.#write.isTransaction) {
      this.#giveUp(batch, cause)
      return
    }
    try {
      this.#writes.run('ROLLBACK TO work')
      this.#writes.run('RELEASE work')
    } catch (error) {
      // It may contain half of the work, so it must not be committed.
      this.#giveUp(batch, error)
    }
  }

  #giveUp(batch: Batch, cause: unknown): void {
    this.#batch = undefined
    batch.committed.reject(translate(cause))
    try {
      if (this.#write.isTransaction) this.#writes.run('ROLLBACK')
    } catch {
      // The next batch tries again.
    }
  }

  #commit(): void {
    const batch = this.#batch
    if (!batch || this.#flushing) return
    const relaxed = isRelaxed(batch)
    if (relaxed && this.#flushingAside) return
    this.#batch = undefined
    try {
      this.#refusal.check()
      const { isFull } = this.#checkpoints
      if (isFull || relaxed) this.#snapshot.end()
      else this.#snapshot.hold()
      this.#writes.run('COMMIT')
      if (isFull) {
        this.#checkpoints.empty()
        this.#log?.flushAtOnce()
      }
    } catch (error) {
      this.#snapshot.release()
      this.#giveUp(batch, this.#refusal.afterFailed(error))
      return
    }
    if (relaxed) this.#flushingAside = this.#flushAside(batch)
    else this.#flushing = this.#flush(batch)
  }

  /** Puts on the disk what nobody waits for. */
  async #flushAside(batch: Batch): Promise<void> {
    batch.committed.resolve()
    this.#checkpoints.committed()
    try {
      await this.#log?.flush()
      if (commits.hasSubscribers) commits.publish(undefined)
    } catch (error) {
      // Later commits stand behind this one in the log.
      this.#refusal.afterFailed(error)
    }
    this.#flushingAside = undefined
    this.#commitSoon()
  }

  async #flushed(): Promise<void> {
    await Promise.all([this.#flushing, this.#flushingAside])
  }

  async #flush(batch: Batch): Promise<void> {
    try {
      // Of transactions that failed nothing is left to flush. Of two flushes that fail, the system may tell only one.
      await (batch.members.length > 0 && Promise.all([this.#log?.flush(), this.#flushingAside]))
      this.#refusal.checkCommitted()
      if (commits.hasSubscribers) commits.publish(undefined)
      this.#snapshot.release()
      batch.committed.resolve()
      this.#checkpoints.committed()
    } catch (error) {
      this.#snapshot.release()
      batch.committed.reject(this.#refusal.afterFailed(error))
    }
    this.#flushing = undefined
    // What has run meanwhile.
    this.#commitSoon()
  }
}
