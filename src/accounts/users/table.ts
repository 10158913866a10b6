import type {} from '../../events/schema.ts'
import {
  folded,
  type Generated,
  identity,
  integer,
  neither,
  type RowsOf,
  type Table,
  text,
} from '../../storage/table.ts'

import type { Role } from './roles.ts'

const name = { personal: 'erase', money: false } as const

const columns = {
  id: identity,
  login: folded(name),
  email: folded(name),
  /** When it last changed; 0 if never. */
  email_changed_at: integer<Generated<number>>(neither),
  first_name: text(name),
  last_name: text(name),
  display_name: { ...folded(name), isName: true },
  role: text<Role>(neither),
  /** scrypt, see `password.ts`; '' if the account cannot log in. */
  password_hash: text({ ...neither, secret: true }),
  registered_at: integer(neither),
  updated_at: integer(neither),
} as const

export const usersTable = {
  name: 'users',
  key: ['id'],
  columns,
  copied: 'rows',
  hasSearchIndex: true,
  logged: {
    kind: 'user',
    actions: [
      'create',
      'edit',
      'password',
      'erase',
      'forgotten',
      'second_factor',
      'recovery_codes',
      'no_second_factor',
    ],
    plain: ['role', 'date_registered'],
    personal: ['login', 'email', 'first_name', 'last_name', 'display_name'],
    person: 'id',
    public: true,
    readBy: 'users.read',
  },
} as const satisfies Table

export interface UsersTable extends RowsOf<typeof columns> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    users: UsersTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    user: (typeof usersTable.logged.actions)[number]
  }
}
