/** What each role may do: what a session of the account has, and what is left of the permissions of its API keys. */

export const roles = ['administrator', 'manager', 'bookkeeper', 'reader'] as const

/** Without one nobody logs in. */
export type Role = (typeof roles)[number] | ''

/** Whoever may change these may become whoever they like. */
const FOR_ADMINISTRATORS: ReadonlySet<string> = new Set(['users', 'keys', 'settings'])
const FOR_BOOKKEEPERS: ReadonlySet<string> = new Set(['payouts', 'payout_runs', 'run_items'])
/** The own session, password and second factor. */
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
 * What a key may do at this moment: of what it was given, what the role of its owner has. An administrator has given the keys of
 * an account without a role, which is that of a program, what they may do; whoever loses a role loses the keys.
 */
export const leftTo = (role: Role, permissions: readonly string[]): readonly string[] =>
  role === '' ? permissions : permissions.filter(permission => grants(role, permission))
