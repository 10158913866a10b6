import type { RaRecord } from 'react-admin'
import type { UserRecord } from '../../../src/accounts/users/schema.ts'

export type User = UserRecord & RaRecord<number>

export const userName = (user: Pick<User, 'display_name' | 'login'>) => user.display_name || user.login

/** Roles, with what each may do. */
export const roleChoices = [
  { id: 'administrator', name: 'Administrator: everything' },
  { id: 'manager', name: 'Manager: all but accounts, keys, settings' },
  { id: 'bookkeeper', name: 'Bookkeeper: payouts, payout runs, reading' },
  { id: 'reader', name: 'Reader: reading' },
] satisfies { id: User['role']; name: string }[]
