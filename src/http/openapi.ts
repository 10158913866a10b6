/** The OpenAPI document of the interface, derived from the endpoint declarations. */
import { entryOf, type FailureName } from '../base/errors.ts'
import type { JsonSchema } from './coercion.ts'
import { byPath, isRequired, type Json, typeOf } from './discovery.ts'
import { type Endpoint, inPath, type Lines, type Resource } from './endpoint.ts'
import { MOST_LINES } from './lines.ts'
import { LINES_TYPE } from './parameters.ts'
import { isConditional, showing } from './preconditions.ts'

/** Failures that any request can end in. */
const everywhere: readonly FailureName[] = [
  'unauthenticated',
  'forbidden',
  'invalid_argument',
  'too_many_requests',
  'internal',
  'unavailable',
  'overloaded',
]
const withBody: readonly FailureName[] = ['invalid_json', 'body_too_large', 'unsupported_media_type']

/** OpenAPI 3.1 document of the interface. */
export function openApi(resources: readonly Resource[], serverUrl: string, version: string): Json {
  const paths: Record<string, Json> = {}
  for (const resource of resources) {
    for (const [path, endpoints] of byPath(resource.endpoints)) {
      paths[path] = Object.fromEntries(
        endpoints.flatMap(endpoint =>
          endpoint.methods.map(method => [method.toLowerCase(), operation(resource, endpoint, method)]),
        ),
      )
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'affiliated',
      version,
      description: 'Affiliates and their payouts. Every request carries an API key.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    security: [{ basic: [] }, { bearer: [] }],
    tags: resources.map(({ name, title }) => ({ name, description: title })),
    paths,
    components: {
      securitySchemes: {
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'The public key as user name, the token as password.',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'The token.' },
      },
      schemas: { Error: errorSchema },
    },
  }
}

const errorSchema = {
  type: 'object',
  required: ['code', 'message', 'data'],
  properties: {
    code: { type: 'string' },
    message: { type: 'string', description: 'What is wrong, with which argument, and what would be right.' },
    data: {
      type: 'object',
      required: ['status'],
      properties: {
        status: { type: 'integer' },
        params: {
          description: 'The names of missing arguments, or the reasons by argument.',
          anyOf: [
            { type: 'array', items: { type: 'string' } },
            { type: 'object', additionalProperties: { type: 'string' } },
          ],
        },
      },
    },
  },
}

const header = (name: string, description: string, schema: Json = {}): Json => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string', ...schema },
})
const idempotencyKey = header('Idempotency-Key', 'Names this write, so that it is done once.', {
  minLength: 1,
  maxLength: 255,
})
const ifMatch = header('If-Match', 'Does it only if the record is still one of these, or any with *.')
const ifNoneMatch = header('If-None-Match', 'Answers 304 if the record is still one of these.')

/** The part of a path after the item, such as '_ledger'. */
function belowItem({ path }: Endpoint): string {
  const below = path.includes('}') ? path.split('}')[1]! : path.replace(/^\/[^/]*/, '')
  return below.replaceAll('/', '_').replaceAll('-', '_')
}

function operation(resource: Resource, endpoint: Endpoint, method: string): Json {
  const ofItem = inPath(endpoint)
  const properties = Object.entries(endpoint.arguments.properties)
  const others = properties.filter(([name]) => !ofItem.includes(name))
  const reads = method === 'GET'
  const takesBody = !reads && method !== 'DELETE' && others.length > 0
  const parameters = [
    ...properties
      .filter(([name]) => ofItem.includes(name) || !takesBody)
      .map(([name, schema]) => parameter(name, schema, ofItem.includes(name))),
    ...headersOf(resource, endpoint),
  ]
  return {
    operationId: `${method.toLowerCase()}_${endpoint.permission.replace('.', '_')}${ofItem.length ? '_item' : ''}${belowItem(endpoint)}`,
    tags: [resource.name],
    summary: endpoint.summary,
    description: `Needs the permission ${endpoint.permission}.`,
    ...(parameters.length > 0 && { parameters }),
    ...(takesBody && { requestBody: requestBody(endpoint, Object.fromEntries(others)) }),
    responses: {
      ...(!endpoint.onlyLines && {
        [endpoint.answer.status]: { description: endpoint.summary, content: contentOf(endpoint.answer) },
      }),
      ...((endpoint.answer.repeats || endpoint.lines) && { 200: secondAnswer(endpoint) }),
      ...(isConditional(endpoint) && { 304: { description: 'The record is what If-None-Match names.' } }),
      ...failureResponses(failuresOf(resource, endpoint, reads)),
    },
  }
}

/** Whether an Idempotency-Key may be sent. */
const takesKey = ({ replayed = false }: Resource, { methods, inParts }: Endpoint) =>
  replayed && !inParts && !methods.includes('GET')

function headersOf(resource: Resource, endpoint: Endpoint): Json[] {
  return [
    ...(takesKey(resource, endpoint) ? [idempotencyKey] : []),
    ...(showing(resource, endpoint) ? [ifMatch] : []),
    ...(isConditional(endpoint) ? [ifNoneMatch] : []),
  ]
}

function failuresOf(resource: Resource, endpoint: Endpoint, reads: boolean): FailureName[] {
  const ofItem = inPath(endpoint)
  const others = Object.keys(endpoint.arguments.properties).filter(name => !ofItem.includes(name))
  const failures: FailureName[] = [...everywhere]
  if (reads) failures.push('took_too_long')
  if (!reads && others.length > 0) failures.push(...withBody)
  if (endpoint.lines) failures.push('too_many_batches')
  if (takesKey(resource, endpoint)) failures.push('idempotency_mismatch')
  if (showing(resource, endpoint)) failures.push('precondition_failed')
  failures.push(...endpoint.failures)
  if (others.some(name => isRequired(endpoint, name))) failures.push('missing_argument')
  return failures
}

function parameter(name: string, schema: JsonSchema, ofItem: boolean): Json {
  const { description, ...rest }: Json = { ...schema }
  const { type, anyOf } = schema
  const isList = type === 'array'
  const isObject = type === 'object' || anyOf?.some(member => member.type === 'object')
  return {
    name,
    in: ofItem ? 'path' : 'query',
    ...(ofItem && { required: true }),
    description,
    ...(isList && { style: 'form', explode: false }),
    ...(isObject && { style: 'deepObject', explode: true }),
    schema: rest,
  }
}

/** In a query, the style of the parameter says how a list is written as text. */
const inBody = (property: JsonSchema): JsonSchema | Json =>
  property.type === 'array' ? { ...property, type: typeOf(property) } : property

function requestBody(endpoint: Endpoint, properties: Record<string, JsonSchema>): Json {
  const required = Object.keys(properties).filter(name => isRequired(endpoint, name))
  const sent = Object.entries(properties).map(([name, property]) => [name, inBody(property)] as const)
  const schema = {
    type: 'object',
    properties: Object.fromEntries(sent),
    ...(required.length > 0 && { required }),
  }
  return {
    required: required.length > 0,
    content: {
      ...(!endpoint.onlyLines && {
        'application/json': { schema },
        'application/x-www-form-urlencoded': { schema },
        'multipart/form-data': { schema },
      }),
      ...(endpoint.lines && { [LINES_TYPE]: { schema } }),
    },
  }
}

function contentOf({ schema, types = ['application/json'] }: Endpoint['answer']): Json {
  return Object.fromEntries(types.map(type => [type.split(';', 1)[0]!, { schema }]))
}

const REPEATED = 'It is there already, by an earlier request.'
const RESULTS = `A result for each line of application/x-ndjson, in their order; at most ${MOST_LINES}.`

/** What is answered with the status 200 beside, or in place of, what was created. */
function secondAnswer({ answer, lines, onlyLines }: Endpoint): Json {
  const isRecord = !onlyLines && (answer.status === 200 || answer.repeats)
  return {
    description: [answer.repeats && REPEATED, lines && RESULTS].filter(text => text).join(' '),
    content: {
      ...(isRecord && contentOf(answer)),
      ...(lines && { [LINES_TYPE]: { schema: lineSchema(lines) } }),
    },
  }
}

/** Schema of the result of a line, with its number. */
function lineSchema({ result }: Lines): Json {
  return {
    type: 'object',
    required: ['line', 'status'],
    properties: {
      line: { type: 'integer', description: 'The number of the line, from 1.' },
      status: { type: 'integer', description: 'As of a request that has this line alone as its body.' },
      code: { type: 'string', description: 'Of the error, where the line was not done.' },
      message: { type: 'string', description: 'What is wrong with the line.' },
      data: { type: 'object', description: 'As of an error.' },
      ignored: {
        type: 'array',
        items: { type: 'string' },
        description: 'Names in the line that are no arguments, or have no value.',
      },
      ...result,
    },
  }
}

function failureResponses(failures: readonly FailureName[]): Json {
  const byStatus = Map.groupBy(failures, name => entryOf(name).status)
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      {
        description: names.map(name => `${entryOf(name).code}: ${entryOf(name).message}`).join('\n'),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  )
}
