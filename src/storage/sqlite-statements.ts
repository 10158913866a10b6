import type { DatabaseSync, StatementSync } from 'node:sqlite'

const STATEMENTS_KEPT = 500

/** Prepared statements of one connection by their text. Those in use come back soon when they were dropped. */
export class Statements {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known) return known
    if (this.#statements.size >= STATEMENTS_KEPT) {
      this.#statements.delete(this.#statements.keys().next().value!)
    }
    const statement = this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  /** Runs a statement that has neither parameters nor rows. */
  run(sql: string): void {
    this.prepare(sql).run()
  }
}
