/**
 * Lists, shared by all resources: order, offset, cursor, count, choice of fields, and streaming. A list longer than a
 * page is read and sent page by page, each starting after the last row of the one before, so that a long list needs
 * no more memory than a short one, and a client that stops reading holds no database resources.
 */
import { type Static, type TObject, type TProperties, Type } from 'typebox'
import { Failure, invalidArguments } from '../base/errors.ts'
import { choice, flag, line, listOf, withDefault } from '../base/schemas.ts'
import { parseSearch } from '../base/text.ts'
import { memberOf } from '../base/unknown.ts'
import type { Order, Page } from '../storage/page.ts'
import { type Cursor, decodeCursor, encodeCursor } from './cursor.ts'
import type { Answer, Call } from './endpoint.ts'
import type { AnswerHeaders } from './headers.ts'
import { decodeName } from './parameters.ts'
import type { Render } from './render.ts'

/** Rows per query of a streamed list. */
const PAGE_ROWS = 250
/** Larger, for orders where each page has to read every row. */
const COMPUTED_PAGE_ROWS = 5000
const ONE_PIECE_ROWS = 1000
/** Up to this limit, a streamed list is read twice to set its Link header. */
const MOST_LINKED_ROWS = 100_000
const DEFAULT_NUMBER = 20

/** The arguments of every list, and the filters of this one. */
export function listArguments<F extends TProperties>(
  fields: readonly string[],
  orders: readonly string[],
  filters: F,
) {
  return Type.Object({
    number: Type.Optional(
      Type.Integer({
        minimum: -1,
        maximum: Number.MAX_SAFE_INTEGER,
        default: DEFAULT_NUMBER,
        description: 'Number of records to list; 0 or -1 lists all.',
      }),
    ),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        description: 'Number of records to skip. Far into a list, a cursor is faster.',
      }),
    ),
    ...ordering(orders),
    cursor: Type.Optional(
      Type.String({
        ...line(2000, 'Start of the page, from the Link header (rel="next") of the previous page.'),
        minLength: 1,
      }),
    ),
    count: Type.Optional(flag('Adds the header X-Total-Count, the number of records on all pages.')),
    fields: Type.Optional(
      listOf(
        choice(['*', 'ids', ...fields]),
        'Fields to show: a list of names, * for all of them, or ids for identifiers only.',
      ),
    ),
    ...narrowing(filters),
  })
}

/** Clients write it in either case; it is read as lower case. */
export const direction = choice(['asc', 'desc', 'ASC', 'DESC'], 'Sort order: ascending or descending.')

/** A list shows fewer fields if it is asked to, which is a type of its own. */
function partialOf(record: TObject) {
  const title = memberOf(record, 'title')
  return title === undefined ? {} : { title: `Partial${title}` }
}

/** The answer of a list, whose records have the chosen fields. */
export const listAnswer = (record: TObject) => ({
  status: 200 as const,
  schema: Type.Array(
    Type.Union([
      Type.Partial(record, partialOf(record)),
      Type.Integer({ description: 'Identifier of the record, with fields=ids.' }),
    ]),
  ),
  headers: ['Link', 'X-Total-Count'] as const,
})

/** The arguments that order a list. */
export function ordering(orders: readonly string[]) {
  return {
    orderby: Type.Optional(
      withDefault(choice(orders, 'What to sort by. Ties are sorted by identifier.'), orders[0]),
    ),
    order: Type.Optional(withDefault(direction, 'asc')),
  }
}

/** The filter arguments of a list; also accepted as `filter[name]`. */
export function narrowing<F extends TProperties>(filters: F) {
  return {
    ...filters,
    filter: Type.Optional(
      Type.Object({}, { description: 'Another way to write filters: filter[status] is the same as status.' }),
    ),
  }
}

const common = listArguments([], ['id'], {})
/** The arguments of every list. */
export const ofEveryList: readonly string[] = Object.keys(common.properties)

export type ListArguments = Omit<Static<typeof common>, 'orderby' | 'fields'> & {
  /** Of kinds that are searched. */
  search?: string
  orderby?: string
  fields?: string[]
}

/** Declaration of a resource's lists. */
export interface Listing<Row, Args> {
  readonly orders: Readonly<Record<string, Order>>
  /** The fields that callers can choose; others are included whenever the record has them. */
  readonly fields: readonly string[]
  /** Arguments that add related data to each record, rather than filter. */
  readonly extras?: readonly string[]
  /**
   * Orders and single-value filters with an index that returns rows in order: only one page of rows is read,
   * whatever the value.
   */
  readonly indexed?: readonly string[]
  readonly page: (call: Call, args: Args, page: Page) => Promise<Row[]>
  readonly count: (call: Call, args: Args) => Promise<number>
  readonly identifier: (row: Row) => number
  /** The permission to search by text, where that looks at records of another kind. */
  readonly searchNeeds?: string
  /** Path of the list below the collection, if it is not the collection itself. */
  readonly path?: (args: Args) => string
  readonly writer: (call: Call, args: Args) => Promise<Writer<Row>>
}

/** Turns rows into records for callers. */
export interface Writer<Row> {
  show(row: Row): object
  /** The same as JSON text. */
  write(row: Row): string
}

/** A writer for the records that `recordOf` makes, by their schema. */
export function writerOf<Row, R extends object>(recordOf: (row: Row) => R, render: Render<R>): Writer<Row> {
  return { show: recordOf, write: row => render(recordOf(row)) }
}

/** @throws Failure invalid_argument if the cursor does not belong to this list */
export async function answerList<Row, Args extends ListArguments>(
  by: Call,
  args: Args,
  listing: Listing<Row, Args>,
): Promise<Answer> {
  const { number = DEFAULT_NUMBER, offset = 0 } = args
  const start = whereToStart(by, args, listing)
  const limit = number <= 0 ? Number.POSITIVE_INFINITY : number
  if (limit > ONE_PIECE_ROWS) by.beginStream()
  const order = listing.orders[start.orderby]!
  const isIndexed = isQuick(args, listing, order)
  const call = isIndexed ? by : by.patient
  const write = await rowWriter(call, args, listing)

  const headers: AnswerHeaders = {}
  if (args.count) headers['X-Total-Count'] = String(await listing.count(call, args))

  const linkAfter = (row: Row) => {
    const cursor = encodeCursor({ ...start, after: placeOf(row, order, listing) })
    headers.Link = nextLink(call, 'cursor', cursor, { without: ['offset'], path: listing.path?.(args) })
  }

  if (limit <= ONE_PIECE_ROWS) {
    // One extra row tells whether there is another page.
    const { descending, after } = start
    const page = { order, descending, after, offset, limit: limit + 1, isIndexed }
    const rows = await listing.page(call, args, page)
    if (rows.length > limit) {
      linkAfter(rows[limit - 1]!)
      rows.length = limit
    }
    return { status: 200, headers, body: `[${rows.map(write).join(',')}]` }
  }

  if (limit <= MOST_LINKED_ROWS) {
    // Headers precede the rows, so the rows are read twice: buffering them would take too much memory.
    const last = await lastOf(eachPage(call, args, listing, start, limit + 1), limit)
    if (last !== undefined) linkAfter(last)
  }
  const pages = eachPage(call, args, listing, start, limit)
  const first = await pages.next()
  return { status: 200, headers, body: stream() }

  async function* stream(): AsyncGenerator<string> {
    let separator = '['
    for (let page = first; !page.done; page = await pages.next()) {
      yield separator + page.value.map(write).join(',')
      separator = ','
    }
    yield separator === '[' ? '[]' : ']'
  }
}

/**
 * Arguments that keep a list an index read, whatever their value: `exclude` skips at most as many rows as the argument
 * names.
 */
const HARMLESS = new Set(['number', 'offset', 'orderby', 'order', 'cursor', 'fields', 'exclude'])

/**
 * Whether an index returns the whole list in order and in one piece: all rows, or those with a single filter value, by
 * identifier; or all rows in another indexed order. Any other list may read every row.
 */
function isQuick<Row, Args>(
  { number = DEFAULT_NUMBER, offset = 0, ...args }: ListArguments,
  { orders, extras = [], indexed = [] }: Listing<Row, Args>,
  order: Order,
): boolean {
  if (number <= 0 || number + offset > ONE_PIECE_ROWS) return false
  const byIdentifier = order === Object.values(orders)[0]
  if (!byIdentifier && !indexed.some(name => orders[name] === order)) return false
  // An index serves one order and one filter.
  let mayNarrow = byIdentifier
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined || HARMLESS.has(name) || extras.includes(name)) continue
    const isOne = Array.isArray(value) && value.length === 1
    if (!mayNarrow || !isOne || !indexed.includes(name)) return false
    mayNarrow = false
  }
  return true
}

/** All rows of a list, page by page; pages are never empty. */
export async function* eachPage<Row, Args extends ListArguments>(
  call: Call,
  args: Args,
  listing: Listing<Row, Args>,
  start = whereToStart(call, args, listing),
  total = Number.POSITIVE_INFINITY,
): AsyncGenerator<Row[], void> {
  const order = listing.orders[start.orderby]!
  let { after } = start
  let offset = args.offset ?? 0
  const most = order.computed ? COMPUTED_PAGE_ROWS : PAGE_ROWS
  for (let remaining = total; remaining > 0; remaining -= most) {
    const limit = Math.min(most, remaining)
    const rows = await listing.page(call, args, { order, descending: start.descending, after, offset, limit })
    if (rows.length > 0) yield rows
    if (rows.length < limit) return
    after = placeOf(rows.at(-1)!, order, listing)
    offset = 0
  }
}

/** @returns the row at position `limit`, if there are more */
async function lastOf<Row>(pages: AsyncIterable<Row[]>, limit: number): Promise<Row | undefined> {
  let remaining = limit
  let before: Row | undefined
  for await (const page of pages) {
    if (page.length > remaining) return remaining === 0 ? before : page[remaining - 1]
    remaining -= page.length
    before = page.at(-1)
  }
  return undefined
}

function placeOf<Row>(row: Row, order: Order, listing: Listing<Row, never>): NonNullable<Page['after']> {
  return { value: order.value(row), id: listing.identifier(row) }
}

/** Serialises a row: the whole record, its identifier, or the chosen fields. */
async function rowWriter<Row, Args extends ListArguments>(
  call: Call,
  args: Args,
  listing: Listing<Row, Args>,
): Promise<(row: Row) => string> {
  const fields = args.fields ?? []
  if (fields.includes('ids')) return row => String(listing.identifier(row))
  const { show, write } = await listing.writer(call, args)
  if (fields.length === 0 || fields.includes('*')) return write
  const hidden = new Set(listing.fields.filter(name => !fields.includes(name)))
  return row =>
    JSON.stringify(Object.fromEntries(Object.entries(show(row)).filter(([name]) => !hidden.has(name))))
}

/** @throws Failure invalid_argument, forbidden */
function whereToStart(
  call: Call,
  args: ListArguments,
  { orders, searchNeeds }: Pick<Listing<never, never>, 'orders' | 'searchNeeds'>,
): Cursor {
  const start = startOf(args, orders)
  refuseUnread(call, orders[start.orderby]!.needs, `order by ${start.orderby}`)
  if (args.search && !('id' in parseSearch(args.search))) refuseUnread(call, searchNeeds, 'search by text')
  return start
}

function refuseUnread({ actor }: Call, permission: string | undefined, what: string): void {
  if (!permission || actor.permissions.has(permission)) return
  throw new Failure('forbidden', {
    message: `To ${what} needs the permission ${permission}.`,
    data: { permission },
  })
}

function startOf(args: ListArguments, orders: Readonly<Record<string, Order>>): Cursor {
  const orderby = args.orderby ?? Object.keys(orders)[0]!
  const descending = args.order === 'desc'
  if (args.cursor === undefined) return { orderby, descending, after: undefined }
  if (args.offset) throw invalidArguments({ offset: 'must be left out when a cursor is sent.' })
  const cursor = decodeCursor(args.cursor, orders)
  if (cursor === undefined) {
    throw invalidArguments({ cursor: 'must be copied whole from the Link header of the page before.' })
  }
  if (
    (args.orderby !== undefined && args.orderby !== cursor.orderby) ||
    (args.order !== undefined && descending !== cursor.descending)
  ) {
    throw invalidArguments({ cursor: 'must be used with the orderby and order of the page before.' })
  }
  return cursor
}

/** What clients may send as it is in a query, and would end the address in a Link header. */
const NOT_IN_A_LINK = /[<>"\\]/g

/** Link header for the next page: this request's URL with the argument set, and without those it replaces. */
export function nextLink(
  call: Call,
  argument: string,
  value: string,
  {
    without = [],
    path = '',
  }: { readonly without?: readonly string[]; readonly path?: string | undefined } = {},
): string {
  const replaced = new Set([argument, ...without].flatMap(name => [name, `filter[${name}]`]))
  const otherPairs = call.query
    .split('&')
    .filter(pair => pair !== '' && !replaced.has(decodeName(pair.split('=', 1)[0]!)))
  const query = [...otherPairs, `${argument}=${value}`].join('&').replace(NOT_IN_A_LINK, encodeURIComponent)
  return `<${call.collectionUrl}${path}?${query}>; rel="next"`
}
