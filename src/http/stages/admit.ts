import type { preHandlerAsyncHookHandler } from 'fastify'
import { type Confirm, isLate, refuseEnded } from '../allowed.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Load } from '../limits/load.ts'

/** Takes on the request whose body has arrived: 503 where too many hash passwords, 401 and 403 where it took long. */
export function admit(
  { permission, hashes }: Endpoint,
  { load, confirm }: { readonly load: Load; readonly confirm: Confirm },
): preHandlerAsyncHookHandler {
  return async (request, reply) => {
    if (hashes) load.refuseHashing()
    if (isLate(reply)) await refuseEnded(request, permission, confirm)
  }
}
