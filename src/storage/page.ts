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

/** Narrows a query to one page. `id` is the identifier's column. */
export function paged<T extends keyof Tables, O>(
  query: SelectQueryBuilder<Tables, T, O>,
  id: Expression<unknown>,
  { order, descending, after, offset, limit }: Page,
): SelectQueryBuilder<Tables, T, O> {
  const byIdentifier = order.expression === id
  const direction = descending ? 'desc' : 'asc'
  const beyond = sql.raw(descending ? '<' : '>')
  let page = query
  if (after) {
    page = page.where(
      byIdentifier
        ? sql<boolean>`${id} ${beyond} ${after.id}`
        : sql<boolean>`(${order.expression}, ${id}) ${beyond} (${after.value}, ${after.id})`,
    )
  }
  if (!byIdentifier) page = page.orderBy(order.expression, direction)
  page = page.orderBy(id, direction).limit(limit)
  return offset > 0 ? page.offset(offset) : page
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
