/** react-admin's data provider, on top of the API. */
import { type DataProvider, HttpError, type RaRecord } from 'react-admin'
import { AT_THE_FIELDS, get, orderOf, queryOf, request } from './api.ts'
import { changes, refuseContested } from './contested.ts'
import { pagesOf } from './pages.ts'
import { fieldName } from './ui/words.ts'

type Row = RaRecord<number>

async function list<R>(resource: string, args: Record<string, unknown>, signal?: AbortSignal) {
  const query = queryOf({ ...pagesOf(resource)?.reads, ...args })
  const { body, headers } = await request<(Row | object)[]>('GET', `${resource}?${query}`, {
    ...(signal && { signal }),
  })
  const data = body.map(row => {
    // The identifier is the first field; records that are only listed have no field `id`.
    const record = 'id' in row ? row : { ...row, id: Number(Object.values(row)[0]) }
    return completed<R>(resource, record)
  })
  return { data, total: Number(headers.get('x-total-count') ?? body.length) }
}

/**
 * Adds what forms need beside the record. Also for records of a list, which forms show until the full record is
 * loaded.
 */
function completed<R>(resource: string, record: Row, ...parts: readonly object[]): R {
  const whole = Object.assign({}, record, ...parts, pagesOf(resource)?.adds?.(record))
  // Cast: react-admin lets each page declare the record type of its resource.
  return whole as R
}

async function readRecord<R>(resource: string, id: unknown): Promise<R> {
  return (await oneWithTag<R>(resource, id)).record
}

async function oneWithTag<R>(resource: string, id: unknown): Promise<{ record: R; tag: string }> {
  const query = queryOf({ ...pagesOf(resource)?.reads })
  const { below = {} } = pagesOf(resource) ?? {}
  const [{ body, headers }, ...furtherParts] = await Promise.all([
    request<Row>('GET', `${resource}/${id}${query && `?${query}`}`),
    ...Object.keys(below).map(part => get<object>(`${resource}/${id}/${part}`)),
  ])
  return { record: completed<R>(resource, body, ...furtherParts), tag: headers.get('etag') ?? '' }
}

async function several<R>(resource: string, ids: unknown[]): Promise<R[]> {
  const kind = pagesOf(resource)?.kind
  if (kind) return (await list<R>(resource, { [`${kind}_id`]: ids, number: -1 })).data
  return Promise.all(ids.map(id => readRecord<R>(resource, id)))
}

/**
 * Reads a record again after a write, with everything that `getOne` returns: the answer to a write is the record
 * alone.
 */
async function writeRecord<R>(resource: string, record: Row): Promise<R> {
  const { reads, below, adds } = pagesOf(resource) ?? {}
  return reads || below || adds ? readRecord<R>(resource, record.id) : completed<R>(resource, record)
}

async function write(
  resource: string,
  kind: 'create' | 'update',
  path: string,
  body: unknown,
  condition: { idempotencyKey?: string; ifMatch?: string } = {},
): Promise<Row> {
  try {
    return (await request<Row>(kind === 'create' ? 'POST' : 'PATCH', path, { body, ...condition })).body
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    const field = pagesOf(resource)?.conflicts?.[error.body?.code]?.[kind]
    if (field) error.body.errors = { [field]: error.message, root: { serverError: AT_THE_FIELDS } }
    throw error
  }
}

/**
 * Sends only the fields that differ from the record that the form started with.
 * @param seen of a change that is decided at a button, not in a form: the other fields on which it was decided
 * @throws HttpError when someone else has changed the same fields meanwhile, or what decides together with them, and
 * saving a form again after that replaces the same ones; or when they have changed what it was decided on
 */
async function edit(
  resource: string,
  id: unknown,
  data: Record<string, unknown>,
  before: Record<string, unknown>,
  seen?: readonly string[],
): Promise<Row> {
  const changedFields = changes(data, before)
  const of = pagesOf(resource)
  const { record: now, tag } = await latest(resource, id, before)
  if (seen) refuseUnseen([...seen, ...Object.keys(changedFields)], changedFields, now, before)
  else {
    const goOn = { ...withChanges(resource, now, changedFields), id: Number(id) }
    await refuseContested(changedFields, now, before, { of, goOn })
  }
  const always = of?.always?.map(name => [name, now[name]]) ?? []
  const body = { ...Object.fromEntries(always), ...changedFields }
  return write(resource, 'update', `${resource}/${now.id}`, body, { ifMatch: tag })
}

/** The record as it is now, or the one that has replaced it. */
async function latest(resource: string, id: unknown, before: object) {
  const one = await oneWithTag<Row>(resource, id)
  const filter = pagesOf(resource)?.replacing?.(one.record, before)
  if (!filter) return one
  const [replacing] = (await list<Row>(resource, { ...filter, number: 1 })).data
  return replacing ? oneWithTag<Row>(resource, replacing.id) : one
}

/** A record of now, with what a form has changed where the form shows it in another way than it sends it. */
function withChanges(resource: string, now: Row, changedFields: Record<string, unknown>): Row {
  const added = Object.entries(pagesOf(resource)?.adds?.({ ...now, ...changedFields }) ?? {})
  return { ...now, ...Object.fromEntries(added.filter(([name]) => !(name in changedFields))) }
}

/** What has become as it was wanted is no reason: the answer to the same press may have been lost. */
function refuseUnseen(
  seen: readonly string[],
  wanted: Record<string, unknown>,
  now: Row,
  before: Record<string, unknown>,
): void {
  const others = changes(changes(now, before), wanted)
  const [name] = seen.filter(one => one in others)
  if (name === undefined) return
  throw new HttpError(
    `Nothing was done: someone else has changed the ${fieldName(name)} meanwhile. Look at it, and decide again.`,
    412,
  )
}

/** Result of a bulk action. */
export interface Outcome {
  readonly done: readonly number[]
  readonly failed: readonly { readonly id: number; readonly message: string }[]
}

/** The records of a bulk action: some, or all that match a filter. */
export type Selection = { readonly ids: readonly number[] } | { readonly filter: object }

/** What somebody who decides on a record looks at: its identifier, its status, and fields that a kind names. */
export type Seen = Readonly<Record<string, string | number>> & { readonly status: string }

/** Identifiers per request. */
const NAMED_AT_ONCE = 1000

/**
 * Reads what somebody decides on.
 * @param fields beside identifier and status
 */
export async function readSeen(
  resource: string,
  selection: Selection,
  fields: readonly string[],
): Promise<Seen[]> {
  const id = identifierOf(resource)
  const narrowings =
    'filter' in selection ? [selection.filter] : chunksOf(selection.ids).map(ids => ({ [id]: ids }))
  const parts: Seen[][] = []
  for (const narrowing of narrowings) {
    const query = queryOf({ ...narrowing, fields: [id, 'status', ...fields], number: -1 })
    parts.push(await get(`${resource}?${query}`))
  }
  return parts.flat()
}

/**
 * Performs a bulk action on what was looked at, as far as it is still so and still selected. Records that fail do not stop
 * the others.
 * @param args of the action
 */
export async function doToMany(
  resource: string,
  action: string,
  selection: Selection,
  seen: readonly Seen[],
  args: object,
): Promise<Outcome> {
  const id = identifierOf(resource)
  const filter = 'filter' in selection ? withValue(selection.filter) : {}
  const doneIds: number[] = []
  const failed: Outcome['failed'][number][] = []
  for (const part of chunksOf(seen)) {
    const named = { [id]: part.map(record => record[id]), seen: part }
    let after: number | null = 0
    while (after !== null) {
      const sent: object = { action, ...args, ...filter, ...named, ...(after > 0 && { after }) }
      const { body } = await request<Outcome & { next: number | null }>('POST', `${resource}/bulk`, {
        body: sent,
      })
      doneIds.push(...body.done)
      failed.push(...body.failed)
      after = body.next
    }
  }
  return { done: doneIds, failed }
}

const identifierOf = (resource: string) => `${pagesOf(resource)!.kind}_id`

function chunksOf<T>(all: readonly T[]): T[][] {
  const chunks: T[][] = []
  for (let start = 0; start < all.length; start += NAMED_AT_ONCE) {
    chunks.push(all.slice(start, start + NAMED_AT_ONCE))
  }
  return chunks
}

const withValue = (filter: object) =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== '' && value !== null))

/** What react-admin's type asks for, and no page uses. */
async function unused(): Promise<never> {
  throw new Error('No page uses this.')
}

export const dataProvider: DataProvider = {
  supportAbortSignal: true,
  getList: (resource, { pagination, sort, filter, signal }) => {
    const { page, perPage } = pagination ?? { page: 1, perPage: 25 }
    const args = {
      ...filter,
      number: perPage,
      offset: (page - 1) * perPage,
      ...(sort && orderOf(sort)),
      count: 1,
    }
    return list(resource, args, signal)
  },
  getOne: async (resource, { id }) => ({ data: await readRecord(resource, id) }),
  getMany: async (resource, { ids }) => ({ data: await several(resource, ids) }),
  getManyReference: unused,
  create: async (resource, { data, meta }) => {
    const record = await write(resource, 'create', resource, data, { idempotencyKey: meta?.keyOf?.(data) })
    return { data: await writeRecord(resource, record) }
  },
  update: async (resource, { id, data, previousData, meta }) => {
    const record = await edit(resource, id, data, previousData, meta?.seen)
    // Editing a rule creates a new version with another id; react-admin expects the id that the form was opened with. The
    // one in `id` is a text, of the address: with it, the record that is read next would look like another one, whose
    // values replace those that are being typed.
    return { data: completed(resource, await writeRecord<Row>(resource, record), { id: previousData.id }) }
  },
  // Many are changed by `doToMany`.
  updateMany: unused,
  delete: async (resource, { id, previousData }) => {
    await request('DELETE', `${resource}/${id}`)
    return { data: previousData ?? completed(resource, { id: Number(id) }) }
  },
  deleteMany: unused,
}
