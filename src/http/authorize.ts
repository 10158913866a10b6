import type { Actor } from '../base/actor.ts'
import { Failure } from '../base/errors.ts'
import type { Permission } from './endpoint.ts'

/** @throws Failure forbidden */
export function authorize(actor: Actor, permission: Permission): void {
  if (!actor.permissions.has(permission)) {
    throw new Failure('forbidden', {
      message: `This needs the permission ${permission}.`,
      data: { permission },
    })
  }
}
