/** Bulk endpoints of a kind of record. */
import { type TObject, type TProperties, Type } from 'typebox'
import { entryOf } from '../base/errors.ts'
import { choice, flag, listOf } from '../base/schemas.ts'
import type { RequestContext } from '../events/write.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { narrowing } from '../http/list.ts'
import { type BulkArguments, type BulkKind, bulk, type Outcome } from './bulk-rules.ts'
import { type Kind, pathOf } from './kind.ts'

const outcome = (actions: readonly string[]) =>
  Type.Object({
    action: choice(actions, 'The action of the request.'),
    done: Type.Array(Type.Integer(), {
      description: 'Identifiers of the records for which the action succeeded.',
    }),
    failed: Type.Array(
      Type.Object({
        id: Type.Integer({ description: 'Identifier.' }),
        code: Type.String({ description: 'Code of the error.' }),
        message: Type.String({ description: 'Why the action failed.' }),
      }),
      { description: 'Records for which the action failed, and why.' },
    ),
    next: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'Null once all records are processed; otherwise send the same request again with this value as after. A request stops after 1,000 records or 10 seconds.',
    }),
  })

const selection = {
  all: Type.Optional(
    flag('Confirms that all records are meant; required if no filter limits the selection.'),
  ),
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Only records with identifiers above this: the value of next in the previous answer.',
    }),
  ),
}

/** The argument that says what somebody believes the status to be: of the values that the list's filter takes. */
const fromOf = ({ status }: TProperties) => ({
  from: Type.Optional({
    ...status!,
    description: 'Statuses that the records must have: the action fails for others.',
  }),
})

interface Schemas {
  readonly record: TObject
  readonly item: TObject
}

const seenOf = ({ record, item }: Schemas) => ({
  seen: Type.Optional(
    listOf(
      Type.Object({ ...Type.Partial(record).properties, ...item.properties }),
      'The records as they were when the decision was made, with any of their fields: the action fails for records that differ, and for records that are not in this list.',
    ),
  ),
})

interface Definition {
  readonly kind: BulkKind & Pick<Kind, 'title' | 'table' | 'filters'> & Schemas
  /** Operation on one record, by action name. */
  readonly actions: Readonly<
    Record<string, (context: RequestContext, id: number, args: object) => Promise<unknown>>
  >
  /** Arguments of the actions; each says itself when it does not take one. */
  readonly actionArguments?: TProperties
  remove(context: RequestContext, id: number): Promise<unknown>
}

/** Two endpoints: bulk change and bulk deletion. */
export function bulkEndpoints({ kind, actions, actionArguments = {}, remove }: Definition): Endpoint[] {
  const { title, filters } = kind
  const table = kind.table.name
  const names = Object.keys(actions)
  const path = `${pathOf(kind.table)}/bulk`
  const which = { ...selection, ...narrowing(filters) }
  return [
    endpoint({
      methods: ['POST'],
      path,
      permission: `${table}.edit`,
      summary: `Change many ${title.toLowerCase()}`,
      arguments: Type.Object({
        action: choice(names, 'Action to carry out on each record.'),
        ...fromOf(filters),
        ...seenOf(kind),
        ...actionArguments,
        ...which,
      }),
      answer: { status: 200, schema: outcome(names) },
      inParts: true,
      strict: true,
      handle: async (call, { action, ...args }) => {
        const sent = Object.entries(args)
        const isOfAction = ([name]: [string, unknown]) => name in actionArguments
        const own = Object.fromEntries(sent.filter(isOfAction))
        const selecting = Object.fromEntries(sent.filter(entry => !isOfAction(entry)))
        const act = (context: RequestContext, { id }: { id: number }) => actions[action]!(context, id, own)
        return { status: 200, body: bodyOf(action, await bulk(call, kind, selecting, act)) }
      },
    }),
    endpoint({
      methods: ['DELETE'],
      path,
      permission: `${table}.delete`,
      summary: `Delete many ${title.toLowerCase()}`,
      arguments: Type.Object(which),
      answer: { status: 200, schema: outcome(['delete']) },
      inParts: true,
      strict: true,
      handle: async (call, args) => ({
        status: 200,
        body: bodyOf(
          'delete',
          await bulk(call, kind, args as BulkArguments, (context, { id }) => remove(context, id)),
        ),
      }),
    }),
  ]
}

function bodyOf(action: string, { done, failed, next }: Outcome): string {
  const reasons = failed.map(({ id, failure }) => ({
    id,
    code: entryOf(failure.failure).code,
    message: failure.message,
  }))
  return JSON.stringify({ action, done, failed: reasons, next })
}
