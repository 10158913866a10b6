/** The OpenAPI document of the interface, derived from the endpoint declarations. */
import type { JsonSchema } from './coercion.ts'
import { argumentsOf, byPath, isRequired, type Json, typeOf } from './discovery.ts'
import { type Endpoint, inPath, type Resource, type SignedEndpoint } from './endpoint.ts'
import { Answers, takesKey } from './openapi-answers.ts'
import { belowItem, nameOf, Schemas, titleOf } from './openapi-schemas.ts'
import { LINES_TYPE } from './parameters.ts'
import { isConditional, showing } from './preconditions.ts'

/** OpenAPI 3.1 document of the interface. */
export function openApi(resources: readonly Resource[], serverUrl: string, version: string): Json {
  const answers = new Answers()
  const schemas = new Schemas()
  const paths = Object.fromEntries(resources.flatMap(resource => pathsOf(resource, answers)))
  return {
    openapi: '3.1.0',
    info: {
      title: 'affiliated',
      version,
      description:
        'Affiliates and their payouts. Every request carries an API key, except signed deliveries to a source.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    security: [{ basic: [] }, { bearer: [] }],
    tags: resources.map(({ name, title }) => ({ name, description: title })),
    paths: schemas.refer(paths),
    components: {
      securitySchemes: {
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'The public key as the user name, the token as the password.',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'The token.' },
        ...Object.fromEntries(resources.flatMap(signatures)),
      },
      ...schemas.refer(answers.components),
      schemas: schemas.components,
    },
  }
}

function pathsOf(resource: Resource, answers: Answers): [string, Json][] {
  const paths = [...byPath(resource.endpoints)].map(([path, endpoints]): [string, Json] => {
    const operations = endpoints.flatMap(endpoint =>
      endpoint.methods.map(method => [method.toLowerCase(), operation(resource, endpoint, method, answers)]),
    )
    return [path, Object.fromEntries(operations)]
  })
  const signed = (resource.signed ?? []).map((endpoint): [string, Json] => [
    endpoint.path,
    { post: signedOperation(resource, endpoint, answers) },
  ])
  return [...paths, ...signed]
}

const header = (name: string, description: string, schema: Json = {}): Json => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string', ...schema },
})
const idempotencyKey = header(
  'Idempotency-Key',
  'Identifies this write, so that repeating the request does not carry it out again.',
  {
    minLength: 1,
    maxLength: 255,
  },
)
const ifMatch = header(
  'If-Match',
  'Carries out the request only if the record still matches one of these entity tags; * matches any.',
)
const ifNoneMatch = header(
  'If-None-Match',
  'Answers 304 if the record still matches one of these entity tags.',
)

function operation(resource: Resource, endpoint: Endpoint, method: string, answers: Answers): Json {
  const ofItem = inPath(endpoint)
  const properties = argumentsOf(endpoint)
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
    operationId: `${method.toLowerCase()}_${nameOf(endpoint)}`,
    tags: [resource.name],
    summary: endpoint.summary,
    description: `Needs the permission ${endpoint.permission}.`,
    ...(parameters.length > 0 && { parameters }),
    ...(takesBody && { requestBody: requestBody(endpoint, Object.fromEntries(others)) }),
    responses: answers.of(resource, endpoint),
  }
}

const signatureOf = ({ name }: Resource) => `signed_${name}`

/** How senders without an API key are known, by name. */
const signatures = (resource: Resource): [string, Json][] =>
  (resource.signed ?? []).map(({ signature: { header, description } }) => [
    signatureOf(resource),
    { type: 'apiKey', in: 'header', name: header, description },
  ])

function signedOperation(resource: Resource, endpoint: SignedEndpoint, answers: Answers): Json {
  const { arguments: args, signature, summary } = endpoint
  return {
    operationId: `post_${resource.name}_signed_item${belowItem(endpoint)}`,
    tags: [resource.name],
    summary,
    description: signature.description,
    security: [{ [signatureOf(resource)]: [] }],
    parameters: Object.entries(args.properties).map(([name, schema]) => parameter(name, schema, true)),
    requestBody: { required: true, content: { 'application/json': { schema: {} } } },
    responses: answers.ofSigned(endpoint),
  }
}

function headersOf(resource: Resource, endpoint: Endpoint): Json[] {
  return [
    ...(takesKey(resource, endpoint) ? [idempotencyKey] : []),
    ...(showing(resource, endpoint) ? [ifMatch] : []),
    ...(isConditional(endpoint) ? [ifNoneMatch] : []),
  ]
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
    title: titleOf(endpoint, 'Body'),
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
