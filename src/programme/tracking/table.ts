import type {} from '../../events/schema.ts'
import { integer, neither, type RowsOf, type Table, text } from '../../storage/table.ts'

const clickKeyColumns = {
  /** From 1 to 2^32 - 1, by chance: the keys of two services have different ones. */
  id: integer(neither),
  /** 32 bytes as base64url. */
  secret: text({ ...neither, secret: true }),
  created_at: integer(neither),
} as const

/** What click tokens are signed with. The newest signs; the others tell what they have signed. */
export const clickKeysTable = {
  name: 'click_keys',
  key: ['id'],
  columns: clickKeyColumns,
  copied: 'rows',
  logged: { kind: 'click_key', actions: ['create', 'delete'], plain: ['date'], personal: [], public: false },
} as const satisfies Table

interface ClickKeysTable extends RowsOf<typeof clickKeyColumns> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    click_keys: ClickKeysTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    click_key: (typeof clickKeysTable.logged.actions)[number]
  }
}
