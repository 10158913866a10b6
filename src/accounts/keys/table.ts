import type {} from '../../events/schema.ts'
import {
  folded,
  identity,
  integer,
  neither,
  nullable,
  type RowsOf,
  type Table,
  text,
} from '../../storage/table.ts'

const time = nullable(integer(neither))

const columns = {
  id: identity,
  public_key: text(neither),
  /** SHA-256 of the token, as 64 hexadecimal digits. */
  token_hash: text({ ...neither, secret: true }),
  user_id: integer({ ...neither, references: { table: 'users', person: true } }),
  name: { ...folded(neither), isName: true },
  /** Comma-separated, such as 'affiliates.read,payouts.create'. */
  permissions: text(neither),
  created_at: integer(neither),
  last_used_at: time,
  expires_at: time,
  revoked_at: time,
} as const

export const keysTable = {
  name: 'api_keys',
  key: ['id'],
  columns,
  copied: 'rows',
  logged: {
    kind: 'key',
    actions: ['create', 'revoke'],
    plain: ['public_key', 'name', 'owner_id', 'permissions', 'expires', 'revoked'],
    personal: [],
    person: 'owner_id',
    public: true,
    readBy: 'keys.read',
  },
} as const satisfies Table

export interface ApiKeysTable extends RowsOf<typeof columns> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    api_keys: ApiKeysTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    key: (typeof keysTable.logged.actions)[number]
  }
}
