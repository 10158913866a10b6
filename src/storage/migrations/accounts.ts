/** Accounts since 0.1: further roles, second factor, details of sessions. */
import type { Engine } from '../database.ts'
import type { Step } from './earning.ts'
import { oneOf } from './one-of.ts'

/** Not every engine can change a column's constraint, so the column is created anew. */
export function moreRoles({ text }: Engine): Step[] {
  return [
    'DROP INDEX users_role',
    'ALTER TABLE users RENAME COLUMN role TO role_before',
    `ALTER TABLE users ADD COLUMN role ${text} NOT NULL DEFAULT ''
      ${oneOf('role', 'administrator', 'manager', 'bookkeeper', 'reader', '')}`,
    "UPDATE users SET role = role_before WHERE role_before <> ''",
    'ALTER TABLE users DROP COLUMN role_before',
    'CREATE INDEX users_role ON users (role, id)',
  ]
}

export function secondFactors({ integer, text, tableOptions }: Engine): Step[] {
  return [
    `CREATE TABLE second_factors (
      user_id ${integer} PRIMARY KEY REFERENCES users (id),
      secret ${text} NOT NULL,
      last_step ${integer} NOT NULL,
      created_at ${integer} NOT NULL,
      confirmed_at ${integer}
    ) ${tableOptions}`,
    `CREATE TABLE recovery_codes (
      code_hash ${text} PRIMARY KEY,
      user_id ${integer} NOT NULL REFERENCES users (id)
    ) ${tableOptions}`,
    'CREATE INDEX recovery_codes_user_id ON recovery_codes (user_id)',
    `CREATE TABLE recoveries (
      token_hash ${text} PRIMARY KEY,
      user_id ${integer} NOT NULL REFERENCES users (id),
      created_at ${integer} NOT NULL,
      expires_at ${integer} NOT NULL
    ) ${tableOptions}`,
    'CREATE INDEX recoveries_user_id ON recoveries (user_id)',
    'CREATE INDEX recoveries_expires_at ON recoveries (expires_at)',
    `ALTER TABLE sessions ADD COLUMN browser ${text} NOT NULL DEFAULT ''`,
    `ALTER TABLE sessions ADD COLUMN network ${text} NOT NULL DEFAULT ''`,
  ]
}

/** When the address of an account has changed: payments that go to this address wait for some time after that. */
export function emailChanges({ integer }: Engine): Step[] {
  return [`ALTER TABLE users ADD COLUMN email_changed_at ${integer} NOT NULL DEFAULT 0`]
}
