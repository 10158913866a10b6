import { integer, neither, type RowsOf, type Table, text } from '../../storage/table.ts'

const columns = {
  /** SHA-256 of the link's token, 64 hexadecimal digits. */
  token_hash: text({ ...neither, secret: true }),
  user_id: integer({ ...neither, references: { table: 'users', person: true } }),
  created_at: integer(neither),
  expires_at: integer(neither),
} as const

/** Password reset links; they expire within an hour, so `copy` skips them. */
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
