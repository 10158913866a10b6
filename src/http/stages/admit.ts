import type { FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { type Confirm, isLate, refuseEnded } from '../allowed.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Load } from '../limits/load.ts'

export interface Admission {
  readonly load: Load
  readonly confirm: Confirm
  /** Counts a body by its size. */
  readonly charge?: (request: FastifyRequest, reply: FastifyReply, bytes: number) => Promise<void>
  /** Counts what was read by how long it took. */
  readonly chargeRead?: (request: FastifyRequest, readMs: number) => void
}

/**
 * Takes on the request whose body has arrived: 503 where too many hash passwords, 401 and 403 where it took long, 429
 * where the body is more than the key may still send.
 */
export function admit(
  { permission, hashes }: Endpoint,
  { load, confirm, charge }: Admission,
): preHandlerAsyncHookHandler {
  return async (request, reply) => {
    if (hashes) load.refuseHashing()
    if (isLate(reply)) await refuseEnded(request, permission, confirm)
    const { body } = request
    if (Buffer.isBuffer(body)) await charge?.(request, reply, body.length)
  }
}
