import type { Engine } from '../database.ts'
import { oneOf } from './one-of.ts'

export function creatives({ identity, integer, text, tableOptions }: Engine): string[] {
  return [
    `CREATE TABLE creatives (
      id ${identity},
      name ${text} NOT NULL,
      name_key ${text} NOT NULL,
      description ${text} NOT NULL,
      url ${text} NOT NULL,
      text ${text} NOT NULL,
      image ${text} NOT NULL,
      status ${text} NOT NULL ${oneOf('status', 'active', 'inactive')},
      created_at ${integer} NOT NULL,
      updated_at ${integer} NOT NULL
    ) ${tableOptions}`,
  ]
}
