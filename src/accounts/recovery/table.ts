import { integer, neither, type RowsOf, type Table, text } from '../../storage/table.ts'

const columns = {
  /** SHA-256 of what the link holds, as 64 hexadecimal digits. */
  token_hash: text({ ...neither, secret: true }),
  user_id: integer({ ...neither, references: { table: 'users', person: true } }),
  created_at: integer(neither),
  expires_at: integer(neither),
} as const

/** Links that were sent to set a new password with; of the last hour, so not worth a copy. */
export const recoveriesTable = {
  name: 'recoveries',
  key: ['token_hash'],
  columns,
  copied: 'never',
} as const satisfies Table

export interface RecoveriesTable extends RowsOf<typeof columns> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    recoveries: RecoveriesTable
  }
}
