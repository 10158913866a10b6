/** An account as embedded in other records, under the names that client programs of AffiliateWP read. */
import { Type } from 'typebox'
import { formatTime } from '../../base/time.ts'
import type { User } from './store.ts'

export const linkedAccount = {
  ID: Type.Integer(),
  user_login: Type.String(),
  user_email: Type.String(),
  display_name: Type.String(),
  first_name: Type.String(),
  last_name: Type.String(),
  user_registered: Type.String(),
}

type AccountColumns = Pick<
  User,
  'id' | 'login' | 'email' | 'display_name' | 'first_name' | 'last_name' | 'registered_at'
>

export function linkedAccountOf(user: AccountColumns) {
  return {
    ID: user.id,
    user_login: user.login,
    user_email: user.email,
    display_name: user.display_name,
    first_name: user.first_name,
    last_name: user.last_name,
    user_registered: formatTime(user.registered_at),
  }
}
