import type { Engine } from '../database.ts'

/** Erasure empties addresses, so any number of them may be empty. */
export function customers({ identity, integer, text, tableOptions }: Engine): string[] {
  return [
    `CREATE TABLE customers (
      id ${identity},
      user_id ${integer},
      first_name ${text} NOT NULL,
      first_name_key ${text} NOT NULL,
      last_name ${text} NOT NULL,
      last_name_key ${text} NOT NULL,
      email ${text} NOT NULL,
      email_key ${text} NOT NULL,
      ip ${text} NOT NULL,
      created_at ${integer} NOT NULL,
      updated_at ${integer} NOT NULL
    ) ${tableOptions}`,
    `CREATE UNIQUE INDEX "customers.email_key" ON customers (email_key) WHERE email_key <> ''`,
    'CREATE INDEX customers_user_id ON customers (user_id, id) WHERE user_id IS NOT NULL',
    'CREATE INDEX customers_created_at ON customers (created_at, id)',
  ]
}
