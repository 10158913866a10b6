import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { Failure } from '../../base/errors.ts'
import type { Endpoint } from '../endpoint.ts'
import { ownerOf } from '../idempotency.ts'
import { type Load, releaseAfter } from '../limits/load.ts'
import { hasLines } from '../parameters.ts'
import { admitBody } from './bodies.ts'

/** Largest NDJSON body, where other bodies have a lower limit. */
export const LINES_BYTES = 8 * 1024 * 1024

/** Whether the request has an NDJSON body. */
export const sendsLines = (request: FastifyRequest) => hasLines(request.headers['content-type'] ?? '')

/**
 * Admits a body before it is read: 415 if it is NDJSON and the endpoint takes none, 429 and 503 when there are too many at
 * once.
 */
export function lines(endpoint: Endpoint, load: Load): onRequestAsyncHookHandler {
  return async (request, reply) => {
    if (!sendsLines(request)) {
      if (endpoint.onlyLines) throw new Failure('unsupported_media_type')
      admitBody(request, reply, load, request.actor!.name)
      return
    }
    if (!endpoint.lines) throw new Failure('unsupported_media_type')
    releaseAfter(reply, load.batch(ownerOf(request.actor!)))
  }
}
