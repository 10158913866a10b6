import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import { codeOf } from '../../base/unknown.ts'
import { type RowMaker, rowMaker } from '../rows.ts'

const STATEMENTS_KEPT = 500

interface Known {
  readonly statement: StatementSync
  readonly columns: readonly string[]
  readonly rowOf: RowMaker<SQLOutputValue>
  /** Integers as bigint, for values beyond a JavaScript number. */
  large: boolean
  /** Whether it inserts one row at most, and returns its identifier. */
  readonly returnsId: boolean
}

/**
 * Statements that run without their RETURNING, for which SQLite builds a temporary table: that takes as long as inserting into a
 * dozen indexes. The identifier of a single row is known without it.
 */
const RETURNS_ID =
  /^(insert into "\w+" \([^()]*\) values \([^()]*\)(?: on conflict (?:\("\w+"\) )?do nothing)?) returning "id"$/

/**
 * Statements that can be run again if an integer turns out to be too large for a JavaScript number. A write cannot, so all its
 * integers are read as bigint.
 */
const READS = /^\s*(?:select|with|pragma)\b/i

/** Prepared statements of one connection, by their text. If one is dropped that is in use, it is soon prepared again. */
export class Statements {
  readonly #database: DatabaseSync
  readonly #known = new Map<string, Known>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  get isTransaction(): boolean {
    return this.#database.isTransaction
  }

  /** @returns the rows; a statement without result columns returns none */
  all(text: string, parameters: readonly unknown[]): Record<string, SQLOutputValue>[] {
    const prepared = this.#prepare(text)
    if (prepared.returnsId) return idOf(prepared, parameters)
    // Objects made here take half the time of those made by `node:sqlite`, and are faster to read.
    const rows = valuesOf(prepared, parameters).map(prepared.rowOf)
    if (prepared.large) {
      for (const row of rows) {
        for (const name of prepared.columns) {
          const value = row[name]
          if (typeof value === 'bigint') row[name] = plain(value)
        }
      }
    }
    return rows
  }

  /** Runs a statement without parameters and rows. */
  run(text: string): void {
    this.#prepare(text).statement.run()
  }

  #prepare(text: string): Known {
    const known = this.#known.get(text)
    if (known) return known
    if (this.#known.size >= STATEMENTS_KEPT) this.#known.delete(this.#known.keys().next().value!)
    const [, insertion] = RETURNS_ID.exec(text) ?? []
    const statement = this.#database.prepare(insertion ?? text)
    statement.setReturnArrays(true)
    const columns = statement.columns().map(column => column.name)
    const prepared = {
      statement,
      columns,
      rowOf: rowMaker<SQLOutputValue>(columns),
      large: columns.length > 0 && !READS.test(text),
      returnsId: insertion !== undefined,
    }
    if (prepared.large) statement.setReadBigInts(true)
    this.#known.set(text, prepared)
    return prepared
  }
}

/** @returns no row if none was inserted, because of a conflict */
function idOf({ statement }: Known, parameters: readonly unknown[]): { id: number }[] {
  const { changes, lastInsertRowid } = statement.run(...bindable(parameters))
  return changes === 0 ? [] : [{ id: Number(lastInsertRowid) }]
}

/** @returns the rows as values by position */
function valuesOf(prepared: Known, parameters: readonly unknown[]): Record<number, SQLOutputValue>[] {
  const bound = bindable(parameters)
  try {
    return prepared.statement.all(...bound)
  } catch (error) {
    if (codeOf(error) !== 'ERR_OUT_OF_RANGE' || prepared.large) throw error
    prepared.large = true
    prepared.statement.setReadBigInts(true)
    return prepared.statement.all(...bound)
  }
}

// Cast: SQLite itself refuses values it cannot bind.
const bindable = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[]

/** A number, or text if a number cannot hold it, as on the other engine. */
function plain(value: bigint): number | string {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}
