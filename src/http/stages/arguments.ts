import type { FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { Failure } from '../../base/errors.ts'
import type { Context } from '../../events/write.ts'
import { ArgumentReader, refuse } from '../arguments.ts'
import { HttpCall, queryOf } from '../call.ts'
import { type Endpoint, inPath, type Resource } from '../endpoint.ts'
import { noParameters, type Parameters, parseBody, parseUrlEncoded } from '../parameters.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What was sent, as the endpoint declares it. Set once it was read. */
    args: Record<string, unknown> | null
  }
}

const IGNORED_NAMES_SHOWN = 50

/** Reads what was sent in the path, the body and the query, and refuses what the endpoint does not take: 415, 400, 404. */
export function readArguments(
  resource: Resource,
  endpoint: Endpoint,
  { context, base }: { readonly context: Context; readonly base: string },
): preHandlerAsyncHookHandler {
  const reader = new ArgumentReader(endpoint.arguments)
  const ofItem = inPath(endpoint)
  const takesBody = !endpoint.methods.includes('GET') && !endpoint.methods.includes('DELETE')

  return async (request, reply) => {
    const body = takesBody ? await bodyOf(request) : noParameters
    const query = parseUrlEncoded(queryOf(request))
    const { args, problems, missing, ignored } = reader.read(request.params as Parameters, body, query)
    if (ignored.length > 0) reply.header('X-Ignored-Arguments', ignoredHeader(ignored))
    if (ofItem.some(name => name in problems)) throw new Failure(resource.missing)
    if (missing.length === 0 && Object.keys(problems).length > 0) {
      const call = new HttpCall(context, request, resource, base)
      Object.assign(problems, await endpoint.check?.(call, args as never))
    }
    refuse(missing, problems)
    request.args = args
  }
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
