/** Who may not list accounts, keys or settings does not read in the log what they are. */
import type { Actor } from '../base/actor.ts'
import { Failure } from '../base/errors.ts'
import type { Schema } from '../storage/table.ts'
import { loggedIn } from './schema.ts'

/** No API key can have the permissions of keys and settings. Only that of an administrator can have this one. */
const OF_ADMINISTRATORS = 'users.read'

/**
 * The kinds of record whose entries the actor may not read.
 * @param wanted kinds that were asked for by name
 * @throws Failure forbidden when one of these is among them
 */
export function hiddenFrom(
  { kind: credential, permissions }: Actor,
  schema: Schema,
  wanted: readonly string[] = [],
): ReadonlySet<string> {
  const hidden = new Set<string>()
  for (const { kind, readBy } of loggedIn(schema).values()) {
    const permission = credential === 'key' && readBy !== undefined ? OF_ADMINISTRATORS : readBy
    if (permission === undefined || permissions.has(permission)) continue
    hidden.add(kind)
    if (!wanted.includes(kind)) continue
    throw new Failure('forbidden', {
      message: `To read what was done to these records needs the permission ${permission}.`,
      data: { permission },
    })
  }
  return hidden
}
