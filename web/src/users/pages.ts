import Icon from '@mui/icons-material/ManageAccountsOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'
import { type User, userName } from './user.ts'

export const users: RecordPages = {
  resource: 'users',
  kind: 'user',
  name: ['Account', 'Accounts'],
  section: 'Administration',
  icon: Icon,
  list: lazily(() => import('./UserList.tsx'), 'UserList'),
  create: lazily(() => import('./UserForms.tsx'), 'UserCreate'),
  edit: lazily(() => import('./UserForms.tsx'), 'UserEdit'),
  conflicts: {
    existing_user_email: { create: 'email', update: 'email' },
    existing_user_login: { create: 'login', update: 'login' },
  },
  titleOf: (user: User) => `${userName(user)}, ${user.email}`,
  actions: {
    password: 'Password set',
    erase: 'Personal data erased',
    forgotten: 'Link for a new password sent',
    second_factor: 'Second factor set up',
    recovery_codes: 'New recovery codes',
    no_second_factor: 'Second factor removed',
  },
}
