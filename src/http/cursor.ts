/**
 * Cursors: where the next page of a list starts, as text. A cursor holds the order and the last row's place in it. It grants
 * no access: a forged one only starts elsewhere.
 * See docs/decisions/keyset-paging.md.
 */
import type { Order, Page } from '../storage/page.ts'

type Place = NonNullable<Page['after']>

/** Where a list starts. */
export interface Cursor {
  /** Name of the order. */
  readonly orderby: string
  readonly descending: boolean
  /** The row before the first one; undefined for the beginning of the list. */
  readonly after: Place | undefined
}

/** @returns the cursor as an argument of a URL */
export function encodeCursor({
  orderby,
  descending,
  after: { value, id },
}: Cursor & { after: Place }): string {
  return Buffer.from(JSON.stringify([orderby, descending ? 'desc' : 'asc', value, id])).toString('base64url')
}

/**
 * @param orders those of the list
 * @returns undefined if it is not a cursor of this list
 */
export function decodeCursor(text: string, orders: Readonly<Record<string, Order>>): Cursor | undefined {
  let parts: unknown
  try {
    parts = JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
  if (!Array.isArray(parts) || parts.length !== 4) return undefined
  const [orderby, direction, value, id] = parts
  if (typeof orderby !== 'string' || !Object.hasOwn(orders, orderby)) return undefined
  if (direction !== 'asc' && direction !== 'desc') return undefined
  const isValue =
    orders[orderby]!.kind === 'number'
      ? Number.isSafeInteger(value)
      : typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
  if (!isValue || !Number.isSafeInteger(id) || id < 1) return undefined
  return { orderby, descending: direction === 'desc', after: { value, id } }
}
