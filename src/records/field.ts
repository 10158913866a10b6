/**
 * A field of a kind of record, as data: its column, how callers see it, what they send, and what lists can be narrowed
 * by. Pure: no field reads a database, and none knows of another.
 */
import type { Expression, RawBuilder, SqlBool } from 'kysely'
import type { Static, TSchema } from 'typebox'
import type { Settings } from '../base/settings.ts'
import type { Column } from '../storage/table.ts'

/** An argument that narrows a list. */
export interface Filter<S extends TSchema = TSchema> {
  readonly schema: S
  /** What is wrong with a value beyond what the schema says. */
  problem?(value: unknown, settings: Settings): string | undefined
  /**
   * @param args the other arguments of the list
   * @param name of this argument
   */
  keep(value: unknown, settings: Settings, args: Readonly<Record<string, unknown>>, name: string): unknown
  /** Its text may depend on which properties `value` has, never on what they are: see `prepared`. */
  where(column: RawBuilder<unknown>, value: unknown): Expression<SqlBool>[]
}

/** Curried, so that the compiler infers the schema before it looks at the functions. */
export const filter =
  <S extends TSchema>(schema: S) =>
  <K>(functions: {
    problem?: (value: Static<S>, settings: Settings) => string | undefined
    keep: (value: Static<S>, settings: Settings, args: Readonly<Record<string, unknown>>, name: string) => K
    where: (column: RawBuilder<unknown>, value: K) => Expression<SqlBool>[]
  }): Filter<S> =>
    ({ schema, ...functions }) as unknown as Filter<S>

/** The source of sample values. */
export interface Samples {
  /** From 0 to 1; the same series on every run. */
  random(): number
  /** The identifier of some row of a table. */
  row(table: string): number
  /** A time in seconds. */
  readonly time: number
}

/** An order of a list that is no column. */
interface ComputedOrder {
  of(column: RawBuilder<unknown>): Expression<unknown>
  /** The permission to read the records that it is computed from, where they are of another kind. */
  readonly needs?: string
}

/** @typeParam K what the column holds */
export interface Field<K = unknown> extends Column<K> {
  /** The column's name where it is not the field's. */
  readonly column?: string
  /** How callers see it; a field without is not part of the record. */
  readonly wire?: TSchema
  /** The schema of the argument; a field without it can't be sent. */
  readonly create?: TSchema
  readonly edit?: TSchema
  /** What the service fills in when a record is created: the time, or the account that acts. */
  readonly made?: 'time' | 'actor'
  /** The value of the column when nothing was sent. */
  readonly initial?: K
  /** The filter of the field's own name, and those of other names, in which * stands for the field's. */
  readonly filter?: Filter
  readonly filters?: Readonly<Record<string, Filter>>
  /** The expression that a list is ordered by where it is not the column; false where there is no order. */
  readonly order?: false | { readonly expression: Expression<unknown>; value(value: K): number | string }
  /** Further orders of a list, by name, which are computed from the column as text. Such a list reads every row. */
  readonly orders?: Readonly<Record<string, ComputedOrder>>
  // Methods, so that every Field<K> is a Field.
  show(value: K, settings: Settings): unknown
  /** The same as JSON text, where that is faster than `JSON.stringify`. */
  json?(value: K, settings: Settings): string
  keep?(value: never, settings: Settings): K
  /** What is wrong with a value beyond its schema. */
  problem?(value: never, settings: Settings): string | undefined
  sample(samples: Samples): K
}

/** For the conditions in definitions. */
export { sql } from 'kysely'

export type Fields = Readonly<Record<string, Field>>
