/**
 * Lists by page. A page begins after a given row (keyset paging), not at a counted one, so the millionth page costs
 * what the first costs; `offset` is there for clients that count.
 */
import { type Expression, type SelectQueryBuilder, sql } from 'kysely'
import { now } from '../fields.ts'
import type { Tables } from './tables.ts'

/** One way to order a list. Ties are broken by the identifier. */
export interface Order {
  /** As the database computes it; never null. */
  readonly expression: Expression<unknown>
  readonly kind: 'number' | 'text'
  /** The same value, of a row that was read. */
  readonly value: (row: never) => number | string
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

const SHORT_SECONDS = 7 * 86_400

/**
 * Whether one of the spans is so short that its rows are few and lie together. A planner that supposes them
 * scattered looks for them in order of identifier, through the whole table.
 */
export function anyShort(...spans: (Span | undefined)[]): boolean {
  return spans.some(({ first, last = now() } = {}) => first !== undefined && last - first <= SHORT_SECONDS)
}

/**
 * Reads one page of what `query` selects. `id` is the identifier's column.
 * @param few whether so few rows match that they should be found first, and then sorted
 *
 * Behind a row come those that tie with it, and then those beyond: two queries, each of which every engine answers
 * from the index, where a comparison of (value, identifier) makes some walk through all ties.
 */
export async function readPage<T extends keyof Tables, O>(
  query: SelectQueryBuilder<Tables, T, O>,
  id: Expression<unknown>,
  { order, descending, after, offset, limit }: Page,
  few: boolean,
): Promise<O[]> {
  const direction = descending ? 'desc' : 'asc'
  const beyond = sql.raw(descending ? '<' : '>')
  const byIdentifier = query.orderBy(id, direction)
  if (order.expression === id) {
    // A sum has no index to read in order.
    const list = few ? query.orderBy(sql`${id} + 0`, direction) : byIdentifier
    const page = after ? list.where(sql<boolean>`${id} ${beyond} ${after.id}`) : list
    return page.limit(limit).offset(offset).execute()
  }
  const byValue = query.orderBy(order.expression, direction).orderBy(id, direction)
  if (!after) return byValue.limit(limit).offset(offset).execute()
  const ties = await byIdentifier
    .where(sql<boolean>`${order.expression} = ${after.value} AND ${id} ${beyond} ${after.id}`)
    .limit(limit)
    .execute()
  if (ties.length === limit) return ties
  const rest = await byValue
    .where(sql<boolean>`${order.expression} ${beyond} ${after.value}`)
    .limit(limit - ties.length)
    .execute()
  return [...ties, ...rest]
}

/** The pattern of LIKE that finds `text` anywhere, whatever letters it has; to be used with ESCAPE '\'. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

/** Of rows inserted by one statement: engines give out identifiers in its order, and return them in any. */
export function idsInOrder(rows: { id: number }[]): number[] {
  return rows.map(row => row.id).sort((a, b) => a - b)
}
