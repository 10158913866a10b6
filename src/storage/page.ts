/**
 * Lists by page. A page begins after a given row (keyset paging), not at a counted one, so the millionth page costs
 * what the first costs; `offset` is there for clients that count.
 */
import { type Expression, type SelectQueryBuilder, sql } from 'kysely'
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

/**
 * Reads one page of what `query` selects. `id` is the identifier's column.
 *
 * Behind a row come those that tie with it, and then those beyond: two queries, each of which every engine answers
 * from the index, where a comparison of (value, identifier) makes some walk through all ties.
 */
export async function readPage<T extends keyof Tables, O>(
  query: SelectQueryBuilder<Tables, T, O>,
  id: Expression<unknown>,
  { order, descending, after, offset, limit }: Page,
): Promise<O[]> {
  const direction = descending ? 'desc' : 'asc'
  const beyond = sql.raw(descending ? '<' : '>')
  const byIdentifier = query.orderBy(id, direction)
  if (order.expression === id) {
    const page = after ? byIdentifier.where(sql<boolean>`${id} ${beyond} ${after.id}`) : byIdentifier
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

/** How many rows a query has that selects nothing yet. */
export async function countOf<T extends keyof Tables>(
  query: SelectQueryBuilder<Tables, T, object>,
): Promise<number> {
  const { count } = await query.select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()
  return count
}

/** The pattern of LIKE that finds `text` anywhere, whatever letters it has; to be used with ESCAPE '\'. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

/** Of rows inserted by one statement: engines give out identifiers in its order, and return them in any. */
export function idsInOrder(rows: { id: number }[]): number[] {
  return rows.map(row => row.id).sort((a, b) => a - b)
}
