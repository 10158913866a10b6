/** What keeps a request from going on that was let in: the key or the session has ended, or lacks a permission. See docs/decisions/confirmation.md. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../base/actor.ts'
import { Failure } from '../base/errors.ts'
import type { Permission } from './endpoint.ts'

/** A request that takes longer, because it arrives or is read slowly, must still be allowed to go on. */
export const CONFIRMED_FOR_MS = 500

/** Whether who asks must be looked at again. */
export function isLate(reply: FastifyReply): boolean {
  return reply.elapsedTime > CONFIRMED_FOR_MS
}

/** Finds out who asks without counting it as a request. */
export type Confirm = (request: FastifyRequest) => Promise<Actor>

/** 'read payout runs' */
function inWords(permission: Permission): string {
  const [resource = '', verb = ''] = permission.split('.')
  return `${verb} ${resource}`.replaceAll(/[_-]/g, ' ')
}

/** @throws Failure forbidden */
export function refuseWithout(permission: Permission, actor: Actor): void {
  if (!actor.permissions.has(permission)) {
    throw new Failure('forbidden', {
      message: `Your role or key does not allow to ${inWords(permission)}: that needs the permission ${permission}.`,
      data: { permission },
    })
  }
}

/** @throws Failure what `confirm` throws, forbidden */
export async function refuseEnded(
  request: FastifyRequest,
  permission: Permission,
  confirm: Confirm,
): Promise<void> {
  request.actor = await confirm(request)
  refuseWithout(permission, request.actor)
}
