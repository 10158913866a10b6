/** A database whose writes are checked. */
import type { ReadBudget } from './budget.ts'
import {
  type Database,
  DatabaseUnavailable,
  type Db,
  type Engine,
  type Gatherable,
  type TransactionMode,
  type Tx,
} from './database.ts'
import { type Guards, gatheringsOf } from './gatherings.ts'
import type { Schema } from './table.ts'

/** The same database with guards on every write. Created once per write. */
export class GuardedDatabase implements Database {
  readonly #database: Database
  readonly #guards: Guards
  readonly #past: { hasCommitted: boolean }

  constructor(database: Database, guards: Guards, past = { hasCommitted: false }) {
    this.#database = database
    this.#guards = guards
    this.#past = past
  }

  /** A failure as callers see it: after a commit, nobody can say any more that nothing was changed. */
  asReported(error: unknown): unknown {
    if (!this.#past.hasCommitted || !(error instanceof DatabaseUnavailable)) return error
    return new DatabaseUnavailable(error.message, error, 'in doubt')
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
    return new GuardedDatabase(this.#database.background(budget), this.#guards, this.#past)
  }

  snapshot<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return this.#database.snapshot(work)
  }

  async transaction<T>(work: (tx: Tx) => Promise<T>, mode?: TransactionMode): Promise<T> {
    const result = await this.#database.transaction(async tx => {
      const before = this.#guards.before?.(tx)
      if (before) await before
      const result = await work(tx)
      const after = this.#guards.after?.(tx)
      if (after) await after
      return result
    }, mode)
    this.#past.hasCommitted = true
    return result
  }

  async gather<T, R>(key: string, work: Gatherable<T, R>): Promise<R> {
    const result = await gatheringsOf(this.#database).run(key, work, this.#guards)
    this.#past.hasCommitted = true
    return result
  }

  ready(): Promise<void> {
    return this.#database.ready()
  }

  close(): Promise<void> {
    return this.#database.close()
  }
}
