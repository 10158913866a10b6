/**
 * Lists by page. A page begins after a given row (keyset paging), not at a counted one, so the millionth page costs
 * what the first costs; `offset` is there for clients that count.
 * See docs/decisions/keyset-paging.md.
 */
import { type Expression, type SelectQueryBuilder, sql } from 'kysely'
import { DAY_SECONDS, now } from '../base/time.ts'
import type { Db } from './database.ts'
import { prepared } from './prepared.ts'
import type { Tables } from './tables.ts'

/** One way to order a list. Ties are broken by the identifier. */
export interface Order {
  /** As the database computes it; never null. */
  readonly expression: Expression<unknown>
  readonly kind: 'number' | 'text'
  /** The same value, of a row that was read. */
  value(row: unknown): number | string
  /** Computed for each row, so no index has them in order; the value is read beside the row, as `order_value`. */
  readonly computed?: boolean
  /** The permission without which nobody learns it, where that of the list is not enough. */
  readonly needs?: string | undefined
}

export interface Page {
  readonly order: Order
  readonly descending: boolean
  /** The row behind which the page begins. */
  readonly after?: { readonly value: number | string; readonly id: number } | undefined
  readonly offset: number
  readonly limit: number
}

/** The first and last second of a span of time; a side that is open is undefined. */
export interface Span {
  readonly first?: number
  readonly last?: number
}

const SHORT_SECONDS = 7 * DAY_SECONDS

/**
 * Whether one of the spans is so short that its rows are few and lie together. A planner that supposes them
 * scattered looks for them in order of identifier, through the whole table.
 */
export function anyShort(...spans: (Span | undefined)[]): boolean {
  return spans.some(({ first, last = now() } = {}) => first !== undefined && last - first <= SHORT_SECONDS)
}

/** What one query of a list is given; the criteria are the list's own. */
interface PageArguments<C> {
  readonly criteria: C
  readonly after?: Page['after']
  readonly limit: number
  readonly offset?: number
}

type PageQuery<C, O> = (db: Db, args: PageArguments<C>) => Promise<O[]>

/** A list that is read page by page. */
export class PagedList<T extends keyof Tables, C, O> {
  readonly #rows: (db: Db, criteria: C) => SelectQueryBuilder<Tables, T, O>
  readonly #id: Expression<unknown>
  readonly #few: (criteria: C) => boolean
  readonly #queries = new Map<Order, Map<string, PageQuery<C, O>>>()

  /**
   * @param rows selects the rows that meet the criteria; see `prepared` for what it may depend on
   * @param id the identifier's column
   * @param few whether so few rows meet the criteria that they should be found first, and then sorted
   */
  constructor(
    rows: (db: Db, criteria: C) => SelectQueryBuilder<Tables, T, O>,
    id: Expression<unknown>,
    few: (criteria: C) => boolean = () => false,
  ) {
    this.#rows = rows
    this.#id = id
    this.#few = few
  }

  /**
   * Reads one page. Behind a row come those that tie with it, and then those beyond: two queries, each of which every
   * engine answers from the index, where a comparison of (value, identifier) makes some walk through all ties.
   */
  async read(db: Db, criteria: C, { order, descending, after, offset, limit }: Page): Promise<O[]> {
    const way: Way = `${descending ? 'desc' : 'asc'}${this.#few(criteria) ? ' few' : ''}`
    const run = (part: Part, args: PageArguments<C>) => this.#query(order, way, part)(db, args)
    if (!after) return run('start', { criteria, limit, offset })
    if (order.expression === this.#id) return run('after', { criteria, after, limit })
    const ties = await run('ties', { criteria, after, limit })
    if (ties.length === limit) return ties
    return [...ties, ...(await run('beyond', { criteria, after, limit: limit - ties.length }))]
  }

  #query(order: Order, way: Way, part: Part): PageQuery<C, O> {
    const queries = this.#queries.get(order) ?? new Map<string, PageQuery<C, O>>()
    this.#queries.set(order, queries)
    const name = `${part} ${way}`
    const cached = queries.get(name)
    if (cached) return cached
    const query = prepared((db, args: PageArguments<C>) => this.#build(db, args, order, way, part))
    queries.set(name, query)
    return query
  }

  #build(db: Db, args: PageArguments<C>, { expression, computed }: Order, way: Way, part: Part) {
    const { criteria, after, limit, offset } = args
    const id = this.#id
    const direction = way.startsWith('desc') ? 'desc' : 'asc'
    const beyond = sql.raw(direction === 'desc' ? '<' : '>')
    let query = this.#rows(db, criteria).limit(limit)
    if (computed) query = query.select(sql`${expression}`.as('order_value')).$castTo<O>()
    if (part === 'start') query = query.offset(offset!)
    else if (part === 'after') query = query.where(sql<boolean>`${id} ${beyond} ${after!.id}`)
    else if (part === 'beyond') query = query.where(sql<boolean>`${expression} ${beyond} ${after!.value}`)
    else query = query.where(sql<boolean>`${expression} = ${after!.value} AND ${id} ${beyond} ${after!.id}`)
    if (part !== 'ties' && expression !== id) query = query.orderBy(expression, direction)
    // A sum has no index to read in order.
    const sorted = way.endsWith('few') && expression === id
    return query.orderBy(sorted ? sql`${id} + 0` : id, direction)
  }
}

/** In which direction a list is read, and whether its rows are found first. */
type Way = 'asc' | 'desc' | 'asc few' | 'desc few'

/** Which rows of a list a query reads. */
type Part = 'start' | 'after' | 'ties' | 'beyond'

/** How many rows a query has that selects nothing yet. */
export async function countOf<T extends keyof Tables>(
  query: SelectQueryBuilder<Tables, T, object>,
): Promise<number> {
  const { count } = await query.select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()
  return count
}

/** Of rows inserted by one statement: engines give out identifiers in its order, and return them in any. */
export function idsInOrder(rows: { id: number }[]): number[] {
  return rows.map(row => row.id).sort((a, b) => a - b)
}
