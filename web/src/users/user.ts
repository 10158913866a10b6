import type { RaRecord } from 'react-admin'

export interface User extends RaRecord<number> {
  login: string
  email: string
  first_name: string
  last_name: string
  display_name: string
  role: 'administrator' | ''
  affiliate_id: number | null
  date_registered: string
  can_log_in: boolean
}

export const userName = (user: Pick<User, 'display_name' | 'login'>) => user.display_name || user.login
