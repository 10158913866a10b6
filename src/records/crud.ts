/** Endpoints of a kind of record: list, create, get, edit and delete. Its rules do the rest. */
import { type TObject, type TOptional, type TUnknown, Type } from 'typebox'
import type { FailureName } from '../base/errors.ts'
import { refused } from '../base/schemas.ts'
import type { Settings } from '../base/settings.ts'
import { createLines } from '../http/create-lines.ts'
import {
  type Answer,
  type Call,
  CREATE,
  createdAnswer,
  EDIT,
  type Endpoint,
  endpoint,
  type Lines,
  type Resource,
} from '../http/endpoint.ts'
import {
  answerList,
  type ListArguments,
  type Listing,
  listAnswer,
  listArguments,
  narrowing,
} from '../http/list.ts'
import type { Fields } from './field.ts'
import { createGathered } from './gathered.ts'
import { type Kind, pathOf, type ReadRowOf, type RowOf } from './kind.ts'
import type { Reading, Writing } from './rules.ts'

type Any = Kind<string, string, Fields>

/** Response body of one record. */
export async function body<F extends Fields>(
  call: Call,
  kind: Pick<Kind<string, string, F>, 'write'>,
  row: ReadRowOf<F>,
): Promise<string> {
  return kind.write(row, await call.settings.current())
}

/**
 * The answer to a create: the record, and its URL as `Location`.
 * @param settings that it was created by; those of the call when omitted
 */
export async function answerCreated<F extends Fields>(
  call: Call,
  { write }: Pick<Kind<string, string, F>, 'write'>,
  row: ReadRowOf<F> & { readonly id: number },
  settings?: Settings,
): Promise<Answer> {
  return {
    status: 201,
    headers: { Location: `${call.collectionUrl}/${row.id}` },
    body: write(row, settings ?? (await call.settings.current())),
  }
}

/** Creates a record, together with those that arrive at the same moment where its rules can, and answers with it. */
export async function createAndAnswer<A extends object, F extends Fields>(
  call: Call,
  kind: Pick<Kind<string, string, F>, 'name' | 'write'>,
  args: A,
  rules: Pick<Writing<A, never, ReadRowOf<F> & { readonly id: number }>, 'create' | 'createMany'>,
): Promise<Answer> {
  const { created, settings } = await createGathered(kind.name, call, args, rules)
  return answerCreated(call, kind, created, settings)
}

/**
 * NDJSON batches of a kind.
 * @param args arguments of one record
 */
export function linesOfKind<A, F extends Fields>(
  { name, record, write }: Pick<Kind<string, string, F>, 'name' | 'record' | 'write'>,
  args: TObject,
  {
    problems,
    create,
    createMany,
  }: Pick<Writing<A, never, ReadRowOf<F>>, 'problems' | 'create' | 'createMany'>,
): Lines {
  return createLines<ReadRowOf<F>>({
    arguments: args,
    result: { [name]: record },
    problems,
    create,
    ...(createMany && { createMany }),
    tell: (row, settings) => ({ members: `"${name}":${write(row, settings)}` }),
  })
}

/** Schema of the answer to a deletion. @param record schema of the record */
export const deletionOf = (record: TObject) => Type.Object({ deleted: Type.Boolean(), previous: record })

/** @param row as it was */
export async function answerDeleted<F extends Fields>(
  call: Call,
  kind: Pick<Kind<string, string, F>, 'write'>,
  row: ReadRowOf<F>,
): Promise<Answer> {
  return { status: 200, body: `{"deleted":true,"previous":${await body(call, kind, row)}}` }
}

/** A kind's list, for pages and exports. */
export function listingOf<N extends string, F extends Fields>(
  kind: Kind<N, string, F>,
  { orders, page, count }: Reading<ReadRowOf<F>>,
): Listing<ReadRowOf<F>, ListArguments> {
  return {
    orders,
    fields: Object.keys(kind.record.properties),
    indexed: kind.indexed,
    page,
    count,
    identifier: row => (row as { id: number }).id,
    writer: async call => {
      const settings = await call.settings.current()
      return { show: row => kind.show(row, settings), write: row => kind.write(row, settings) }
    },
  }
}

/**
 * Arguments of a new record of a kind beside its own. As in AffiliateWP an identifier is refused: whoever sends it means an
 * edit.
 */
export function refusedIdentifiers({ name }: Pick<Any, 'name'>): { readonly id: TOptional<TUnknown> } {
  const identifier = Type.Optional(refused(`numbered_${name}`))
  return { [`${name}_id`]: identifier, id: identifier }
}

/** Failures of each endpoint beyond those of every kind. */
export interface Failures {
  readonly create?: readonly FailureName[]
  readonly edit?: readonly FailureName[]
  readonly delete?: readonly FailureName[]
}

interface Parts {
  readonly kind: Any
  readonly rules: Reading<never> & Writing<never, never, never>
  readonly failures: Failures
  readonly path: string
  readonly item: string
  /** The record's name with its article. */
  readonly a: string
  /** The identifier among the arguments. */
  idOf(args: object): number
}

/**
 * List, create, get, edit and delete, in this order.
 * @param rules `plainRules` of the kind, or what it has in their place
 * @param failures of each endpoint beyond those of every kind, for the description of the API
 */
export function crud<N extends string, T extends string, F extends Fields>(
  kind: Kind<N, T, F>,
  rules: Reading<ReadRowOf<F>> & Writing<never, never, RowOf<F>>,
  failures: Failures = {},
): Resource {
  return resourceOf(kind, rules, [list, create, get, edit, remove], failures)
}

/** List and get, of records that are made and changed by something else. */
export function readOnly<N extends string, T extends string, F extends Fields>(
  kind: Kind<N, T, F>,
  rules: Reading<ReadRowOf<F>>,
): Resource {
  return resourceOf(kind, rules, [list, get])
}

/**
 * Counts or sums of a list, for the administration area.
 * @param total answers what `schema` describes, of the records that the list's filters leave
 */
export function totalsOf(
  { table, filters, filterProblems }: Pick<Any, 'table' | 'filters' | 'filterProblems'>,
  summary: string,
  schema: TObject,
  total: (call: Call, args: object) => Promise<object>,
): Endpoint {
  return endpoint({
    methods: ['GET'],
    path: `${pathOf(table)}/totals`,
    permission: `${table.name}.read`,
    summary,
    arguments: Type.Object(narrowing(filters)),
    answer: { status: 200, schema },
    check: async (call, args) => filterProblems(args, await call.settings.current()),
    handle: async (call, args) => ({ status: 200, body: JSON.stringify(await total(call, args)) }),
  })
}

function resourceOf<N extends string, T extends string, F extends Fields>(
  kind: Kind<N, T, F>,
  rules: object,
  endpoints: readonly ((parts: Parts) => Endpoint)[],
  failures: Failures = {},
): Resource {
  const { name, title, record } = kind
  const path = pathOf(kind.table)
  const parts: Parts = {
    kind: kind as unknown as Any,
    rules: rules as Parts['rules'],
    failures,
    path,
    item: `${path}/{${name}_id}`,
    a: `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name.replaceAll('_', ' ')}`,
    idOf: args => (args as Record<string, number>)[`${name}_id`]!,
  }
  return {
    name: path.slice(1),
    title,
    record,
    missing: `no_${name}`,
    replayed: true,
    derived: kind.derived,
    endpoints: endpoints.map(endpointOf => endpointOf(parts)),
  }
}

function list({ kind, rules, path }: Parts): Endpoint {
  const listing = listingOf(kind, rules)
  return endpoint({
    methods: ['GET'],
    path,
    permission: `${kind.table.name}.read`,
    summary: `List ${kind.title.toLowerCase()}`,
    quick: true,
    arguments: listArguments(listing.fields, Object.keys(rules.orders), kind.filters),
    answer: listAnswer(kind.record),
    check: async (call, args) => kind.filterProblems(args, await call.settings.current()),
    handle: (call, args) => answerList(call, args as ListArguments, listing),
  })
}

function create({ kind, rules, path, a, failures }: Parts): Endpoint {
  const createArguments = Type.Object({ ...kind.create.properties, ...refusedIdentifiers(kind) })
  return endpoint({
    methods: CREATE,
    path,
    permission: `${kind.table.name}.create`,
    summary: `Create ${a}`,
    arguments: createArguments,
    answer: createdAnswer(kind.record),
    failures: failures.create ?? [],
    lines: linesOfKind(kind, createArguments, rules),
    check: (call, args) => rules.problems(call, args),
    handle: (call, args) => createAndAnswer(call, kind, args as never, rules),
  })
}

function get({ kind, rules, item, a, idOf }: Parts): Endpoint {
  return endpoint({
    methods: ['GET'],
    path: item,
    permission: `${kind.table.name}.read`,
    summary: `Get ${a}`,
    quick: true,
    arguments: kind.item,
    answer: { status: 200, schema: kind.record },
    failures: [`no_${kind.name}`],
    handle: async (call, args) => ({
      status: 200,
      body: await body(call, kind, await rules.get(call, idOf(args))),
    }),
  })
}

function edit({ kind, rules, item, a, failures }: Parts): Endpoint {
  return endpoint({
    methods: EDIT,
    path: item,
    permission: `${kind.table.name}.edit`,
    summary: `Edit ${a}`,
    arguments: kind.edit,
    answer: { status: 200, schema: kind.record },
    failures: [`no_${kind.name}`, ...(failures.edit ?? [])],
    check: (call, args) => rules.problems(call, args),
    handle: async (call, args) => ({
      status: 200,
      body: await body(call, kind, await rules.edit(call, args as never)),
    }),
  })
}

function remove({ kind, rules, item, a, idOf, failures }: Parts): Endpoint {
  return endpoint({
    methods: ['DELETE'],
    path: item,
    permission: `${kind.table.name}.delete`,
    summary: `Delete ${a}`,
    arguments: kind.item,
    answer: { status: 200, schema: deletionOf(kind.record) },
    failures: [`no_${kind.name}`, ...(failures.delete ?? [])],
    handle: async (call, args) => answerDeleted(call, kind, await rules.remove(call, idOf(args))),
  })
}
