import { integer, neither, nullable, type RowsOf, type Table, text } from '../../storage/table.ts'

const account = { ...neither, references: { table: 'users', person: true } } as const

const factorColumns = {
  user_id: integer(account),
  /** TOTP secret; sealed by the secret key. */
  secret: text({ ...neither, secret: true }),
  /** The 30-second step of the last accepted code: a code works once. */
  last_step: integer(neither),
  created_at: integer(neither),
  /** Null until a first code has proved that the user's app has the secret. */
  confirmed_at: nullable(integer(neither)),
} as const

/** The authenticator app of an account. */
export const secondFactorsTable = {
  name: 'second_factors',
  key: ['user_id'],
  columns: factorColumns,
  copied: 'rows',
  removedWithPerson: true,
} as const satisfies Table

const codeColumns = {
  /** SHA-256 of the code, 64 hexadecimal digits. */
  code_hash: text({ ...neither, secret: true }),
  user_id: integer(account),
} as const

/** Recovery codes, which replace the app, once each. */
export const recoveryCodesTable = {
  name: 'recovery_codes',
  key: ['code_hash'],
  columns: codeColumns,
  copied: 'rows',
  removedWithPerson: true,
} as const satisfies Table

export interface SecondFactorsTable extends RowsOf<typeof factorColumns> {}
interface RecoveryCodesTable extends RowsOf<typeof codeColumns> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    second_factors: SecondFactorsTable
    recovery_codes: RecoveryCodesTable
  }
}
