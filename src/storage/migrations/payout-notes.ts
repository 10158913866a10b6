import type { Engine } from '../database.ts'

export function payoutNotes({ text }: Engine): string[] {
  return [
    `ALTER TABLE payouts ADD COLUMN reference ${text} NOT NULL DEFAULT ''`,
    `ALTER TABLE payouts ADD COLUMN note ${text} NOT NULL DEFAULT ''`,
    'CREATE INDEX payouts_reference ON payouts (reference, id)',
  ]
}
