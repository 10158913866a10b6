/**
 * Rows that wait to be inserted together. The identifier of a row is known at once. Every statement that could select it does,
 * because the waiting rows of a table are inserted before a statement that names the table.
 */
import { insertRows } from '../insert-many.ts'
import type { RunDirectly, Waiting } from '../prepared.ts'
import { rowsOf } from '../rows.ts'

interface TableOfRows {
  readonly rows: object[]
  nextId: number
  /** For the text of each statement, whether it names the table. */
  readonly named: Map<string, boolean>
}

export class WaitingRows implements Waiting {
  readonly #run: RunDirectly
  #tables: Map<string, TableOfRows> | undefined
  #isPassed = false
  /** A row that the database has refused. */
  #refused: { readonly error: unknown } | undefined

  /** @param run runs a statement of the transaction */
  constructor(run: (text: string, parameters: readonly unknown[]) => unknown[]) {
    this.#run = (text, parameters) => rowsOf(run(text, parameters))
  }

  readonly run: RunDirectly = (text, parameters) => {
    if (this.#tables && !this.#isPassed) this.#insertBefore(text)
    return this.#run(text, parameters)
  }

  add<T extends object>(table: string, row: T): (T & { id: number }) | undefined {
    if (!this.#tables) return undefined
    let of = this.#tables.get(table)
    if (!of) {
      of = { rows: [], nextId: 0, named: new Map() }
      this.#tables.set(table, of)
    }
    if (of.rows.length === 0) of.nextId = this.#nextIdOf(table)
    const whole = { ...row, id: of.nextId }
    of.nextId += 1
    of.rows.push(whole)
    return whole
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#tables) return work()
    this.#tables = new Map()
    try {
      const result = await work()
      for (const name of this.#tables.keys()) this.#insert(name)
      // Even if the error was caught where a statement had caused the insertion: other rows of the same insertion are missing too.
      if (this.#refused) throw this.#refused.error
      return result
    } finally {
      this.#tables = undefined
      this.#refused = undefined
    }
  }

  pass<T>(query: () => T): T {
    this.#isPassed = true
    try {
      return query()
    } finally {
      this.#isPassed = false
    }
  }

  #insertBefore(text: string): void {
    for (const [name, { rows, named }] of this.#tables!) {
      if (rows.length === 0) continue
      let isNamed = named.get(text)
      if (isNamed === undefined) {
        isNamed = new RegExp(`\\b(?:${name}|sqlite_sequence)\\b`).test(text)
        named.set(text, isNamed)
      }
      if (isNamed) this.#insert(name)
    }
  }

  #insert(table: string): void {
    try {
      insertRows(this.#run, { table }, this.#tables!.get(table)!.rows.splice(0))
    } catch (error) {
      this.#refused ??= { error }
      throw error
    }
  }

  /** It stays free until the rows are inserted: SQLite has one writer, and its other insertions name the table. */
  #nextIdOf(table: string): number {
    const [row] = this.#run<{ seq: number }>('SELECT seq FROM sqlite_sequence WHERE name = ?', [table])
    return (row?.seq ?? 0) + 1
  }
}
