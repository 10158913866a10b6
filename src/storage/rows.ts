/**
 * Makes rows of what an engine returns as arrays. An object that a literal makes has all of its properties at once, where one that is
 * filled by name, column by column, takes eight times as long; so such a literal is compiled for the columns of each statement.
 */
export type RowMaker<V> = (values: Readonly<Record<number, V>>) => Record<string, V>

/** @param columns by their names in the statement, which are part of the program and never a caller's */
export function rowMaker<V>(columns: readonly string[]): RowMaker<V> {
  const properties = columns.map((name, index) => `${JSON.stringify(name)}: values[${index}]`)
  return new Function(`return values => ({ ${properties.join(', ')} })`)()
}

/** The rows of a statement, as the query says that made it: a driver knows no types. */
export function rowsOf<R>(rows: unknown): R[] {
  // Cast: what a query returns is known to Kysely, and nobody could tell it from the rows.
  return rows as R[]
}
