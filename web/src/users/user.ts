import type { RaRecord } from 'react-admin'
import type { UserRecord } from '../../../src/accounts/users/schema.ts'

export type User = UserRecord & RaRecord<number>

export const userName = (user: Pick<User, 'display_name' | 'login'>) => user.display_name || user.login
