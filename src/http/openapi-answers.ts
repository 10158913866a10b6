/** The answers of operations in the OpenAPI document: what a request gets, or what it fails by, with the headers that are sent. */
import { entryOf, type FailureName } from '../base/errors.ts'
import { memberOf } from '../base/unknown.ts'
import type { JsonSchema } from './coercion.ts'
import { isRequired, type Json } from './discovery.ts'
import {
  type Endpoint,
  inPath,
  type Lines,
  type Resource,
  type SignedEndpoint,
  takesBody,
} from './endpoint.ts'
import { type AnswerHeader, answerHeaders } from './headers.ts'
import { MOST_LINES } from './lines.ts'
import { titleOf } from './openapi-schemas.ts'
import { LINES_TYPE } from './parameters.ts'
import { answersRecord, isConditional, showing } from './preconditions.ts'
import { furtherHeader } from './problems.ts'

/** Failures of requests that do not arrive. */
const unreceived: readonly FailureName[] = ['request_timeout', 'headers_too_large']

/** Failures that any request can end in. */
const everywhere: readonly FailureName[] = [
  ...unreceived,
  'unauthenticated',
  'forbidden',
  'invalid_argument',
  'too_many_requests',
  'internal',
  'unavailable',
  'overloaded',
]
const withBody: readonly FailureName[] = [
  'invalid_json',
  'body_too_large',
  'unsupported_media_type',
  'too_many_bodies',
]
const withKey: readonly FailureName[] = ['idempotency_mismatch', 'answer_erased', 'too_many_answers']

/** Failures of a delivery that is signed. */
const ofSigned: readonly FailureName[] = [
  ...unreceived,
  'wrong_signature',
  'invalid_json',
  'body_too_large',
  'internal',
  'unavailable',
  'overloaded',
]

/** Whether an Idempotency-Key may be sent. */
export const takesKey = ({ replayed = false }: Resource, { methods, inParts }: Endpoint): boolean =>
  replayed && !inParts && !methods.includes('GET')

function failuresOf(resource: Resource, endpoint: Endpoint): FailureName[] {
  const ofItem = inPath(endpoint)
  const others = Object.keys(endpoint.arguments.properties).filter(name => !ofItem.includes(name))
  const schemas: JsonSchema[] = Object.values(endpoint.arguments.properties)
  const failures: FailureName[] = [...everywhere]
  failures.push(...(takesBody(endpoint) ? withBody : ['took_too_long' as const]))
  if (takesKey(resource, endpoint)) failures.push(...withKey)
  if (showing(resource, endpoint)) failures.push('precondition_failed')
  failures.push(...endpoint.failures)
  failures.push(...schemas.flatMap(schema => schema['x-refused'] ?? []))
  if (others.some(name => isRequired(endpoint, name))) failures.push('missing_argument')
  return failures
}

/** Failures of requests whose arguments nobody has read yet. */
const unread: ReadonlySet<FailureName> = new Set([
  ...unreceived,
  'unauthenticated',
  'forbidden',
  'invalid_json',
  'body_too_large',
  'unsupported_media_type',
  'too_many_requests',
  'too_many_bodies',
  'overloaded',
])

/** Failures of callers whose key is not known. */
const unnamed: ReadonlySet<FailureName> = new Set([...unreceived, 'unauthenticated'])

/** Of every answer to a caller whose key is known. */
const ofCaller: readonly AnswerHeader[] = [
  'X-Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
]

function headersOfFailures(names: readonly FailureName[]): AnswerHeader[] {
  const isKnown = names.some(name => !unnamed.has(name))
  return [
    ...(isKnown ? ofCaller : (['X-Request-Id'] as const)),
    ...(names.some(name => !unread.has(name)) ? (['X-Ignored-Arguments'] as const) : []),
    ...furtherHeaders(names),
  ]
}

const headersOfSigned = (names: readonly FailureName[]): AnswerHeader[] => [
  'X-Request-Id',
  ...furtherHeaders(names),
]

const furtherHeaders = (names: readonly FailureName[]) =>
  new Set(names.flatMap(name => furtherHeader(name) ?? []))

/** Of the record, or whatever else the arguments are answered by. */
function headersOfAnswer(endpoint: Endpoint): AnswerHeader[] {
  return [...ofCaller, 'X-Ignored-Arguments', ...(answersRecord(endpoint) ? (['ETag'] as const) : [])]
}

/** The envelope of every failure. */
const errorSchema = {
  title: 'Error',
  type: 'object',
  required: ['code', 'message', 'data'],
  properties: {
    code: { type: 'string' },
    message: { type: 'string', description: 'What is wrong, with which argument, and what is expected.' },
    data: {
      type: 'object',
      required: ['status'],
      properties: {
        status: { type: 'integer' },
        params: {
          description: 'Names of the missing arguments, or a reason for each invalid argument.',
          anyOf: [
            { type: 'array', items: { type: 'string' } },
            { type: 'object', additionalProperties: { type: 'string' } },
          ],
        },
      },
    },
  },
}

const REPEATED = 'An earlier request has already created the record.'
const RESULTS = `With application/x-ndjson, one result per line, in the same order; at most ${MOST_LINES} lines.`

/** The answers of operations. Headers and failures are the same in many, so each is described once and referred to. */
export class Answers {
  readonly #headers: Json = {}
  readonly #responses: Json = {}

  /** What the answers refer to, once all of them are described. */
  get components(): Json {
    return { headers: this.#headers, responses: this.#responses }
  }

  /** By status. */
  of(resource: Resource, endpoint: Endpoint): Json {
    const { answer, lines, onlyLines, summary } = endpoint
    const replayed: AnswerHeader[] = takesKey(resource, endpoint) ? ['Idempotent-Replayed'] : []
    const headers = [...headersOfAnswer(endpoint), ...(answer.headers ?? []), ...replayed]
    return {
      ...(!onlyLines && {
        [answer.status]: {
          description: summary,
          headers: this.#named(headers),
          content: contentOf(answer, titleOf(endpoint, 'Answer')),
        },
      }),
      ...((answer.repeats || lines) && { 200: this.#second(endpoint, replayed) }),
      ...(isConditional(endpoint) && { 304: this.#unchanged() }),
      ...this.#failures(failuresOf(resource, endpoint)),
    }
  }

  /** What is answered with the status 200 beside, or in place of, what was created. */
  #second(endpoint: Endpoint, replayed: readonly AnswerHeader[]): Json {
    const { answer, lines, onlyLines } = endpoint
    const isRecord = !onlyLines && (answer.status === 200 || answer.repeats)
    const headers = isRecord ? headersOfAnswer(endpoint) : ofCaller
    return {
      description: [answer.repeats && REPEATED, lines && RESULTS].filter(text => text).join(' '),
      headers: this.#named([...headers, ...(answer.repeats ? (['Idempotent-Replayed'] as const) : replayed)]),
      content: {
        ...(isRecord && contentOf(answer, titleOf(endpoint, 'Answer'))),
        ...(lines && {
          [LINES_TYPE]: { schema: { title: titleOf(endpoint, 'Line'), ...lineSchema(lines) } },
        }),
      },
    }
  }

  /** Nobody counts the requests of senders who sign. */
  ofSigned({ answer, failures, summary }: SignedEndpoint): Json {
    return {
      [answer.status]: {
        description: summary,
        headers: this.#named(['X-Request-Id']),
        content: contentOf(answer),
      },
      ...this.#failures([...ofSigned, ...failures], headersOfSigned, 'signed.'),
    }
  }

  #unchanged(): Json {
    return this.#shared('not_modified', () => ({
      description: 'The record still matches If-None-Match.',
      headers: this.#named([...ofCaller, 'X-Ignored-Arguments', 'ETag']),
    }))
  }

  /** @param beginning of the names of answers that have other headers */
  #failures(failures: readonly FailureName[], headersOf = headersOfFailures, beginning = ''): Json {
    const byStatus = Map.groupBy(new Set(failures), name => entryOf(name).status)
    return Object.fromEntries(
      [...byStatus].map(([status, names]) => [
        status,
        this.#shared(beginning + names.join('.'), () => ({
          description: names.map(name => `${entryOf(name).code}: ${entryOf(name).message}`).join('\n'),
          headers: this.#named(headersOf(names)),
          content: { 'application/json': { schema: errorSchema } },
        })),
      ]),
    )
  }

  #shared(name: string, describe: () => Json): Json {
    this.#responses[name] ??= describe()
    return { $ref: `#/components/responses/${name}` }
  }

  #named(names: readonly AnswerHeader[]): Json {
    for (const name of names) this.#headers[name] ??= answerHeaders[name]
    return Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
  }
}

/** @param title of the answer, where it is an object without one */
function contentOf({ schema, types = ['application/json'] }: Endpoint['answer'], title?: string): Json {
  return Object.fromEntries(
    types.map(type => [
      type.split(';', 1)[0]!,
      { schema: { ...(memberOf(schema, 'type') === 'object' && title && { title }), ...schema } },
    ]),
  )
}

/** Schema of the result of a line, with its number. */
function lineSchema({ result }: Lines): Json {
  return {
    type: 'object',
    required: ['line', 'status'],
    properties: {
      line: { type: 'integer', description: 'Number of the line, from 1.' },
      status: {
        type: 'integer',
        description: 'Status of the answer to a request with this line alone as its body.',
      },
      code: { type: 'string', description: 'Code of the error, if the line was refused.' },
      message: { type: 'string', description: 'What is wrong with the line.' },
      data: { type: 'object', description: 'Data of the error, as in the answer to a request that fails.' },
      ignored: {
        type: 'array',
        items: { type: 'string' },
        description: 'Arguments of the line that were ignored: unknown ones, and those without a value.',
      },
      ...result,
    },
  }
}
