/** Puts the resources' endpoints under a base path: authentication, arguments, answers, discovery, 404 and 405. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../base/actor.ts'
import { Failure } from '../base/errors.ts'
import type { Context } from '../events/context.ts'
import { GuardedDatabase, type Tx } from '../storage/database.ts'
import { AnswerCache } from './answer-cache.ts'
import { ArgumentReader, refuse } from './arguments.ts'
import { authorize } from './authorize.ts'
import { absolute, HttpCall } from './call.ts'
import { cors } from './cors.ts'
import { byPath, describeIndex, describeRoute, openApi } from './discovery.ts'
import { type Answer, type Endpoint, inPath, type Resource } from './endpoint.ts'
import { fingerprintOf, once, ownerOf, readIdempotencyKey } from './idempotency.ts'
import type { Load } from './limits/load.ts'
import { noParameters, type Parameters, parseBody, parseUrlEncoded } from './parameters.ts'
import { answersRecord, entityTag, isKnown, refuseChanged, showing } from './preconditions.ts'
import { problemOf } from './problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the request is authenticated. */
    actor: Actor | null
  }
  interface FastifyReply {
    /** Refused before it was looked at, because there was too much to do. */
    shed: boolean
  }
}

export interface ApiOptions {
  readonly context: Context
  /** Finds out who asks, before anything else is read. */
  readonly authenticate: (request: FastifyRequest, reply: FastifyReply) => Promise<Actor>
  /** Finds out the same again while a request goes on, without counting it once more. */
  readonly confirm: (request: FastifyRequest) => Promise<Actor>
  /** What may still refuse a write of theirs; `after` is asked when the request has taken long. */
  readonly guards: {
    readonly before?: (tx: Tx, actor: Actor) => Promise<void>
    readonly after?: (tx: Tx, actor: Actor) => Promise<void>
  }
  readonly load: Load
  readonly resources: readonly Resource[]
  readonly base: string
  readonly corsOrigins: ReadonlySet<string>
  /** Of the OpenAPI document; without it there is none. */
  readonly version?: string
}

const JSON_TYPE = 'application/json; charset=utf-8'
const IGNORED_NAMES_SHOWN = 50
/** A request that takes longer, because it arrives or is read slowly, must still be allowed to go on. */
const CONFIRMED_FOR_MS = 500
const overloaded = problemOf(new Failure('overloaded'))

/** A Fastify plugin; register it with `base` as its prefix. */
export async function api(scope: FastifyInstance, options: ApiOptions): Promise<void> {
  const { context, resources, base } = options
  const reached = (request: FastifyRequest) => absolute(request, base)

  scope.addHook('onRequest', async (request, reply) => {
    context.database.refresh?.()
    if (options.load.tooMuch) {
      const { status, headers, body } = overloaded
      reply.shed = true
      return reply.code(status).headers(headers).send(body)
    }
    if (cors(options.corsOrigins, request, reply)) return reply
    request.actor = await options.authenticate(request, reply)
  })

  const cache = new AnswerCache(context.database)

  // A body is taken as it is: what it means is decided where the other arguments are read.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  const allowed = new Map<RegExp, string[]>()
  const allow = (path: string, methods: string[]) => {
    const withHead = methods.includes('GET') ? ['HEAD', ...methods] : methods
    const pattern = path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '\\d+')
    allowed.set(new RegExp(`^${base}${pattern}/?$`), withHead)
    return withHead.join(', ')
  }

  for (const resource of resources) {
    for (const [path, endpoints] of byPath(resource.endpoints)) {
      const url = path.replace(/\{(\w+)\}/g, ':$1(^\\d+$)')
      for (const endpoint of endpoints) {
        scope.route({
          method: [...endpoint.methods],
          url,
          onRequest: async request => authorize(request.actor!, endpoint.permission),
          handler: handlerOf(resource, endpoint, cache, options),
        })
      }
      const allowHeader = allow(path, [...endpoints.flatMap(endpoint => endpoint.methods), 'OPTIONS'])
      scope.options(url, async (request, reply) => {
        const described = async (): Promise<Answer> => {
          const settings = await context.settings.current()
          const body = describeRoute(resource, endpoints, base, reached(request), settings)
          return { status: 200, headers: { Allow: allowHeader }, body: JSON.stringify(body) }
        }
        const answered = await cache.answer(keyOf(request, 'OPTIONS', path), described)
        return answer(request, reply, answered, options.load)
      })
    }
  }

  allow('', ['GET'])
  scope.get('/', async (request, reply) => {
    const settings = await context.settings.current()
    reply.type(JSON_TYPE)
    return JSON.stringify(describeIndex(resources, base, reached(request), settings))
  })
  const { version } = options
  if (version !== undefined) {
    allow('/openapi.json', ['GET'])
    scope.get('/openapi.json', async (request, reply) => {
      reply.type(JSON_TYPE)
      return JSON.stringify(openApi(resources, reached(request), version))
    })
  }

  scope.setNotFoundHandler(async request => {
    const [path] = request.url.split('?', 1)
    for (const [pattern, methods] of allowed) {
      if (pattern.test(path!)) throw new Failure('no_method', { data: { allow: methods } })
    }
    throw new Failure('no_route')
  })
}

function handlerOf(
  resource: Resource,
  endpoint: Endpoint,
  cache: AnswerCache,
  { context, base, load, confirm, guards }: ApiOptions,
) {
  const reader = new ArgumentReader(endpoint.arguments)
  const ofItem = inPath(endpoint)
  const reads = endpoint.methods.includes('GET')
  const takesBody = !reads && !endpoint.methods.includes('DELETE')
  const tagged = answersRecord(endpoint)
  const act = reads ? endpoint.handle : writer(resource, endpoint)

  const withGuards = ({ actor }: FastifyRequest, reply: FastifyReply): Context => {
    const { before, after } = guards
    const database = new GuardedDatabase(context.database, {
      before: tx => before?.(tx, actor!),
      after: tx => (isLate(reply) ? after?.(tx, actor!) : undefined),
    })
    return { ...context, database }
  }
  const stillAllowed = async (request: FastifyRequest) => {
    request.actor = await confirm(request)
    authorize(request.actor, endpoint.permission)
  }

  const perform = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    if (isLate(reply)) await stillAllowed(request)
    const call = new HttpCall(reads ? context : withGuards(request, reply), request, resource, base)
    const body = takesBody ? await bodyOf(request) : noParameters
    const query = parseUrlEncoded(call.query)
    const { args, problems, missing, ignored } = reader.read(request.params as Parameters, body, query)
    const headers: Record<string, string> = {}
    if (ignored.length > 0) headers['X-Ignored-Arguments'] = ignoredHeader(ignored)
    // Failures say so too.
    reply.headers(headers)
    if (ofItem.some(name => name in problems)) throw new Failure(resource.missing)
    if (missing.length > 0 || Object.keys(problems).length > 0) {
      if (missing.length === 0) Object.assign(problems, await endpoint.check?.(call, args as never))
      refuse(missing, problems)
    }
    const answered = await act(call, args as never)
    if (tagged) headers.ETag = entityTag(answered.body as string)
    return { ...answered, headers: { ...answered.headers, ...headers } }
  }
  const answerOf =
    reads && resource.cacheable
      ? (request: FastifyRequest, reply: FastifyReply) =>
          cache.answer(keyOf(request, 'GET', endpoint.path), () => perform(request, reply))
      : perform

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const ended = endpoint.hashes ? load.hash() : load.begin()
    try {
      const answered = await answerOf(request, reply)
      return answer(request, reply, answered, load, () => stillAllowed(request))
    } finally {
      ended()
    }
  }
}

/** Whether who asks must be looked at again. */
function isLate(reply: FastifyReply): boolean {
  return reply.elapsedTime > CONFIRMED_FOR_MS
}

/** Does what an endpoint does, once and under the conditions that the request's headers name. */
function writer(resource: Resource, endpoint: Endpoint) {
  const show = showing(resource, endpoint)

  return async (call: HttpCall, args: Record<string, unknown>): Promise<Answer> => {
    const { method, headers, raw } = call.request
    // Node joins headers that come twice; taking them apart costs something for every request, so it is done when there is one.
    const keys = headers['idempotency-key'] === undefined ? undefined : raw.headersDistinct['idempotency-key']
    const key = readIdempotencyKey(keys, resource.replayed === true)
    const condition = show && headers['if-match']
    const prepared = await endpoint.prepare?.(call, args as never)
    const handle = (by: HttpCall) => endpoint.handle(by, args as never, prepared as never)
    if (key === undefined && condition === undefined) return handle(call)

    return call.database.transaction(
      async tx => {
        const inside = call.within(tx)
        const work = async () => {
          if (condition !== undefined) await refuseChanged(inside, show!, args, condition)
          return handle(inside)
        }
        if (key === undefined) return work()
        const fingerprint = fingerprintOf(method, endpoint.path, args)
        return once(tx, { owner: ownerOf(call.actor), key, fingerprint }, work)
      },
      { steady: condition !== undefined },
    )
  }
}

function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, cookies, body }: Answer,
  load: Load,
  stillAllowed = async () => {},
): FastifyReply {
  if (headers) reply.headers(headers)
  if (cookies) reply.header('Set-Cookie', cookies)
  if (headers?.ETag !== undefined && hasIt(request, headers.ETag)) return reply.code(304).send()
  reply.code(status)
  if (headers?.['Content-Type'] === undefined) reply.type(JSON_TYPE)
  if (typeof body === 'string') return reply.send(body)
  // What nobody will read is not read from the database either.
  if (request.method === 'HEAD') return reply.send('')
  const ended = load.stream(request.actor!.name)
  const pieces = Readable.from(whileAllowed(body, stillAllowed), { highWaterMark: 1 }).once('close', ended)
  // Where nothing but the end of the connection ends an answer (HTTP/1.0), half of one would look whole.
  pieces.once('error', () => request.raw.socket.resetAndDestroy())
  return reply.send(pieces)
}

/** Breaks off when the key or the session has ended, however slowly the answer is read. */
async function* whileAllowed(
  pieces: AsyncIterable<string>,
  stillAllowed: () => Promise<void>,
): AsyncGenerator<string> {
  let askedAt = performance.now()
  for await (const piece of pieces) {
    if (performance.now() - askedAt > CONFIRMED_FOR_MS) {
      await stillAllowed()
      askedAt = performance.now()
    }
    yield piece
  }
}

/**
 * What an answer depends on, beside the database. A line feed can be in none of the parts, and what is declared comes
 * first, so no header can make one request look like another.
 */
function keyOf(request: FastifyRequest, method: string, path: string): string {
  return `${method} ${path}\n${request.protocol}\n${request.host}\n${request.url}`
}

/** Whether the caller has the record as it is. */
function hasIt({ method, headers }: FastifyRequest, tag: string): boolean {
  const known = headers['if-none-match']
  return known !== undefined && (method === 'GET' || method === 'HEAD') && isKnown(known, tag)
}

async function bodyOf(request: FastifyRequest): Promise<Parameters> {
  const body = request.body as Buffer | undefined
  return body === undefined ? noParameters : parseBody(request.headers['content-type'] ?? '', body)
}

function ignoredHeader(names: string[]): string {
  return names
    .slice(0, IGNORED_NAMES_SHOWN)
    .map(name =>
      encodeURIComponent(name.slice(0, 100).toWellFormed()).replaceAll('%5B', '[').replaceAll('%5D', ']'),
    )
    .join(', ')
}
