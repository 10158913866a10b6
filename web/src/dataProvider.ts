/** How react-admin's questions are asked of the server. */
import { type DataProvider, HttpError, type RaRecord } from 'react-admin'
import { AT_THE_FIELDS, get, orderOf, queryOf, request } from './api.ts'

type Row = RaRecord<number>

/** What a resource adds to each reading, and the argument that picks several records. */
const readings: Record<string, { extras?: Record<string, unknown>; pick?: string }> = {
  affiliates: { extras: { user: 1, effective: 1 }, pick: 'affiliate_id' },
  payouts: { pick: 'payout_id' },
  users: { pick: 'user_id' },
}

/** Conflicts name no argument: these are the ones that they are about. */
const conflicts: Record<string, Record<string, { create: string; update: string }>> = {
  affiliates: {
    existing_user_email: { create: 'payment_email', update: 'account_email' },
    existing_user_login: { create: 'username', update: 'username' },
    affwp_rest_affiliate_user_exists: { create: 'user_id', update: 'user_id' },
  },
  users: {
    existing_user_email: { create: 'email', update: 'email' },
    existing_user_login: { create: 'login', update: 'login' },
  },
}

async function list(resource: string, args: Record<string, unknown>, signal?: AbortSignal) {
  const query = queryOf({ ...readings[resource]?.extras, ...args })
  const { body, headers } = await request<Row[]>('GET', `${resource}?${query}`, { ...(signal && { signal }) })
  return { data: body, total: Number(headers.get('x-total-count') ?? body.length) }
}

async function one(resource: string, id: unknown): Promise<Row> {
  return (await oneWithTag(resource, id)).record
}

async function oneWithTag(resource: string, id: unknown): Promise<{ record: Row; tag: string }> {
  const query = queryOf({ ...readings[resource]?.extras })
  const asked = request<Row>('GET', `${resource}/${id}${query && `?${query}`}`)
  const notesAsked = resource === 'affiliates' && get<{ notes: string }>(`affiliates/${id}/notes`)
  const [{ body, headers }, notes] = await Promise.all([asked, notesAsked])
  const record = notes ? { ...body, ...notes, account_email: body.user?.user_email ?? '' } : body
  return { record, tag: headers.get('etag') ?? '' }
}

async function several(resource: string, ids: unknown[]): Promise<Row[]> {
  const pick = readings[resource]?.pick
  if (pick) return (await list(resource, { [pick]: ids, number: -1 })).data
  return Promise.all(ids.map(id => one(resource, id)))
}

/** What was written, as `getOne` shows it: the answer to a write has the record alone. */
async function written(resource: string, record: Row): Promise<Row> {
  return resource === 'affiliates' ? one(resource, record.id) : record
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
    const field = conflicts[resource]?.[error.body?.code]?.[kind]
    if (field) error.body.errors = { [field]: error.message, root: { serverError: AT_THE_FIELDS } }
    throw error
  }
}

/** What the record had become when a form was told so, by the record that the form began with. */
const told = new WeakMap<object, Row>()

/**
 * Sends what differs from the record that the form began with.
 * @throws HttpError when somebody else has changed the same meanwhile; once that was told, it is replaced
 */
async function edit(resource: string, id: unknown, data: Row, before: Row): Promise<Row> {
  const changed = changes(data, before)
  const { record: now, tag } = await oneWithTag(resource, id)
  const theirs = changes(now, told.get(before) ?? before)
  const contested = Object.keys(changes(changed, now)).filter(name => name in theirs)
  if (contested.length > 0) {
    told.set(before, now)
    throw changedMeanwhile(contested, now)
  }
  // The interface asks for the affiliate in every edit of a payout.
  const body = resource === 'payouts' ? { affiliate_id: data.affiliate_id, ...changed } : changed
  return write(resource, 'update', `${resource}/${id}`, body, { ifMatch: tag })
}

function changedMeanwhile(names: string[], now: Row): HttpError {
  const message = 'Somebody else has changed this meanwhile. Save again to replace what they wrote.'
  const said = names.map(name => [name, now[name] ? `It is ${now[name]} by now.` : 'It is empty by now.'])
  return new HttpError(message, 412, {
    errors: { ...Object.fromEntries(said), root: { serverError: message } },
  })
}

/** Only what differs is sent, so that two people who edit different things do not undo each other. */
export function changes(
  data: Record<string, unknown>,
  before: Record<string, unknown>,
): Record<string, unknown> {
  const changed = Object.entries(data).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  )
  return Object.fromEntries(changed)
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
    return list(resource, args, signal) as never
  },
  getOne: async (resource, { id }) => ({ data: (await one(resource, id)) as never }),
  getMany: async (resource, { ids }) => ({ data: (await several(resource, ids)) as never }),
  getManyReference: (resource, { target, id, pagination, sort, filter, signal }) =>
    dataProvider.getList(resource, {
      pagination,
      sort,
      filter: { ...filter, [target]: id },
      signal,
    }) as never,
  create: async (resource, { data, meta }) => {
    const record = await write(resource, 'create', resource, data, { idempotencyKey: meta?.keyOf(data) })
    return { data: (await written(resource, record)) as never }
  },
  update: async (resource, { id, data, previousData }) => {
    const record = await edit(resource, id, data as Row, previousData as Row)
    return { data: (await written(resource, record)) as never }
  },
  updateMany: async (resource, { ids, data }) => {
    for (const id of ids) await write(resource, 'update', `${resource}/${id}`, data)
    return { data: ids }
  },
  delete: async (resource, { id, previousData }) => {
    await request('DELETE', `${resource}/${id}`)
    return { data: (previousData ?? { id }) as never }
  },
  deleteMany: async (resource, { ids }) => {
    for (const id of ids) await request('DELETE', `${resource}/${id}`)
    return { data: ids }
  },
}
