/** Bounds the bodies that are in memory at the same time: they may arrive slowly, and each is kept until its answer. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Load, releaseAfter } from './load.ts'

/** A body of this size takes little more memory than the headers of its request may, and is not counted. */
const SMALL_BYTES = 16 * 1024

/**
 * Admits a body before it is read.
 * @param caller whose share of the memory it takes: the name of a key, or a network
 * @throws Failure too_many_bodies, overloaded
 */
export function admitBody(request: FastifyRequest, reply: FastifyReply, load: Load, caller: string): void {
  const bytes = bytesOf(request)
  if (bytes > SMALL_BYTES) releaseAfter(reply, load.body(caller, bytes))
}

/** Its announced length; the maximum if it announces none. */
function bytesOf({ headers, routeOptions: { bodyLimit } }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return bodyLimit
  const length = Number(headers['content-length'] ?? 0)
  // A longer body is refused unread.
  return length > bodyLimit ? 0 : length
}
