/**
 * Queries shared by all kinds of record. Kysely cannot type a table whose name is a parameter, so they are built untyped,
 * and their results are typed by the kind.
 */
import { type Expression, type Insertable, type Kysely, type SqlBool, sql } from 'kysely'
import { Failure, type Problems } from '../base/errors.ts'
import type { NumberSearch, Search, TextSearch } from '../base/text.ts'
import { DAY_SECONDS, dayOf } from '../base/time.ts'
import { countedRecords } from '../events/counts.ts'
import { personOfDeleted } from '../events/read.ts'
import { byIdentifier } from '../storage/by-identifier.ts'
import { containing } from '../storage/containing.ts'
import { type Db, ReferenceViolation, type Tx } from '../storage/database.ts'
import { dayIn } from '../storage/days.ts'
import { insertMany } from '../storage/insert-many.ts'
import {
  anyShort,
  countOf,
  idsInOrder,
  type Order,
  type Page,
  PagedList,
  type Span,
} from '../storage/page.ts'
import { prepared, type Refuse } from '../storage/prepared.ts'
import { ACCOUNTS, foldedText, type Schema, type Table } from '../storage/table.ts'
import type { Tables } from '../storage/tables.ts'
import { type Fields, isSearched, type Part, partsOf } from './field.ts'
import { type Criteria, type Filters, filtersOf } from './filters.ts'
import type { Kind, ReadRowOf, RowOf, TableOf } from './kind.ts'

// biome-ignore lint/suspicious/noExplicitAny: the one place where tables have no types.
const untyped = (db: Db) => db as unknown as Kysely<any>

type NewRow<F extends Fields> = Insertable<TableOf<F>>
export type WholeRow<F extends Fields> = Required<Omit<NewRow<F>, 'id'>> & {
  readonly id?: number | undefined
}
export type Change<F extends Fields> = Partial<Omit<RowOf<F>, 'id'>>

export interface Store<F extends Fields> {
  /** Orders by the API's names. */
  readonly orders: Readonly<Record<string, Order>>
  find(db: Db, id: number): Promise<ReadRowOf<F> | undefined>
  exists(db: Db, id: number): Promise<boolean>
  /** The same. In a transaction, it cannot be deleted until the end, though the rest of it may change. */
  isThere(db: Db, id: number): Promise<boolean>
  /** The identifiers among `ids` that exist, with the same guarantee. */
  thereAmong(db: Db, ids: readonly number[]): Promise<Set<number>>
  /** Whether an identifier was ever assigned, as far as the table tells: it has this row, or a later one. */
  reaches(db: Db, id: number): Promise<boolean>
  /** Locks the row until the transaction ends. */
  lock(tx: Tx, id: number): Promise<RowOf<F> | undefined>
  /** Locks many rows, in order of identifier. */
  lockAll(tx: Tx, ids: readonly number[]): Promise<void>
  /** @param row with every column: the database fills in the identifier alone, unless it was reserved: then nobody waits */
  insert(tx: Tx, row: WholeRow<F>, refuse?: Refuse): Promise<RowOf<F>>
  /** @returns their identifiers, in the same order */
  insertMany(tx: Tx, rows: readonly NewRow<F>[]): Promise<number[]>
  /** Changes some columns, with the transaction's next statement. */
  set(tx: Tx, id: number, change: Change<F>): Promise<void>
  /**
   * The same.
   * @param before the row as it is, which the transaction has locked
   * @returns the row after the change
   */
  update(tx: Tx, before: RowOf<F>, change: Change<F>, refuse?: Refuse): Promise<RowOf<F>>
  remove(tx: Tx, id: number): Promise<void>
  page(db: Db, criteria: Criteria, page: Page): Promise<ReadRowOf<F>[]>
  count(db: Db, criteria: Criteria): Promise<number>
  /** All criteria as one condition. */
  matching(criteria: Criteria): Expression<SqlBool>
  /** Whether the criteria match so few rows that filtering before sorting is faster. */
  few(criteria: Criteria): boolean
  /** The table whose text a search looks through. */
  readonly searched: Table
}

export interface StoreOptions {
  /** Search that covers more than the kind's own fields. */
  readonly search?: (search: TextSearch) => Expression<SqlBool>
  /** The table whose text it looks through, where that is another one. */
  readonly searched?: Table
}

/** The queries that every kind has. Each is built at its first use, so a kind has one store, made when its file is loaded. */
export function storeOf<N extends string, T extends keyof Tables & string, F extends Fields>(
  { name, table: definition, fields, indexed, hasDayIndex }: Kind<N, T, F>,
  options: StoreOptions = {},
): Store<F> {
  const table: string = definition.name
  const parts = partsOf(fields)
  const orders = ordersOf(name, table, parts, indexed)
  const columns = ['id', ...parts.filter(({ field }) => field.wire).map(({ column }) => column)].map(
    column => `${table}.${column}`,
  )
  const search = { text: options.search ?? searchOf(table, parts), number: numberSearchOf(table, parts) }
  const matching = matcher(table, filtersOf(parts), search)
  const selection = (db: Db) => untyped(db).selectFrom(table).select(columns)
  const byId = (db: Db, { id }: { id: number }) => untyped(db).selectFrom(table).where('id', '=', id)

  const existing = prepared((db: Db, args: { id: number }) => byId(db, args).select('id'))
  const there = prepared((db: Db, args: { id: number }) => byId(db, args).select('id').forKeyShare())
  const reaching = prepared((db: Db, { id }: { id: number }) =>
    untyped(db).selectFrom(table).select('id').where('id', '>=', id).orderBy('id').limit(1),
  )
  const locking = prepared((tx: Db, args: { id: number }) => byId(tx, args).selectAll().forUpdate())
  const lockingAll = prepared((tx: Db, { ids }: { ids: readonly number[] }) =>
    untyped(tx).selectFrom(table).select('id').where('id', 'in', ids).orderBy('id').forUpdate(),
  )
  const list = new PagedList(
    (db, criteria: Criteria) => selection(db).where(matching(criteria)) as never,
    orders.id!,
    few,
  )
  const store = {
    orders,
    find: byIdentifier(db => selection(db) as never, `${table}.id`),
    exists: async (db: Db, id: number) => (await existing(db, { id })).length > 0,
    isThere: async (db: Db, id: number) => (await there(db, { id })).length > 0,
    thereAmong: async (db: Db, ids: readonly number[]) => {
      if (ids.length === 0) return new Set()
      const named = untyped(db).selectFrom(table).select('id').where('id', 'in', ids)
      const rows = await named.orderBy('id').forKeyShare().execute()
      return new Set(rows.map(({ id }) => id))
    },
    reaches: async (db: Db, id: number) => (await reaching(db, { id })).length > 0,
    lock: async (tx: Tx, id: number) => (await locking(tx, { id }))[0],
    lockAll: async (tx: Tx, ids: readonly number[]) => {
      await lockingAll(tx, { ids })
    },
    ...writesTo(definition),
    page: (db: Db, criteria: Criteria, page: Page) =>
      list.read(db, hasDayIndex && page.order === orders.id ? byDay(criteria) : criteria, page),
    count: async (db: Db, criteria: Criteria) => {
      const known = await countedBy(db, definition, criteria)
      if (known !== undefined) return known
      const query = untyped(db).selectFrom(table)
      // Without a condition, engines count far faster than with one that is always true.
      return countOf((Object.keys(criteria).length > 0 ? query.where(matching(criteria)) : query) as never)
    },
    matching,
    few,
    searched: options.searched ?? definition,
  }
  return store as unknown as Store<F>
}

function writesTo({ name: table }: Table) {
  const insertion = prepared((tx: Db, row: object) =>
    untyped(tx).insertInto(table).values(row).returning('id'),
  )
  const insertionOfReserved = prepared((tx: Db, row: object) => untyped(tx).insertInto(table).values(row))
  const change = prepared((tx: Db, { id, change }: { id: number; change: object }) =>
    untyped(tx).updateTable(table).set(change).where('id', '=', id),
  )
  const set = (tx: Tx, id: number, values: object, refuse?: Refuse) =>
    change.later(tx, { id, change: values }, refuse)
  return {
    insert: async (tx: Tx, row: { id?: number | undefined }, refuse?: Refuse) => {
      if (row.id !== undefined) {
        await insertionOfReserved.later(tx, row, refuse)
        return row
      }
      try {
        return { ...row, ...(await insertion(tx, row))[0] }
      } catch (error) {
        throw refuse ? refuse(error) : error
      }
    },
    insertMany: async (tx: Tx, rows: readonly object[]) =>
      idsInOrder(await insertMany(tx, { table, ending: 'RETURNING id' }, rows)),
    set,
    // Known without RETURNING, for which PostgreSQL would be waited for, and which takes SQLite longer than the change.
    update: async (tx: Tx, before: { id: number }, values: object, refuse?: Refuse) => {
      await set(tx, before.id, values, refuse)
      return { ...before, ...values }
    },
    remove: async (tx: Tx, id: number) => {
      try {
        await untyped(tx).deleteFrom(table).where('id', '=', id).execute()
      } catch (cause) {
        throw cause instanceof ReferenceViolation ? new Failure('record_in_use') : cause
      }
    },
  }
}

/** @param indexed the fields that have an index, which is of what their filter looks at */
function ordersOf(
  name: string,
  table: string,
  parts: readonly Part[],
  indexed: readonly string[],
): Record<string, Order> {
  const byId: Order = {
    expression: sql.ref(`${table}.id`),
    kind: 'number',
    value: (row: { id: number }) => row.id,
  }
  const orders: Record<string, Order> = { [`${name}_id`]: byId, id: byId }
  for (const { name, column, field } of parts) {
    if (!field.wire || field.order === false) continue
    const isFolded = field.folded && (field.filter?.ofFolded || !indexed.includes(name))
    const order = isFolded ? foldedOrderOf(table, column, field) : orderOf(table, column, field)
    orders[name] = field.order === 'beginning' ? computed(beginningOf(order)) : order
    if (field.made === 'time') orders.date = order
    for (const [name, { of, needs }] of Object.entries(field.orders ?? {})) {
      orders[name] = { ...computed(of(sql.ref(`${table}.${column}`))), needs }
    }
  }
  return orders
}

/** How much of a long text lists are sorted by, in characters: cursors hold it. */
const BEGINNING = 100

const beginningOf = ({ expression }: Order) => sql`substr(${expression}, 1, ${sql.lit(BEGINNING)})`

const computed = (expression: Expression<unknown>): Order => ({
  expression,
  kind: 'text',
  value: (row: { order_value: string }) => row.order_value,
  computed: true,
})

/** Capitals and small letters in one order, as people look names up. */
const foldedOrderOf = (table: string, column: string, field: Part['field']): Order => ({
  expression: sql.ref(`${table}.${column}_key`),
  kind: 'text',
  value: (row: object) => foldedText(field, String((row as Record<string, unknown>)[column])),
})

function orderOf(table: string, column: string, { type, nullable }: Part['field']): Order {
  const of = (row: object) => (row as Record<string, unknown>)[column]
  const kind = type === 'integer' ? 'number' : 'text'
  const reference = sql.ref(`${table}.${column}`)
  // Empty values come first, on every engine.
  const unset = kind === 'number' ? -1 : ''
  return {
    expression: nullable ? sql`coalesce(${reference}, ${sql.lit(unset)})` : reference,
    kind,
    value: (row: object) => (of(row) ?? unset) as number | string,
  }
}

interface Searches {
  text(search: TextSearch): Expression<SqlBool>
  number(search: NumberSearch): Expression<SqlBool>
}

function matcher(table: string, filters: Filters, search: Searches) {
  const column = (name: string) => sql.ref(`${table}.${name}`)
  const id = column('id')
  const identifierFilters: Record<string, (value: never) => Expression<SqlBool>> = {
    ids: (ids: readonly number[]) => sql<boolean>`${id} IN (${sql.join(ids)})`,
    exclude: (ids: readonly number[]) => sql<boolean>`${id} NOT IN (${sql.join(ids)})`,
    day: (day: number) => sql<boolean>`${dayIn(column('created_at'))} = ${day}`,
    updated: (first: number) => sql<boolean>`${column('updated_at')} >= ${first}`,
    search: (of: Search) => ('id' in of ? search.number(of) : search.text(of)),
  }
  return (criteria: Criteria): Expression<SqlBool> => {
    const conditions: Expression<SqlBool>[] = []
    for (const [name, make] of Object.entries(identifierFilters)) {
      if (criteria[name] !== undefined) conditions.push(make(criteria[name] as never))
    }
    for (const [name, { filter, column: of }] of filters) {
      const looked = filter.ofFolded ? `${of}_key` : of
      if (criteria[name] !== undefined) conditions.push(...filter.where(column(looked), criteria[name]))
    }
    return conditions.length === 0 ? sql<boolean>`1 = 1` : (sql.join(conditions, sql` AND `) as never)
  }
}

/** Matches the words in the fields that are searched. */
function searchOf(table: string, parts: readonly Part[]) {
  const texts = parts
    .filter(isSearched)
    .map(({ column, field }) => sql.ref(`${table}.${field.folded ? `${column}_key` : column}`))
  return (search: TextSearch) => containing(texts, search, sql.ref(`${table}.id`))
}

/** Matches the identifier, and digits that others call the record by. */
function numberSearchOf(table: string, parts: readonly Part[]) {
  const aliases = parts.filter(({ field }) => field.alias).map(({ column }) => sql.ref(`${table}.${column}`))
  return ({ id, digits }: NumberSearch) => {
    const isNumbered = sql<boolean>`${sql.ref(`${table}.id`)} = ${id}`
    if (digits === undefined || aliases.length === 0) return isNumbered
    const isCalled = aliases.map(alias => sql`${alias} = ${digits}`)
    return sql<boolean>`(${sql.join([isNumbered, ...isCalled], sql` OR `)})`
  }
}

/** How many match, where that is kept: of all, or of some values of the field that it is kept by. */
async function countedBy(db: Db, table: Table, criteria: Criteria): Promise<number | undefined> {
  const field = table.logged?.counted
  if (field === undefined || Object.keys(criteria).some(name => name !== field)) return undefined
  return countedRecords(db, table, criteria[field] as readonly string[] | undefined)
}

/** A whole day and nothing else, as its index has it: see `hasDayIndex`. */
function byDay(criteria: Criteria): Criteria {
  const { date, ...others } = criteria
  const { first, last } = (date ?? {}) as Span
  const isDay = first !== undefined && first % DAY_SECONDS === 0 && last === first + DAY_SECONDS - 1
  return isDay && Object.keys(others).length === 0 ? { day: dayOf(first) } : criteria
}

function few({ date, updated, search }: Criteria): boolean {
  if (search !== undefined && 'candidates' in (search as Search)) return true
  return anyShort(date as Span | undefined, updated === undefined ? undefined : { first: updated as number })
}

/**
 * Checks that referenced rows exist. Arguments that were not sent are not checked. In a transaction, what the record does
 * not outlive cannot be deleted until the end.
 * @param before the row being edited: it may keep naming what was deleted
 */
export async function problemsOfReferences(
  db: Db,
  schema: Schema,
  { fields }: Kind,
  args: object,
  before: object = {},
): Promise<Problems> {
  const problems: Problems = {}
  for (const { name, column: own, field } of partsOf(fields)) {
    const value = (args as Record<string, unknown>)[name]
    if (value === undefined || field.references === undefined || !(field.create || field.edit)) continue
    // An optional reference that is not set.
    if (field.nullable && !value) continue
    if ((before as Record<string, unknown>)[own] === value) continue
    const { table, column = 'id', outlives = false } = field.references
    const row = await untyped(db)
      .selectFrom(table)
      .select(column)
      .where(column, '=', value)
      .$if(!outlives, query => query.forKeyShare())
      .executeTakeFirst()
    if (!row) problems[name] = noSuch(nounOf(schema, table), { orNone: field.nullable })
  }
  return problems
}

/**
 * What is wrong with an identifier that no record has.
 * @param what it would be
 * @param orNone whether 0 may be sent, for none
 */
export const noSuch = (what: string, { orNone = false } = {}): string =>
  `must be the identifier of an existing ${what}${orNone ? ', or 0' : ''}.`

function nounOf(schema: Schema, table: string): string {
  const kind = schema.find(({ name }) => name === table)?.logged?.kind ?? table
  return table === ACCOUNTS ? 'account' : kind.replaceAll('_', ' ')
}

/**
 * The account that a row is about, found through its references; null if there is none. Of a record that was deleted, its
 * events know it.
 */
export async function personOf(
  db: Db,
  schema: Schema,
  { table }: Pick<Kind, 'table'>,
  row: object,
): Promise<number | null> {
  let columns = table.columns
  let values = row as Readonly<Record<string, unknown>>
  for (;;) {
    const [name, column] = Object.entries(columns).find(([, { references }]) => references?.person) ?? []
    if (name === undefined) return null
    const id = values[name] as number | null
    const target = schema.find(({ name }) => name === column!.references!.table)
    // Stops at a table whose records are people.
    if (id === null || target?.logged?.person === 'id') return id
    const next = await untyped(db)
      .selectFrom(target!.name)
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    if (next === undefined) {
      const kind = target!.logged?.kind
      return kind ? personOfDeleted(db, kind, id) : null
    }
    columns = target!.columns
    values = next
  }
}
