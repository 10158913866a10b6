import type { DatabaseSync, StatementSync } from 'node:sqlite'

const STATEMENTS_KEPT = 500

/** Prepared statements of one connection by their text, the least recently used first. */
export class Statements {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement) {
      this.#statements.delete(sql)
    } else {
      statement = this.#database.prepare(sql)
      if (this.#statements.size >= STATEMENTS_KEPT) {
        this.#statements.delete(this.#statements.keys().next().value!)
      }
    }
    this.#statements.set(sql, statement)
    return statement
  }
}
