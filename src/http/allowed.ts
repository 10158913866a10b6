/**
 * Rechecks a request in progress: its key or session may have ended or lost a permission meanwhile. See
 * docs/decisions/confirmation.md.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../base/actor.ts'
import { Failure } from '../base/errors.ts'
import type { Permission } from './endpoint.ts'

/** A request that takes longer than this, because it arrives or is read slowly, is authorised again. */
export const CONFIRMED_FOR_MS = 500

/** Whether the request must be authorised again. */
export function isLate(reply: FastifyReply): boolean {
  return reply.elapsedTime > CONFIRMED_FOR_MS
}

/** Authenticates again, without counting a request. */
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

/** @throws Failure forbidden, or whatever `confirm` throws */
export async function refuseEnded(
  request: FastifyRequest,
  permission: Permission,
  confirm: Confirm,
): Promise<void> {
  request.actor = await confirm(request)
  refuseWithout(permission, request.actor)
}
