import type { Engine } from '../database.ts'
import { oneOf } from './one-of.ts'

export function sources({ identity, integer, text, tableOptions }: Engine): string[] {
  return [
    `CREATE TABLE sources (
      id ${identity},
      name ${text} NOT NULL,
      name_key ${text} NOT NULL,
      type ${text} NOT NULL ${oneOf('type', 'stripe', 'woocommerce', 'generic')},
      context ${text} NOT NULL,
      status ${text} NOT NULL ${oneOf('status', 'active', 'inactive')},
      secret ${text} NOT NULL,
      signature_header ${text} NOT NULL,
      mapping ${text} NOT NULL,
      problem ${text} NOT NULL,
      created_at ${integer} NOT NULL,
      owner ${integer} NOT NULL REFERENCES users (id),
      updated_at ${integer} NOT NULL
    ) ${tableOptions}`,
  ]
}

/** Mode of a source, and the date of its secret. */
export function sourceModes({ integer, text }: Engine): string[] {
  return [
    `ALTER TABLE sources ADD COLUMN mode ${text} NOT NULL DEFAULT 'live' ${oneOf('mode', 'live', 'test')}`,
    `ALTER TABLE sources ADD COLUMN secret_at ${integer} NOT NULL DEFAULT 0`,
    'UPDATE sources SET secret_at = created_at',
  ]
}
