/**
 * A kind of record: its fields and everything derived from them. What is derived is pure; rules, joins, computed fields
 * and side effects are written by hand beside the definition.
 * See docs/decisions/records-as-data.md.
 */
import type { Selectable, Simplify } from 'kysely'
import { type Static, type TInteger, type TObject, type TSchema, Type } from 'typebox'
import type { Problems } from '../base/errors.ts'
import { identifier } from '../base/schemas.ts'
import type { Settings } from '../base/settings.ts'
import { pascalCase } from '../base/words.ts'
import {
  ACCOUNTS,
  type Column,
  foldedText,
  type Identity,
  identity,
  integer,
  type Logged,
  neither,
  type Table,
} from '../storage/table.ts'
import { type Field, type Fields, isSearched, type Part, partsOf, type Samples } from './field.ts'
import { type Criteria, criteriaOf, filterArguments, filterProblems, filtersOf } from './filters.ts'

type Name<F> = keyof F & string
type Stored<F> = F extends { show(value: infer K, settings: Settings): unknown } ? K : never
type ColumnOf<N extends string, F> = F extends { readonly column: infer C extends string } ? C : N

/** Column types of the fields. */
type ColumnsOf<F extends Fields> = { [N in Name<F> as ColumnOf<N, F[N]>]: Stored<F[N]> } & {
  [N in Name<F> as F[N] extends { readonly folded: true } ? `${ColumnOf<N, F[N]>}_key` : never]: string
}
export type TableOf<F extends Fields> = Simplify<{ id: Identity; updated_at: number } & ColumnsOf<F>>
export type RowOf<F extends Fields> = Selectable<TableOf<F>>
/** Columns of the record, which are what lists and look-ups read. */
type ReadColumn<F extends Fields> =
  | 'id'
  | { [N in Name<F>]: F[N] extends { wire: TSchema } ? ColumnOf<N, F[N]> : never }[Name<F>]
export type ReadRowOf<F extends Fields> = Pick<RowOf<F>, ReadColumn<F> & keyof RowOf<F>>

type With<Part extends string, F extends Fields> = {
  [N in Name<F> as F[N] extends Record<Part, TSchema> ? N : never]: F[N] extends Record<
    Part,
    infer S extends TSchema
  >
    ? S
    : never
}
type Own<N extends string, S extends TSchema> = { [K in `${N}_id`]: S }
type RecordProperties<N extends string, F extends Fields> = Own<N, TInteger> & { id: TInteger } & With<
    'wire',
    F
  >
type EditProperties<N extends string, F extends Fields> = Own<N, TInteger> & With<'edit', F>

/** Columns of required arguments, and optionally those of the others. */
type Maybe<A> = { [N in keyof A]-?: undefined extends A[N] ? N : never }[keyof A]
type StoredOf<F extends Fields, A> = Simplify<
  ColumnsOf<Pick<F, keyof F & Exclude<keyof A, Maybe<A>>>> & Partial<ColumnsOf<Pick<F, keyof F & Maybe<A>>>>
>

/** A field that says whether the events of the API show it. */
type SaysReader = { readonly wire: TSchema } | { readonly secret: true } | { readonly inEvents: boolean }

/**
 * Checks that `show` returns what `wire` declares, that `keep` accepts what may be sent, and that the field says who
 * reads it in events: otherwise the field must be `never`.
 */
type Checked<F extends Fields> = {
  [N in keyof F]: F[N] extends { wire: infer W extends TSchema; show(value: never, s: Settings): infer R }
    ? R extends Static<W>
      ? F[N] extends { create: infer C extends TSchema; keep(value: infer V, s: Settings): unknown }
        ? Static<C> extends V
          ? unknown
          : never
        : unknown
      : never
    : F[N] extends SaysReader
      ? unknown
      : never
}

/** The path of the records of a table, below that of the interface. */
export const pathOf = ({ name }: Pick<Table, 'name'>): string => `/${name.replaceAll('_', '-')}`

export interface Kind<N extends string = string, T extends string = string, F extends Fields = Fields> {
  readonly name: N
  readonly title: string
  readonly fields: F
  readonly table: Table & { readonly name: T; readonly logged: Logged }
  /** Schema of the record, its fields in order. */
  readonly record: TObject<RecordProperties<N, F>>
  readonly create: TObject<With<'create', F>>
  readonly edit: TObject<EditProperties<N, F>>
  readonly item: TObject<Own<N, TInteger>>
  /** Untyped by name: the list passes on what was sent. */
  readonly filters: Readonly<Record<never, TSchema>>
  /** Fields computed from other records, which cannot be sent. */
  readonly derived: readonly string[]
  /** Fields that follow from other records, and change without an event. */
  readonly unlogged: readonly string[]
  /** Fields with an index in list order, equal values ordered by identifier. */
  readonly indexed: readonly string[]
  /** Whether a page of a day is read from an index, in the order of identifiers. */
  readonly hasDayIndex: boolean
  /** Validation beyond the schemas. Arguments that were not sent are not checked. */
  problems(args: object, settings: Settings): Problems
  /** Columns of the arguments that were sent. */
  keep<const A extends object>(args: A, settings: Settings): StoredOf<F, A>
  /** A whole row: arguments, values filled in by the service, and initial values of the rest. */
  newRow(
    args: object,
    settings: Settings,
    origin: { time: number; actor: number },
  ): Omit<TableOf<F>, 'id'> & { id?: never }
  /** The record as callers see it. */
  show(row: ReadRowOf<F>, settings: Settings): Static<TObject<RecordProperties<N, F>>>
  /** JSON text of `show`. */
  write(row: ReadRowOf<F>, settings: Settings): string
  /** Values for the log: the record, and fields that the record does not show. */
  logged(row: RowOf<F>, settings: Settings): object
  /** A sample row. */
  sample(samples: Samples): object
  /** Validation of the list's filters. */
  filterProblems(args: object, settings: Settings): Problems
  criteria(args: object, settings: Settings): Criteria
}

const crudActions = ['create', 'edit', 'delete'] as const

/** Actions of a kind that declares no others. */
export type CrudAction = (typeof crudActions)[number]

interface Definition<N, T, F> {
  /** Singular, as in identifiers, permissions and actions. */
  readonly name: N
  readonly table: T
  /** Plural, for people; derived from the table's name if omitted. */
  readonly title?: string
  readonly fields: F
  /** Logged actions; create, edit and delete if omitted. */
  readonly actions?: readonly string[]
  /** Those of the actions that can create a record; `create` alone if omitted. */
  readonly creating?: readonly string[]
  /**
   * Puts `id` at the end of the record, as client programs of AffiliateWP expect; otherwise it follows the kind's own
   * identifier.
   */
  readonly idLast?: true
  /** Values in events, beside the fields: those that are not personal, and those that are. */
  readonly plain?: readonly string[]
  readonly personal?: readonly string[]
  /** Description of what search covers, if it is more than the identifier and the kind's own fields. */
  readonly search?: string
  /**
   * Fields with an index in list order, equal values ordered by identifier. A page in such an order, or of a single
   * value, reads few rows and is read at once; any other list may read every row, and waits for its turn to be read.
   * A test checks that the database has the index. See docs/decisions/bounded-reads.md.
   */
  readonly indexed?: readonly (keyof F & string)[]
  /**
   * So many have one day in `created_at` that sorting them takes long: they are read in the order of identifiers from an index,
   * which a migration makes (`visitsByDay`).
   */
  readonly hasDayIndex?: true
  /** Searches look its folded fields up in an index, which a migration makes (`migrations/search.ts`). */
  readonly hasSearchIndex?: true
  /**
   * A field such as the status, of whose values it is kept how many records have each, so that lists know their length at once:
   * text that is not personal, in a column of the same name, each of whose changes has an event.
   * See docs/decisions/record-counts.md.
   */
  readonly counted?: keyof F & string
  /** Fields that follow from other records, and change without an event: `check` cannot compare them with the log. */
  readonly unlogged?: readonly (keyof F & string)[]
  /** Excludes its events from the API: they are for the administration area. */
  readonly internal?: true
}

type Row = Readonly<Record<string, unknown>>

/**
 * Derives what follows from a definition: the table, schemas of record and arguments, filters, and how rows are read and written.
 * @throws Error where two filters of its lists would have the same name, or `counted` names no field that allows it
 */
export function kind<const N extends string, const T extends string, const F extends Fields>(
  definition: Definition<N, T, F> & { readonly fields: Checked<F> },
): Kind<N, T, F> {
  const { name, table, fields, idLast = false } = definition
  const parts = partsOf(fields)
  const idName = `${name}_id`
  const schemas = (part: 'wire' | 'create' | 'edit') =>
    Object.fromEntries(parts.flatMap(({ name, field }) => (field[part] ? [[name, field[part]]] : [])))
  const item = { [idName]: identifier(`Identifier of the ${name.replaceAll('_', ' ')}.`) }
  const id = { id: Type.Integer({ description: `Same as ${idName}.` }) }
  const filters = filtersOf(parts)
  return {
    name,
    title: definition.title ?? (table.charAt(0).toUpperCase() + table.slice(1)).replaceAll('_', ' '),
    fields,
    table: {
      name: table,
      key: ['id'],
      columns: tableColumns(parts),
      copied: 'rows',
      ...(definition.hasSearchIndex && { hasSearchIndex: true as const }),
      logged: loggedOf(parts, definition),
    },
    record: Type.Object(
      {
        [idName]: Type.Integer({ description: `Identifier of the ${name.replaceAll('_', ' ')}.` }),
        ...(!idLast && id),
        ...schemas('wire'),
        ...(idLast && id),
      },
      { title: pascalCase(name) },
    ),
    create: Type.Object(schemas('create')),
    edit: Type.Object({ ...item, ...schemas('edit') }),
    item: Type.Object(item),
    derived: parts
      .filter(({ field }) => field.wire && !field.create && !field.edit && !field.made)
      .map(({ name }) => name),
    unlogged: definition.unlogged ?? [],
    indexed: definition.indexed ?? [],
    hasDayIndex: definition.hasDayIndex ?? false,
    filters: filterArguments(name, filters, definition.search ?? searchDescription(parts)),
    problems: (args: Row, settings: Settings) => problemsOf(parts, args, settings),
    keep: (args: Row, settings: Settings) => keep(parts, args, settings),
    newRow: (args: Row, settings: Settings, origin: { time: number; actor: number }) =>
      newRow(parts, args, settings, origin),
    sample: (samples: Samples) => sample(parts, samples),
    ...shownBy(idName, parts, idLast),
    filterProblems: (args: Row, settings: Settings) => filterProblems(filters, args, settings),
    criteria: (args: Row, settings: Settings) => criteriaOf(idName, filters, args, settings),
    // `Object.fromEntries` loses property names: the only cast of definitions.
  } as unknown as Kind<N, T, F>
}

function tableColumns(parts: readonly Part[]): Record<string, Column> {
  const columns = parts.map(({ column, field }) => [column, field])
  return { id: identity as Column, ...Object.fromEntries(columns), updated_at: integer(neither) }
}

/** Personal fields are separate in an event, so that erasure can empty them. */
function loggedOf(
  parts: readonly Part[],
  {
    name: kind,
    actions = crudActions,
    creating,
    plain = [],
    personal = [],
    counted,
    internal,
  }: Definition<string, string, Fields>,
): Logged {
  const names = (personal: boolean) =>
    parts
      .filter(({ field }) => !field.secret && (field.personal === 'erase') === personal)
      .map(({ name }) => name)
  if (counted) refuseUncountable(kind, parts, counted)
  const ofArea = parts.filter(({ field }) => field.inEvents === false).map(({ name }) => name)
  const person = parts.find(
    ({ field }) => field.references?.table === ACCOUNTS && field.references.person,
  )?.name
  return {
    kind,
    actions,
    ...(creating && { creating }),
    plain: [...names(false), ...plain],
    personal: [...names(true), ...personal],
    ...(ofArea.length > 0 && { ofArea }),
    ...(person && { person }),
    ...(counted && { counted }),
    public: !internal,
  }
}

function refuseUncountable(kind: string, parts: readonly Part[], counted: string): void {
  const { column, field } = parts.find(({ name }) => name === counted)!
  const { type, nullable, personal, secret } = field
  if (column === counted && type === 'text' && !nullable && personal === false && !secret) return
  throw new Error(
    `The field ${counted} of the kind ${kind} cannot be what it is counted by: it must be text that is neither null nor personal nor secret, in a column of its name.`,
  )
}

const alternatives = new Intl.ListFormat('en', { type: 'disjunction' })

function searchDescription(parts: readonly Part[]): string {
  const named = (which: (part: Part) => unknown) =>
    alternatives.format(parts.filter(which).map(({ name }) => name.replaceAll('_', ' ')))
  const [words, aliases] = [named(isSearched), named(({ field }) => field.alias)]
  if (words === '') return 'An identifier.'
  const digits = aliases && ` (digits alone also find a whole ${aliases})`
  return `An identifier${digits}, or words or parts of words of the ${words}, in any order.`
}

function problemsOf(parts: readonly Part[], args: Row, settings: Settings): Problems {
  const problems: Problems = {}
  for (const { name, field } of parts) {
    const value = args[name]
    const problem = value === undefined ? undefined : field.problem?.(value as never, settings)
    if (problem !== undefined) problems[name] = problem
  }
  return problems
}

function keep(parts: readonly Part[], args: Row, settings: Settings): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (const { name, column, field } of parts) {
    if (args[name] !== undefined && field.keep)
      setColumn(row, column, field, field.keep(args[name] as never, settings))
  }
  return row
}

function newRow(
  parts: readonly Part[],
  args: Row,
  settings: Settings,
  origin: { time: number; actor: number },
): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (const { name, column, field } of parts) {
    const value = args[name]
    if (value !== undefined && field.keep) setColumn(row, column, field, field.keep(value as never, settings))
    else setColumn(row, column, field, field.made ? origin[field.made] : field.initial)
  }
  row.updated_at = origin.time
  return row
}

function sample(parts: readonly Part[], samples: Samples): Record<string, unknown> {
  const row: Record<string, unknown> = { updated_at: samples.time }
  for (const { column, field } of parts) setColumn(row, column, field, field.sample(samples))
  return row
}

function setColumn(row: Record<string, unknown>, column: string, field: Field, value: unknown): void {
  row[column] = value
  if (field.folded) row[`${column}_key`] = foldedText(field, value as string)
}

function shownBy(idName: string, parts: readonly Part[], idLast: boolean) {
  const visible = parts.filter(({ field }) => field.wire)
  const hidden = parts.filter(({ field }) => !field.wire)
  const show = (row: Row, settings: Settings) => {
    const record: Record<string, unknown> = idLast ? { [idName]: row.id } : { [idName]: row.id, id: row.id }
    for (const { name, column, field } of visible) record[name] = field.show(row[column], settings)
    if (idLast) record.id = row.id
    return record
  }
  return {
    show,
    write: compileWriter(idName, visible, idLast),
    logged: (row: Row, settings: Settings) => {
      const record = show(row, settings)
      for (const { name, column, field } of hidden) record[name] = field.show(row[column], settings)
      return record
    },
  }
}

type JsonOf = (value: unknown, settings: Settings) => string

/**
 * Most of a list's time is spent serialising records. One expression that names each column and calls each field's own
 * function takes two thirds of the time of a loop over fields, whose calls are not known in advance; so it is compiled from the
 * definition.
 */
function compileWriter(
  idName: string,
  visible: readonly Part[],
  idLast: boolean,
): (row: Row, settings: Settings) => string {
  const jsons = visible.map(
    ({ field }): JsonOf => field.json ?? ((value, settings) => JSON.stringify(field.show(value, settings))),
  )
  const id = `',"id":' + row.id`
  const texts = visible.map(
    ({ name, column }, index) => `',"${name}":' + json${index}(row.${column}, settings)`,
  )
  const members = idLast ? [...texts, id] : [id, ...texts]
  const expression = [`'{"${idName}":' + row.id`, ...members, `'}'`].join(' + ')
  const names = jsons.map((_, index) => `json${index}`)
  return new Function(...names, `return (row, settings) => ${expression}`)(...jsons)
}
