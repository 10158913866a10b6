/**
 * Inserts many rows by few statements. If a statement is a round trip, it takes all rows as a single JSON value. On the embedded
 * engine, a prepared statement takes several rows: starting one (it opens each index and reads the last identifier) costs as much
 * as inserting a row.
 */
import { sql } from 'kysely'
import { memberOf } from '../base/unknown.ts'
import type { Db, Tx } from './database.ts'
import { directRun, prepared, type Refuse, type RunDirectly, waitingOf } from './prepared.ts'

/** Limits the length of the JSON value. */
const ROWS_PER_STATEMENT = 1000
/**
 * Rows of one statement on the embedded engine; more are not faster. The rest is inserted row by row, so that only two statements
 * per table are cached.
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
  const insertion = insertionOf({ table, ending }, rows)
  const returned: R[] = []
  // Cast: the ending says what is returned.
  for (const batch of batchesOf(rows)) returned.push(...((await insertion(tx, batch)) as R[]))
  return returned
}

/**
 * The same where nobody waits for the rows: they travel with the transaction's next statement.
 * @param refuse throws the error to fail with, in place of the database's
 */
export async function insertManyUnawaited(
  tx: Tx,
  insertion: Insertion,
  rows: readonly object[],
  refuse?: Refuse,
): Promise<void> {
  const run = directRun(tx)
  if (!run) {
    for (const batch of batchesOf(rows)) await insertionOf(insertion, rows).later(tx, batch, refuse)
    return
  }
  try {
    insertRows(run, insertion, rows)
  } catch (error) {
    throw refuse ? refuse(error) : error
  }
}

/** The same for the embedded engine. */
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
 * Rows that `work` inserts by `insertLater` are inserted together, if that is faster: at the end, or before a statement that names
 * their table. If the database refuses one of them then, the transaction fails, not the call that inserted it.
 */
export async function insertTogether<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const waiting = waitingOf(tx)
  return waiting ? waiting.during(work) : work()
}

/** @returns the row with its identifier; undefined if the caller must insert it now, because rows are not collected */
export function insertLater<T extends object>(
  tx: Tx,
  table: string,
  row: T,
): (T & { id: number }) | undefined {
  return waitingOf(tx)?.add(table, row)
}

/** Runs a query that names the table of waiting rows, but cannot select any of them: they go on waiting. */
export function pastWaiting<T>(db: Db, query: () => Promise<T>): Promise<T> {
  return waitingOf(db)?.pass(query) ?? query()
}

function* batchesOf(rows: readonly object[]): Generator<{ rows: string }> {
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    yield { rows: JSON.stringify(rows.slice(start, start + ROWS_PER_STATEMENT), plain) }
  }
}

/** By their text: tables and columns are names in the program. */
const insertions = new Map<string, ReturnType<typeof newInsertion>>()

function insertionOf({ table, ending = '' }: Insertion, rows: readonly object[]) {
  const names = namesOf(rows)
  const key = `${table} ${names} ${ending}`
  const known = insertions.get(key) ?? newInsertion(table, names, ending)
  insertions.set(key, known)
  return known
}

function newInsertion(table: string, names: string, ending: string) {
  const to = sql.table(table)
  return prepared((db: Db, { rows }: { rows: string }) => ({
    compile: () =>
      sql<unknown>`INSERT INTO ${to} (${sql.raw(names)}) SELECT ${sql.raw(names)}
        FROM json_populate_recordset(NULL::${to}, ${rows}::json) ${sql.raw(ending)}`.compile(db),
  }))
}

/** JSON numbers are doubles, but databases also read integers from text. */
function plain(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
