/** Permissions of each role: those of the account's sessions, and the limit of its API keys' permissions. */

export const roles = ['administrator', 'manager', 'bookkeeper', 'reader'] as const

/** '' means none: such an account cannot log in. */
export type Role = (typeof roles)[number] | ''

/** Whoever may change these can become anyone. */
const FOR_ADMINISTRATORS: ReadonlySet<string> = new Set(['users', 'keys', 'settings'])
const FOR_BOOKKEEPERS: ReadonlySet<string> = new Set(['payouts', 'payout_runs', 'run_items'])
/** The user's own session, password and second factor. */
const OWN = 'session'

/** Whether the role has a permission, such as 'payouts.create'. */
export function grants(role: Role, permission: string): boolean {
  const [resource, action] = permission.split('.')
  if (role === '') return false
  if (role === 'administrator' || resource === OWN) return true
  if (FOR_ADMINISTRATORS.has(resource!)) return false
  return role === 'manager' || action === 'read' || (role === 'bookkeeper' && FOR_BOOKKEEPERS.has(resource!))
}

/**
 * Effective permissions of a key: those it was given, limited to its owner's role. Keys of accounts without a role
 * (programs) keep what an administrator gave them; an account that loses its role loses its keys.
 */
export const leftTo = (role: Role, permissions: readonly string[]): readonly string[] =>
  role === '' ? permissions : permissions.filter(permission => grants(role, permission))
