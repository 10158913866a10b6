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
  /** May depend on what `value` has, never on its values: see `prepared`. */
  where(column: RawBuilder<unknown>, value: unknown): Expression<SqlBool>[]
}

/** Curried, so that the compiler infers the schema before it looks at the functions. */
export const filter =
  <S extends TSchema>(schema: S) =>
  <K>(of: {
    problem?: (value: Static<S>, settings: Settings) => string | undefined
    keep: (value: Static<S>, settings: Settings, args: Readonly<Record<string, unknown>>, name: string) => K
    where: (column: RawBuilder<unknown>, value: K) => Expression<SqlBool>[]
  }): Filter<S> =>
    ({ schema, ...of }) as unknown as Filter<S>

/** Where made-up values come from. */
export interface Samples {
  /** From 0 to 1, the same series each time. */
  random(): number
  /** The identifier of some row of a table. */
  row(table: string): number
  /** A time in seconds. */
  readonly time: number
}

/** What a list is ordered by that is no column. */
interface ComputedOrder {
  of(column: RawBuilder<unknown>): Expression<unknown>
  /** The permission to read what it is computed of, where that is another kind of record. */
  readonly needs?: string
}

/** @typeParam K what the column holds */
export interface Field<K = unknown> extends Column<K> {
  /** The column's name where it is not the field's. */
  readonly column?: string
  /** How callers see it; a field without is not part of the record. */
  readonly wire?: TSchema
  /** What callers may send. */
  readonly create?: TSchema
  readonly edit?: TSchema
  /** What the service fills in when a record is created: the time, or the account that acts. */
  readonly made?: 'time' | 'actor'
  /** What the column holds when nothing was sent. */
  readonly initial?: K
  /** The filter of the field's own name, and those of other names, in which * stands for the field's. */
  readonly filter?: Filter
  readonly filters?: Readonly<Record<string, Filter>>
  /** What a list is ordered by where it is not the column itself; false where it can't be. */
  readonly order?: false | { readonly expression: Expression<unknown>; value(value: K): number | string }
  /** Other orders of a list, by name: what is computed of the column, as text. Such a list looks at every row. */
  readonly orders?: Readonly<Record<string, ComputedOrder>>
  // Methods, so that every Field<K> is a Field.
  show(value: K, settings: Settings): unknown
  /** The same as JSON text, where that is faster than `JSON.stringify`. */
  json?(value: K, settings: Settings): string
  keep?(value: never, settings: Settings): K
  /** What is wrong with a value beyond what its schema says. */
  problem?(value: never, settings: Settings): string | undefined
  sample(samples: Samples): K
}

/** What definitions write their conditions with. */
export { sql } from 'kysely'

export type Fields = Readonly<Record<string, Field>>
