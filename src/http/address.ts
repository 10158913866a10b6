import type { FastifyRequest } from 'fastify'

/** The network address of the client; empty once the client is gone, for a closed connection has none. */
export function addressOf(request: FastifyRequest): string {
  const address: string | undefined = request.ip
  return address ?? ''
}
