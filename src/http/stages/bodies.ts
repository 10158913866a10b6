import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Load, releaseAfter } from '../limits/load.ts'

/** A body that takes little more than the headers of its request may. */
const SMALL_BYTES = 16 * 1024

/**
 * Admits a body before it is read, since it may arrive slowly: 429 and 503 when too much is in memory.
 * @throws Failure too_many_bodies, overloaded
 */
export function admitBody(request: FastifyRequest, reply: FastifyReply, load: Load, caller: string): void {
  const bytes = bytesOf(request)
  if (bytes > SMALL_BYTES) releaseAfter(reply, load.body(caller, bytes))
}

/** How much of the body may be kept: all that is allowed, where its length is not known. */
function bytesOf({ headers, routeOptions: { bodyLimit } }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return bodyLimit
  const length = Number(headers['content-length'] ?? 0)
  // What is longer is refused unread.
  return length > bodyLimit ? 0 : length
}
