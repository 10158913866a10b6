/** Display names of records and actions: as their pages declare them, else derived from the server's names. */
import { past } from '../../src/base/words.ts'
import { pagesOf } from './pages.ts'
import { capital } from './ui/words.ts'

/** Kinds without pages of their own. */
const others: Record<string, string> = {
  key: 'API key',
  keys: 'API keys',
  run_item: 'Item of a payout run',
  'run-items': 'Items of payout runs',
}

/** @param kind as in the audit log, such as 'referral' */
export const nameOfKind = (kind: string) => pagesOf(kind)?.name[0] ?? others[kind] ?? capital(kind)

/** @param resource as in the API, such as 'referrals' */
export const nameOfResource = (resource: string) =>
  pagesOf(resource)?.name[1] ?? others[resource] ?? capital(resource)

/** Actions that are not simply a kind and a verb. */
const phrases: Record<string, string> = {
  'settings.edit': 'Settings changed',
  'session.create': 'Logged in',
  'session.refuse': 'Log-in failed',
  'session.delete': 'Logged out',
  'key.create': 'API key generated',
}

/** @param action as in the audit log, such as 'referral.approve' @returns for example 'Referral approved' */
export function nameOfAction(action: string): string {
  const [kind = '', verb = ''] = action.split('.')
  return (
    phrases[action] ??
    pagesOf(kind)?.actions?.[verb] ??
    `${nameOfKind(kind)} ${past(verb.replaceAll('_', ' '))}`
  )
}
