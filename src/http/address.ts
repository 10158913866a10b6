import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'

/**
 * To be called for each connection: Node asks the system for the address when it is first read, which cannot tell it any
 * more once the client has hung up.
 */
export function noteAddress({ remoteAddress }: Socket): string | undefined {
  return remoteAddress
}

/** The network address of the client; empty if the client was gone before the connection was accepted. */
export function addressOf(request: FastifyRequest): string {
  const address: string | undefined = request.ip
  return address ?? ''
}
