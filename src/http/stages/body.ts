import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { Failure } from '../../base/errors.ts'
import type { Endpoint } from '../endpoint.ts'
import { admitBody } from '../limits/bodies.ts'
import { type Load, releaseAfter } from '../limits/load.ts'
import { hasLines } from '../parameters.ts'

/** Largest NDJSON body, where other bodies have a lower limit. */
export const LINES_BYTES = 8 * 1024 * 1024

/** Whether the request has an NDJSON body. */
export const sendsLines = (request: FastifyRequest) => hasLines(request.headers['content-type'] ?? '')

/**
 * Admits a body before it is read: 415 if it is NDJSON and the endpoint takes none, or the reverse; 429 and 503 when there
 * are too many at once.
 */
export function body(endpoint: Endpoint, load: Load): onRequestAsyncHookHandler {
  return async (request, reply) => {
    const { name } = request.actor!
    if (sendsLines(request)) {
      if (!endpoint.lines) throw new Failure('unsupported_media_type')
      releaseAfter(reply, load.batch(name))
    } else {
      if (endpoint.onlyLines) throw new Failure('unsupported_media_type')
      admitBody(request, reply, load, name)
    }
  }
}
