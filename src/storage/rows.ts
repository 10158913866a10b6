/**
 * Turns array rows from an engine into objects. An object literal has all properties at once, whereas filling an object
 * column by column takes eight times as long; so a literal is compiled for the columns of each statement.
 */
export type RowMaker<V> = (values: Readonly<Record<number, V>>) => Record<string, V>

/** @param columns column names of the statement, which are part of the program and never a caller's */
export function rowMaker<V>(columns: readonly string[]): RowMaker<V> {
  const properties = columns.map((name, index) => `${JSON.stringify(name)}: values[${index}]`)
  return new Function(`return values => ({ ${properties.join(', ')} })`)()
}

/** Types a statement's rows as its query declares: a driver knows no types. */
export function rowsOf<R>(rows: unknown): R[] {
  // Cast: Kysely knows the type of a query's rows; they cannot be checked at run time.
  return rows as R[]
}
