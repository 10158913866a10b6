import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { Failure } from '../../base/errors.ts'
import type { Endpoint } from '../endpoint.ts'
import { ownerOf } from '../idempotency.ts'
import type { Load } from '../limits/load.ts'
import { hasLines } from '../parameters.ts'

/** The largest body of many lines, where other bodies may not be as large. */
export const LINES_BYTES = 8 * 1024 * 1024

/** Whether a request has a body of many lines. */
export const sendsLines = (request: FastifyRequest) => hasLines(request.headers['content-type'] ?? '')

/** Lets a body of many lines in, before it is read: 415 where none is taken, 429 and 503 where there are many such bodies. */
export function lines(endpoint: Endpoint, load: Load): onRequestAsyncHookHandler {
  return async (request, reply) => {
    if (!sendsLines(request)) {
      if (endpoint.onlyLines) throw new Failure('unsupported_media_type')
      return
    }
    if (!endpoint.lines) throw new Failure('unsupported_media_type')
    reply.raw.once('close', load.batch(ownerOf(request.actor!)))
  }
}
