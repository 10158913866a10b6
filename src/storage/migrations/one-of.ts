/**
 * Whether a column has one of these values. They are compared one by one: for an IN list of more than two, SQLite builds a table for
 * each row that is inserted, which takes longer than writing to an index.
 */
export const isOneOf = (column: string, ...values: readonly string[]) =>
  values.map(value => `${column} = '${value}'`).join(' OR ')

/** The constraint of a column that has one of these values. */
export const oneOf = (column: string, ...values: readonly string[]) => `CHECK (${isOneOf(column, ...values)})`
