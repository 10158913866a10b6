/**
 * Inserts many rows by few statements: where they are round trips, one takes all rows as a single value; otherwise a
 * prepared statement takes several, since to begin one (each index is opened, and the last identifier read) costs as
 * much as to insert a row.
 */
import { type RawBuilder, sql } from 'kysely'
import { memberOf } from '../base/unknown.ts'
import type { Tx } from './database.ts'
import { directRun } from './prepared.ts'

/** Limits the length of the value. */
const ROWS_PER_STATEMENT = 1000
/** More gain nothing. The rest is inserted row by row, so that each table has two statements to be kept. */
const ROWS_AT_ONCE = 16

interface Insertion {
  readonly table: string
  /** Follows the rows: conflict clause and RETURNING. */
  readonly ending?: string
}

/**
 * @param rows all with the columns of the first
 * @returns the rows of `ending`, in the order of `rows`
 */
export async function insertMany<R>(
  tx: Tx,
  { table, ending = '' }: Insertion,
  rows: readonly object[],
): Promise<R[]> {
  const [first] = rows
  if (!first) return []
  const columns = Object.keys(first)
  const names = columns.map(name => `"${name}"`).join(', ')
  const returned: R[] = []
  const run = directRun(tx)
  if (run) {
    const marks = `(${columns.map(() => '?').join(', ')})`
    for (let start = 0, count: number; start < rows.length; start += count) {
      count = rows.length - start < ROWS_AT_ONCE ? 1 : ROWS_AT_ONCE
      const all = Array(count).fill(marks).join(', ')
      const values = rows.slice(start, start + count).flatMap(row => columns.map(name => memberOf(row, name)))
      returned.push(...run<R>(`INSERT INTO "${table}" (${names}) VALUES ${all} ${ending}`, values))
    }
    return returned
  }
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    const batch = rows.slice(start, start + ROWS_PER_STATEMENT)
    returned.push(...(await insertionOf<R>(table, names, ending, batch).execute(tx)).rows)
  }
  return returned
}

function insertionOf<R>(
  table: string,
  names: string,
  ending: string,
  rows: readonly object[],
): RawBuilder<R> {
  const to = sql.table(table)
  return sql<R>`INSERT INTO ${to} (${sql.raw(names)}) SELECT ${sql.raw(names)}
    FROM json_populate_recordset(NULL::${to}, ${JSON.stringify(rows, plain)}::json) ${sql.raw(ending)}`
}

/** JSON numbers are doubles; databases also read integers from text. */
function plain(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
