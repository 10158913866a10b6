import type { Engine } from '../database.ts'

export function clickKeys({ integer, text, tableOptions }: Engine): string[] {
  return [
    `CREATE TABLE click_keys (
      id ${integer} PRIMARY KEY,
      secret ${text} NOT NULL,
      created_at ${integer} NOT NULL
    ) ${tableOptions}`,
  ]
}
