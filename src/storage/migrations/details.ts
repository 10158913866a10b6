import type { Engine } from '../database.ts'
import { oneOf } from './one-of.ts'

/** Payment details, and the payer's details of an approved run. */
export function details({ identity, integer, text, tableOptions }: Engine): string[] {
  return [
    `CREATE TABLE payment_details (
      id ${identity},
      affiliate_id ${integer} NOT NULL,
      method ${text} NOT NULL ${oneOf('method', 'paypal', 'sepa', 'nacha')},
      holder ${text} NOT NULL,
      account ${text} NOT NULL,
      status ${text} NOT NULL ${oneOf('status', 'current', 'replaced', 'removed')},
      usable_from ${integer} NOT NULL,
      created_at ${integer} NOT NULL,
      entered_by ${integer} NOT NULL,
      sealed ${text} NOT NULL,
      updated_at ${integer} NOT NULL
    ) ${tableOptions}`,
    `CREATE UNIQUE INDEX "payment_details.current" ON payment_details (affiliate_id, method) WHERE status = 'current'`,
    'CREATE INDEX payment_details_affiliate_id ON payment_details (affiliate_id, id)',
    `ALTER TABLE payout_runs ADD COLUMN payer ${text} NOT NULL DEFAULT ''`,
  ]
}
