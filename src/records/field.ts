/**
 * A field of a kind of record, as data: its column, its form in records and arguments, and its filters.
 * Pure: no field reads a database, and none knows of another.
 */
import type { Expression, RawBuilder, SqlBool } from 'kysely'
import type { Static, TSchema } from 'typebox'
import type { Settings } from '../base/settings.ts'
import type { Column } from '../storage/table.ts'

/** A list filter. */
export interface Filter<S extends TSchema = TSchema> {
  readonly schema: S
  /** Validation beyond the schema. */
  problem?(value: unknown, settings: Settings): string | undefined
  /**
   * @param args the list's other arguments
   * @param name of this argument
   */
  keep(value: unknown, settings: Settings, args: Readonly<Record<string, unknown>>, name: string): unknown
  /** Whether it looks at the folded text of a field that is `folded`. */
  readonly ofFolded?: true
  /** The SQL text may depend on which properties `value` has, never on their values: see `prepared`. */
  where(column: RawBuilder<unknown>, value: unknown): Expression<SqlBool>[]
}

/** Curried, so that TypeScript infers the schema before the functions. */
export const filter =
  <S extends TSchema>(schema: S) =>
  <K>(functions: {
    problem?: (value: Static<S>, settings: Settings) => string | undefined
    keep: (value: Static<S>, settings: Settings, args: Readonly<Record<string, unknown>>, name: string) => K
    where: (column: RawBuilder<unknown>, value: K) => Expression<SqlBool>[]
  }): Filter<S> =>
    ({ schema, ...functions }) as unknown as Filter<S>

/** Source of sample values. */
export interface Samples {
  /** From 0 to 1; the same series on every run. */
  random(): number
  /** Identifier of some row of a table. */
  row(table: string): number
  /** Seconds since 1970. */
  readonly time: number
}

/** A list order that is not a column. */
interface ComputedOrder {
  of(column: RawBuilder<unknown>): Expression<unknown>
  /** Permission to read the records it is computed from, if they are of another kind. */
  readonly needs?: string
}

/** @typeParam K type of the column's value */
export interface Field<K = unknown> extends Column<K> {
  /** The column's name, if it differs from the field's. */
  readonly column?: string
  /** Schema in the record; a field without it is not part of the record. */
  readonly wire?: TSchema
  /**
   * Whether the events of the API show it; where false, only the administration area does. Has to be said of a field that is
   * neither part of the record nor secret.
   */
  readonly inEvents?: boolean
  /** Schema of the argument; a field without it cannot be sent. */
  readonly create?: TSchema
  readonly edit?: TSchema
  /** What others call the record: a search for digits finds it as a whole, beside the identifier. Its column is indexed. */
  readonly alias?: true
  /** Searches look at it as it is stored, in small letters; at a field that is `folded`, they look at the folded text. */
  readonly searched?: true
  /** Filled in by the service on creation: the time, or the acting account. */
  readonly made?: 'time' | 'actor'
  /** Column value if nothing was sent. */
  readonly initial?: K
  /** `filter` has the field's own name; `filters` have other names, in which * stands for the field's. */
  readonly filter?: Filter
  readonly filters?: Readonly<Record<string, Filter>>
  /** Lists are sorted by its beginning only, since it may be long; false: not by it at all. */
  readonly order?: 'beginning' | false
  /** Further orders, by name, computed from the column as text. A list in such an order reads every row. */
  readonly orders?: Readonly<Record<string, ComputedOrder>>
  // Methods rather than function properties, so that every Field<K> is a Field.
  show(value: K, settings: Settings): unknown
  /** JSON text of `show`, where that is faster than `JSON.stringify`. */
  json?(value: K, settings: Settings): string
  keep?(value: never, settings: Settings): K
  /** Validation beyond the schema. */
  problem?(value: never, settings: Settings): string | undefined
  sample(samples: Samples): K
}

/** For the conditions in definitions. */
export { sql } from 'kysely'

export type Fields = Readonly<Record<string, Field>>

/** A field with its name and column. */
export interface Part {
  readonly name: string
  readonly column: string
  readonly field: Field
}

/** Whether a search looks at the field. */
export const isSearched = ({ field }: Part): boolean => Boolean(field.folded || field.searched)

/** The fields with their names and columns, in the order of the record. */
export function partsOf(fields: Fields): Part[] {
  return Object.entries(fields).map(([name, field]) => ({ name, column: field.column ?? name, field }))
}
