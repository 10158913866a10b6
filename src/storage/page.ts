/**
 * Keyset pagination: a page begins after a given row instead of after a number of rows, so that the millionth page costs as much
 * as the first. `offset` is for clients that need it.
 * See docs/decisions/keyset-paging.md.
 */
import { type Expression, type SelectQueryBuilder, sql } from 'kysely'
import { DAY_SECONDS, now } from '../base/time.ts'
import type { Db } from './database.ts'
import { prepared } from './prepared.ts'
import type { Table } from './table.ts'
import type { Tables } from './tables.ts'

/** An order of a list. Ties are broken by the identifier. */
export interface Order {
  /** SQL expression; never null. */
  readonly expression: Expression<unknown>
  readonly kind: 'number' | 'text'
  /** The value of the expression in a row that was read. */
  value(row: unknown): number | string
  /** It is computed for each row, so no index has it. Rows contain its value as `order_value`. */
  readonly computed?: boolean
  /** Permission needed to see the value, if that of the list is not enough. */
  readonly needs?: string | undefined
}

export interface Page {
  readonly order: Order
  readonly descending: boolean
  /** The page begins after this row. */
  readonly after?: { readonly value: number | string; readonly id: number } | undefined
  readonly offset: number
  readonly limit: number
  /** Whether an index has the rows in this order whatever the values of the criteria are, so that one query plan serves them all. */
  readonly isIndexed?: boolean
}

/** All rows, of a list that is known to be short. */
export function wholeList(order: Order): Page {
  return { order, descending: false, offset: 0, limit: Number.MAX_SAFE_INTEGER }
}

/** First and last second of a time span; undefined for an open side. */
export interface Span {
  readonly first?: number
  readonly last?: number
}

const SHORT_SECONDS = 7 * DAY_SECONDS
/** Cached queries per order. Without a limit, each number of rows that clients ask for would add some. */
const QUERIES_KEPT = 100

/**
 * Whether one of the spans is so short that its rows are few and adjacent. A planner that assumes them scattered would
 * scan the whole table in order of identifier.
 */
export function anyShort(...spans: (Span | undefined)[]): boolean {
  return spans.some(({ first, last = now() } = {}) => first !== undefined && last - first <= SHORT_SECONDS)
}

/** Arguments of one list query. */
interface PageArguments<C> {
  readonly criteria: C
  readonly after?: Page['after']
  readonly limit: number
  readonly offset?: number
}

type PageQuery<C, O> = (db: Db, args: PageArguments<C>) => Promise<O[]>

/** A list with keyset pagination. */
export class PagedList<T extends keyof Tables, C, O> {
  readonly #rows: (db: Db, criteria: C) => SelectQueryBuilder<Tables, T, O>
  readonly #byId: Order
  readonly #few: (criteria: C) => boolean
  readonly #queries = new Map<Order, Map<string, PageQuery<C, O>>>()

  /**
   * @param rows selects the rows that meet the criteria; see `prepared` for what it may depend on
   * @param byId the order by identifier: `read` compares the order of each page with it
   * @param few whether the criteria match so few rows that filtering before sorting is faster
   */
  constructor(
    rows: (db: Db, criteria: C) => SelectQueryBuilder<Tables, T, O>,
    byId: Order,
    few: (criteria: C) => boolean = () => false,
  ) {
    this.#rows = rows
    this.#byId = byId
    this.#few = few
  }

  /**
   * Reads one page. After a row come first its ties (rows with the same value and a higher identifier), then the rows beyond. These
   * are two queries, because both engines answer each from the index; compared as a pair (value, identifier), some scan all ties.
   */
  async read(db: Db, criteria: C, page: Page): Promise<O[]> {
    const { order, descending, after, offset, limit, isIndexed = false } = page
    const way: Way = `${descending ? 'desc' : 'asc'}${this.#few(criteria) ? ' few' : ''}`
    const run = (part: Part, args: PageArguments<C>) => {
      // After ties, the remaining number of rows differs each time, so it is not made part of the text.
      const rows = isIndexed && args.limit === limit ? limit : undefined
      return this.#query(order, way, part, rows)(db, args)
    }
    if (!after) return run('start', { criteria, limit, ...(offset > 0 && { offset }) })
    if (order === this.#byId) return run('after', { criteria, after, limit })
    const ties = await run('ties', { criteria, after, limit })
    if (ties.length === limit) return ties
    return [...ties, ...(await run('beyond', { criteria, after, limit: limit - ties.length }))]
  }

  /**
   * @param rows the number of rows, if it is to be part of the text: with a parameter in its place, PostgreSQL plans the query anew
   *   each time, which takes longer than reading the page
   */
  #query(order: Order, way: Way, part: Part, rows: number | undefined): PageQuery<C, O> {
    const queries = this.#queries.get(order) ?? new Map<string, PageQuery<C, O>>()
    this.#queries.set(order, queries)
    const name = `${part} ${way} ${rows}`
    const cached = queries.get(name)
    if (cached) return cached
    const query = prepared((db, args: PageArguments<C>) =>
      this.#build(db, args, order, way, part).limit(rows === undefined ? args.limit : sql.lit(rows)),
    )
    if (queries.size >= QUERIES_KEPT) queries.delete(queries.keys().next().value!)
    queries.set(name, query)
    return query
  }

  #build(db: Db, args: PageArguments<C>, order: Order, way: Way, part: Part) {
    const { criteria, after, offset } = args
    const { expression, computed } = order
    const id = this.#byId.expression
    const isById = order === this.#byId
    const direction = way.startsWith('desc') ? 'desc' : 'asc'
    const beyond = sql.raw(direction === 'desc' ? '<' : '>')
    let query = this.#rows(db, criteria)
    if (computed) query = query.select(sql`${expression}`.as('order_value')).$castTo<O>()
    if (offset !== undefined) query = query.offset(offset)
    if (part === 'after') query = query.where(sql<boolean>`${id} ${beyond} ${after!.id}`)
    else if (part === 'beyond') query = query.where(sql<boolean>`${expression} ${beyond} ${after!.value}`)
    else if (part === 'ties')
      query = query.where(sql<boolean>`${expression} = ${after!.value} AND ${id} ${beyond} ${after!.id}`)
    if (part !== 'ties' && !isById) query = query.orderBy(expression, direction)
    // `id + 0` keeps the engine from reading the rows in the order of the index: the few that match are sorted instead.
    const sorted = way.endsWith('few') && isById
    return query.orderBy(sorted ? sql`${id} + 0` : id, direction)
  }
}

/** Direction of a list, and whether its rows are filtered before sorting. */
type Way = 'asc' | 'desc' | 'asc few' | 'desc few'

/** Part of a list that a query reads. */
type Part = 'start' | 'after' | 'ties' | 'beyond'

/** Number of rows of a query without a select clause. */
export async function countOf<T extends keyof Tables>(
  query: SelectQueryBuilder<Tables, T, object>,
): Promise<number> {
  const { count } = await query.select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()
  return count
}

/** Number of rows of a table. */
export async function countRows(db: Db, { name }: Table): Promise<number> {
  const count = sql<{ count: number | string }>`SELECT count(*) AS count FROM ${sql.table(name)}`
  return Number((await count.execute(db)).rows[0]!.count)
}

/** For rows inserted by one statement: engines assign identifiers in its order, but return them in any. */
export function idsInOrder(rows: { id: number }[]): number[] {
  return rows.map(row => row.id).sort((a, b) => a - b)
}
