import type { FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { Failure, type Problems, refuseInvalid } from '../../base/errors.ts'
import { isObject } from '../../base/unknown.ts'
import type { Context } from '../../events/write.ts'
import { ArgumentReader, addFound, refuse } from '../arguments.ts'
import { HttpCall, queryOf } from '../call.ts'
import { type Endpoint, inPath, type Resource, takesBody } from '../endpoint.ts'
import { MOST_LINES, numbered } from '../lines.ts'
import {
  isNothing,
  isTyped,
  noParameters,
  type Parameters,
  parseBody,
  parseUrlEncoded,
  splitLines,
} from '../parameters.ts'
import { sendsLines } from './body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The arguments, as the endpoint declares them. Set by this stage. */
    args: Record<string, unknown> | null
    /** The lines of an NDJSON body, each still unparsed. */
    lines: readonly string[] | null
  }
}

/** Some clients and proxies refuse responses with large headers: further names are left out. */
const IGNORED_HEADER_BYTES = 1024
const IGNORED_NAME_LENGTH = 100
const IGNORED_REFUSED = 20

/** Reads the arguments from path, body and query, and refuses what the endpoint does not accept: 415, 400, 404. */
export function readArguments(
  resource: Resource,
  endpoint: Endpoint,
  { context, base }: { readonly context: Context; readonly base: string },
): preHandlerAsyncHookHandler {
  const reader = new ArgumentReader(endpoint.arguments)
  const ofItem = inPath(endpoint)
  const edits = endpoint.permission.endsWith('.edit')
  const hasBody = takesBody(endpoint)

  const take: preHandlerAsyncHookHandler = async (request, reply) => {
    const unread: string[] = []
    const filledIn = (source: Parameters) => (edits ? withoutEmpty(source, unread) : source)
    const body = hasBody ? await bodyOf(request, filledIn) : withoutBody(request, unread)
    const query = filledIn(parseUrlEncoded(queryOf(request)))
    refuseInvalid(methodsIn(request, body, query))
    const result = reader.read(pathOf(request), body, query, isTyped(typeOf(request)))
    const { args, problems, missing } = result
    const ignored = unread.length === 0 ? result.ignored : [...unread, ...result.ignored]
    if (endpoint.strict) Object.assign(problems, unknownIn(ignored))
    if (ignored.length > 0) reply.header('X-Ignored-Arguments', ignoredHeader(ignored))
    if (ofItem.some(name => name in problems)) throw new Failure(resource.missing)
    if (missing.length === 0 && Object.keys(problems).length > 0) {
      const call = new HttpCall(context, request, resource, base)
      await addFound(problems, endpoint.check?.(call, args))
    }
    refuse(missing, problems)
    request.args = args
  }
  if (!endpoint.lines) return take
  return async function (request, reply) {
    if (sendsLines(request)) takeLines(request)
    else await take.call(this, request, reply)
  }
}

/** Some senders write an empty line after each line. */
const MOST_WITH_EMPTY = 2 * MOST_LINES

/** @throws Failure invalid_argument */
function takeLines(request: FastifyRequest): void {
  refuseEncoded(request)
  const query = parseUrlEncoded(queryOf(request))
  refuseInvalid(methodsIn(request, query))
  const outside = Object.keys(query).slice(0, IGNORED_REFUSED)
  refuseInvalid(Object.fromEntries(outside.map(name => [name, 'must stand in the lines.'])))
  const { body } = request
  const lines = splitLines(Buffer.isBuffer(body) ? body : Buffer.alloc(0), MOST_WITH_EMPTY)
  const count = lines
    ? [...numbered(lines)].length
    : `more than ${MOST_WITH_EMPTY}, with those that are empty`
  if (!lines || count === 0 || Number(count) > MOST_LINES) {
    refuseInvalid({ body: `must have 1 to ${MOST_LINES} lines, each a JSON object; it has ${count}.` })
  }
  request.lines = lines!
  request.args = {}
  // Frees the body, which would otherwise stay in memory until the last line is done.
  request.body = undefined
}

const pathOf = ({ params }: FastifyRequest): Parameters => (isObject(params) ? params : noParameters)

/** @throws Failure unsupported_media_type: nothing is decompressed, or a small body could become a large one */
function refuseEncoded({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding']
  if (encoding === undefined || /^identity$/i.test(encoding)) return
  throw new Failure('unsupported_media_type', {
    message: 'The body must not be compressed: send it without Content-Encoding.',
  })
}

const typeOf = ({ headers }: FastifyRequest) => headers['content-type'] ?? ''

async function bodyOf(
  request: FastifyRequest,
  filledIn: (form: Parameters) => Parameters,
): Promise<Parameters> {
  const type = typeOf(request)
  const { body } = request
  const isThere = Buffer.isBuffer(body) && !isNothing(body)
  if (isThere) refuseEncoded(request)
  const parameters = isThere ? await parseBody(type, body) : noParameters
  return isTyped(type) ? parameters : filledIn(parameters)
}

/** The body of a GET is not read. */
function withoutBody({ headers }: FastifyRequest, unread: string[]): Parameters {
  if ((headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined)
    unread.push('body')
  return noParameters
}

/** In an edit, a form field that was left blank changes nothing. */
function withoutEmpty(source: Parameters, empty: string[]): Parameters {
  const names = Object.keys(source).filter(name => source[name] === '')
  if (names.length === 0) return source
  empty.push(...names)
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''))
}

const METHOD_ITSELF = 'must be left out: send the request by the method that is meant.'

/** Method overrides are refused: ignoring one could edit what should be deleted. */
function methodsIn({ headers }: FastifyRequest, ...sources: readonly Parameters[]): Problems {
  const problems: Problems = {}
  if (headers['x-http-method-override'] !== undefined) problems['X-HTTP-Method-Override'] = METHOD_ITSELF
  if (sources.some(source => source._method !== undefined)) problems._method = METHOD_ITSELF
  return problems
}

function unknownIn(names: readonly string[]): Problems {
  const reason = 'must be left out, or have a value: it is not an argument here that narrows anything.'
  return Object.fromEntries(names.slice(0, IGNORED_REFUSED).map(name => [name, reason]))
}

function ignoredHeader(names: readonly string[]): string {
  let header = ''
  for (const name of names) {
    const escaped = encodeURIComponent(name.slice(0, IGNORED_NAME_LENGTH).toWellFormed())
    const next = escaped.replaceAll('%5B', '[').replaceAll('%5D', ']')
    if (header.length + next.length + 2 > IGNORED_HEADER_BYTES) break
    header += header === '' ? next : `, ${next}`
  }
  return header
}
