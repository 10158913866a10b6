/**
 * Any input at all gets an answer: requests are generated from the endpoints' own schemas and against them, and none
 * may end in a fault of the service.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { TObject, TSchema } from 'typebox'
import { resources } from '../src/app.ts'
import type { Endpoint, Method } from '../src/http/endpoint.ts'
import { anyText } from './any-text.ts'
import { exchange } from './client.ts'
import { describeService, type Service } from './harness.ts'

const REQUESTS = process.env.LONG ? 200_000 : 20_000
const IN_FLIGHT = 32
/** Tenths of them. */
const MOST_FURTHER = 30

/** Values that have broken programs before. */
const hostile = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.constantFrom<unknown>(
      null,
      '',
      ' ',
      '0',
      '-1',
      'true',
      '\u0000',
      '\ud800',
      '\u202e',
      '😀',
      '%',
      '_',
      "'; DROP TABLE users; --",
      '<script>alert(1)</script>',
      '__proto__',
      'NaN',
      '1e400',
      '9007199254740993',
      0,
      -0,
      -1,
      1e21,
      0.1 + 0.2,
      Number.MAX_SAFE_INTEGER,
      true,
      [],
      {},
      [[]],
      { start: [] },
      { min: {} },
      { toString: 1 },
    ),
  },
  { weight: 1, arbitrary: fc.nat(30_000).map(length => 'x'.repeat(length)) },
  { weight: 5, arbitrary: anyText() },
  { weight: 5, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 5, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
)

/** Values that a schema allows, mostly. */
function fitting(schema: TSchema): fc.Arbitrary<unknown> {
  const { type, enum: choices, anyOf, items, properties, const: constant, format } = schema as any
  if (choices) return fc.constantFrom(...choices)
  if (anyOf) return fc.oneof(...anyOf.map(fitting))
  if (constant !== undefined) return fc.constant(constant)
  switch (type) {
    case 'integer':
      return fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 60 }) }, fc.maxSafeNat())
    case 'number':
      return fc.oneof(
        fc.nat(100_000).map(cents => cents / 100),
        fc.double({ min: 0, max: 1e12, noNaN: true }),
      )
    case 'boolean':
      return fc.constantFrom<unknown>(true, false, 'yes', 'off', '1')
    case 'array':
      return fc.array(fitting(items), { maxLength: 5 })
    case 'object':
      return fc.record(mapValues(properties, fitting), { requiredKeys: [] })
    default:
      if (format?.endsWith('email')) return fc.nat(500).map(number => `person${number}@example.com`)
      if (format === 'date') return fc.constantFrom('2024-02-29', '2099-01-31')
      if (format === 'moment') return fc.constantFrom('2024-02-29', '2025-01-31 10:00:00')
      return fc.string({ maxLength: 30 })
  }
}

function mapValues<T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record ?? {}).map(([name, value]) => [name, change(value)]))
}

interface Generated {
  method: Method | 'OPTIONS'
  path: string
  query: string
  body?: string | URLSearchParams | FormData | Buffer
  type?: string
}

const strangeName = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'filter', 'id', 'a[b]', 'date[start]'),
  fc.string(),
)

/** Half of the requests have only values that their schemas allow; the others have some that break them. */
function argumentsOf(endpoint: Endpoint): fc.Arbitrary<Record<string, unknown>> {
  const { properties, required = [] } = endpoint.arguments as TObject & { required?: string[] }
  const { affiliate_id, id, ...ownValues } = properties
  const sent = endpoint.permission === 'affiliates.create' ? ownValues : properties
  const tame = fc.record(mapValues(sent, fitting), { requiredKeys: required })
  const wild = fc.record(
    mapValues(properties, schema => fc.oneof({ weight: 3, arbitrary: fitting(schema) }, hostile)),
    { requiredKeys: [] },
  )
  const strange = fc.dictionary(strangeName, hostile, { maxKeys: 2 })
  const people = fc.record({
    create_user: fc.constant(true),
    payment_email: fc.nat(200).map(number => `person${number}@example.com`),
  })
  return fc.oneof(
    // So few people that they meet: the first of each is made, the others conflict.
    endpoint.permission === 'affiliates.create' ? fc.oneof(tame, people) : tame,
    fc.tuple(wild, strange).map(([args, extra]) => ({ ...extra, ...args })),
  )
}

const argumentsByEndpoint = new Map(
  resources.flatMap(resource => resource.endpoints.map(endpoint => [endpoint, argumentsOf(endpoint)])),
)

const requests: fc.Arbitrary<Generated> = fc
  .constantFrom(...resources.flatMap(resource => resource.endpoints))
  .chain(endpoint =>
    fc
      .record({
        method: fc.constantFrom<Generated['method']>(...endpoint.methods, 'OPTIONS'),
        item: fc.oneof(
          { weight: 5, arbitrary: fc.integer({ min: 1, max: 60 }).map(String) },
          fc.constantFrom('0', '9'.repeat(30), 'x', '%00', '%ff', '..'),
        ),
        args: argumentsByEndpoint.get(endpoint)!,
        where: fc.constantFrom('query', 'json', 'form', 'multipart', 'broken'),
        garbage: fc.uint8Array({ maxLength: 200 }),
        rawQuery: fc.oneof(
          { weight: 4, arbitrary: fc.constant('') },
          fc.string({ unit: fc.constantFrom(...'ab[]=&%+,09'), maxLength: 40 }),
        ),
      })
      .map(generated => requestOf(endpoint, generated)),
  )

function requestOf(
  endpoint: Endpoint,
  {
    method,
    item,
    args,
    where,
    garbage,
    rawQuery,
  }: {
    method: Generated['method']
    item: string
    args: Record<string, unknown>
    where: string
    garbage: Uint8Array
    rawQuery: string
  },
): Generated {
  const path = endpoint.path.replace(/\{\w+\}/, item)
  const pairs = flatten(args)
  if (where === 'query' || method === 'GET' || method === 'OPTIONS') {
    const query = new URLSearchParams(pairs).toString().slice(0, 8000)
    return { method, path, query: `${rawQuery}&${query}` }
  }
  const request = { method, path, query: rawQuery }
  if (where === 'json') return { ...request, body: JSON.stringify(args), type: 'application/json' }
  if (where === 'form') return { ...request, body: new URLSearchParams(pairs) }
  if (where === 'broken') return { ...request, body: Buffer.from(garbage), type: 'application/json' }
  const form = new FormData()
  for (const [name, value] of pairs) form.append(name, value)
  return { ...request, body: form }
}

/** As a form writes them: a[]=…, a[b]=…. */
function flatten(value: unknown, prefix = ''): [string, string][] {
  if (Array.isArray(value)) return value.flatMap(item => flatten(item, `${prefix}[]`))
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, item]) =>
      flatten(item, prefix === '' ? name : `${prefix}[${name}]`),
    )
  }
  return [[prefix, String(value).toWellFormed()]]
}

const parse = (text: string) => JSON.parse(text)

async function send(service: Service, { method, path, query, body, type }: Generated): Promise<number> {
  const {
    status,
    headers,
    text: received,
  } = await exchange(method, `${service.url}/v1${path}?${query}`, {
    headers: { authorization: `Bearer ${service.key.token}`, ...(type && { 'content-type': type }) },
    body,
  })
  const what = `${method} ${path}?${query} -> ${status} ${received.slice(0, 300)}`
  assert.ok(status < 500, what)
  const kind = headers.get('content-type')
  // A result on each line, where many were sent; and a reconciliation is a file.
  const isLines = kind === 'application/x-ndjson'
  const isFile = status < 300 && kind?.startsWith('text/csv') === true
  const answer = isLines ? received.split('\n').filter(Boolean).map(parse) : isFile || parse(received)
  if (status >= 400) {
    assert.equal(typeof answer.code, 'string', what)
    assert.equal(answer.data.status, status, what)
    assert.ok(headers.get('x-request-id'), what)
    assert.doesNotMatch(received, /node_modules|SQLITE|SELECT |at \w+ \(/, what)
  }
  return status
}

describeService('any input', service => {
  test(`${REQUESTS} generated requests: an answer below 500, every failure in its envelope`, async () => {
    for (let index = 0; index < 20; index += 1) await service().newAffiliate(`seed${index}`)
    const seen = new Map<number, number>()
    const ask = (batches: number) =>
      fc.assert(
        fc.asyncProperty(fc.array(requests, { minLength: IN_FLIGHT, maxLength: IN_FLIGHT }), async batch => {
          for (const status of await Promise.all(batch.map(request => send(service(), request)))) {
            seen.set(status, (seen.get(status) ?? 0) + 1)
          }
        }),
        { numRuns: batches, endOnFailure: true },
      )
    const batches = Math.ceil(REQUESTS / IN_FLIGHT)
    await ask(batches)
    // The generator must reach what it is meant to reach: a conflict takes two requests that meet, and so some luck.
    const isSeen = (status: number) => (seen.get(status) ?? 0) > 1
    const missing = () => [200, 201, 400, 404, 405, 409].filter(status => !isSeen(status))
    for (let further = 0; missing().length > 0 && further < MOST_FURTHER; further += 1)
      await ask(Math.ceil(batches / 10))
    assert.deepEqual(missing(), [], `${[...seen]}`)
    assert.equal((await service().get('/affiliates')).status, 200)
  })
})
