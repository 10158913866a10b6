import type { FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { type Confirm, isLate, refuseEnded } from '../allowed.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Load } from '../limits/load.ts'

export interface Admission {
  readonly load: Load
  readonly confirm: Confirm
  /** Charges a body by its size. */
  readonly charge?: (request: FastifyRequest, reply: FastifyReply, bytes: number) => Promise<void>
  /** Charges read time. */
  readonly chargeRead?: (request: FastifyRequest, readMs: number) => void
}

/**
 * Admits the request once its body has arrived: 503 when too many hash passwords, 401 and 403 when it took long and
 * access has ended meanwhile, 429 when the body exceeds the key's rate limit.
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
