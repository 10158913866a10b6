/**
 * Many rows at once. Where a statement costs a trip, one takes all of them, as one value; where it does not, each is a run
 * of a statement that is prepared.
 */
import { type RawBuilder, sql } from 'kysely'
import { memberOf } from '../base/unknown.ts'
import type { Tx } from './database.ts'
import { directRun } from './prepared.ts'

/** So that no value becomes very long. */
const ROWS_PER_STATEMENT = 1000

interface Insertion {
  readonly table: string
  /** What follows the rows: what happens to those that are there, what comes back. */
  readonly ending?: string
}

/**
 * @param rows all with the columns of the first
 * @returns what `ending` asks for, in the order of the rows
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
  const run = directRun(tx)
  if (run) {
    const text = `INSERT INTO "${table}" (${names}) VALUES (${columns.map(() => '?').join(', ')}) ${ending}`
    return rows.flatMap(row =>
      run<R>(
        text,
        columns.map(name => memberOf(row, name)),
      ),
    )
  }
  const returned: R[] = []
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

/** JSON has no whole numbers that JavaScript's own can't hold; the database reads them from text as well. */
function plain(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
