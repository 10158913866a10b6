/**
 * Inserts many rows by few statements: where they are round trips, one takes all rows as a single value; otherwise a
 * prepared statement takes several, since to begin one (each index is opened, and the last identifier read) costs as
 * much as to insert a row.
 */
import { type RawBuilder, sql } from 'kysely'
import { memberOf } from '../base/unknown.ts'
import type { Db, Tx } from './database.ts'
import { directRun, type RunDirectly, waitingOf } from './prepared.ts'

/** Limits the length of the value. */
const ROWS_PER_STATEMENT = 1000
/**
 * Of one statement where it is no round trip; more gain nothing. The rest is inserted row by row, so that each table has two
 * statements to be kept.
 */
export const ROWS_AT_ONCE = 16

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
  const run = directRun(tx)
  if (run) return insertRows(run, { table, ending }, rows)
  const names = namesOf(rows)
  const returned: R[] = []
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    const batch = rows.slice(start, start + ROWS_PER_STATEMENT)
    returned.push(...(await insertionOf<R>(table, names, ending, batch).execute(tx)).rows)
  }
  return returned
}

/** The same where a statement is no round trip. */
export function insertRows<R>(
  run: RunDirectly,
  { table, ending = '' }: Insertion,
  rows: readonly object[],
): R[] {
  const columns = Object.keys(rows[0] ?? {})
  const marks = `(${columns.map(() => '?').join(', ')})`
  const returned: R[] = []
  for (let start = 0, count: number; start < rows.length; start += count) {
    count = rows.length - start < ROWS_AT_ONCE ? 1 : ROWS_AT_ONCE
    const all = Array(count).fill(marks).join(', ')
    const values = rows.slice(start, start + count).flatMap(row => columns.map(name => memberOf(row, name)))
    returned.push(...run<R>(`INSERT INTO "${table}" (${namesOf(rows)}) VALUES ${all} ${ending}`, values))
  }
  return returned
}

const namesOf = ([first = {}]: readonly object[]) =>
  Object.keys(first)
    .map(name => `"${name}"`)
    .join(', ')

/**
 * Rows that `work` inserts by `insertLater` are inserted together where that is faster, at its end or before a statement
 * that names their table. A row that the database refuses fails the transaction then, and not whoever inserted it.
 */
export async function insertTogether<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const waiting = waitingOf(tx)
  return waiting ? waiting.during(work) : work()
}

/** @returns undefined where the row has to be inserted at once */
export function insertLater<T extends object>(
  tx: Tx,
  table: string,
  row: T,
): (T & { id: number }) | undefined {
  return waitingOf(tx)?.add(table, row)
}

/** Runs a query that names the table of waiting rows, and would not look at any of them. */
export function pastWaiting<T>(db: Db, query: () => Promise<T>): Promise<T> {
  return waitingOf(db)?.pass(query) ?? query()
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
