/** What records and actions are called, for people: as their pages say, else as the server does. */
import { past } from '../../src/base/words.ts'
import { pagesOf } from './pages.ts'

/** 'Payout run', of 'payout_run'. */
export function capital(word: string): string {
  const spaced = word.replaceAll('_', ' ')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

/** What is a record and has no pages of its own. */
const others: Record<string, string> = {
  key: 'API key',
  keys: 'API keys',
  run_item: 'Item of a payout run',
  'run-items': 'Items of payout runs',
}

/** @param kind 'referral', as the log calls one */
export const nameOfKind = (kind: string) => pagesOf(kind)?.name[0] ?? others[kind] ?? capital(kind)

/** @param resource 'referrals', as the interface calls them */
export const nameOfResource = (resource: string) =>
  pagesOf(resource)?.name[1] ?? others[resource] ?? capital(resource)

/** What is more than the kind and what was done to it. */
const phrases: Record<string, string> = {
  'settings.edit': 'Settings changed',
  'session.create': 'Logged in',
  'session.refuse': 'Log-in failed',
  'session.delete': 'Logged out',
  'key.create': 'API key generated',
}

/** @param action 'referral.approve', as the log has it @returns 'Referral approved' */
export function nameOfAction(action: string): string {
  const [kind = '', verb = ''] = action.split('.')
  return (
    phrases[action] ??
    pagesOf(kind)?.actions?.[verb] ??
    `${nameOfKind(kind)} ${past(verb.replaceAll('_', ' '))}`
  )
}
