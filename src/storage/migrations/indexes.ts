import type { Engine } from '../database.ts'

/**
 * Removes indexes that cost each new affiliate and visitor more than they gain.
 * See docs/decisions/indexes.md.
 */
export function fewerIndexes({ integer, text, clusteredTableOptions }: Engine): string[] {
  return [
    'DROP INDEX affiliates_rate',
    'DROP INDEX affiliates_rate_type',
    'DROP INDEX affiliates_rate_type_in_use',
    'CREATE INDEX affiliates_rate_type ON affiliates (rate_type, id) WHERE rate_type IS NOT NULL',
    // Lists are in the order of payment_email_key from now on.
    'DROP INDEX affiliates_payment_email',
    `CREATE TABLE visitors_by_day (
      day ${integer} NOT NULL,
      hash ${text} NOT NULL,
      PRIMARY KEY (day, hash)
    ) ${clusteredTableOptions}`,
    'INSERT INTO visitors_by_day (day, hash) SELECT day, hash FROM visitors',
    'DROP TABLE visitors',
    'ALTER TABLE visitors_by_day RENAME TO visitors',
  ]
}

/** An affiliate's drafts, which are judged again when the affiliate's terms change. */
export function draftsOfAffiliates(): string[] {
  return ["CREATE INDEX referrals_draft_of ON referrals (affiliate_id, id) WHERE status = 'draft'"]
}
