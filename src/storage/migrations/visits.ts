import type { Engine } from '../database.ts'

/** Visits are many and each index costs, so only filters used in practice have one. */
export function visits({ identity, integer, text, tableOptions }: Engine): string[] {
  return [
    `CREATE TABLE visits (
      id ${identity},
      affiliate_id ${integer} NOT NULL,
      referral_id ${integer} NOT NULL,
      rest_id ${text} NOT NULL,
      url ${text} NOT NULL,
      url_key ${text} NOT NULL,
      referrer ${text} NOT NULL,
      referrer_key ${text} NOT NULL,
      campaign ${text} NOT NULL,
      context ${text} NOT NULL,
      ip ${text} NOT NULL,
      created_at ${integer} NOT NULL,
      updated_at ${integer} NOT NULL
    ) ${tableOptions}`,
    'CREATE INDEX visits_affiliate_id ON visits (affiliate_id, id)',
    'CREATE INDEX visits_created_at ON visits (created_at, id)',
    'CREATE INDEX visits_referral_id ON visits (referral_id, id) WHERE referral_id <> 0',
  ]
}

/** Up to which time visits were removed. The present setting does not say this, because it may have changed. */
export function visitRemovals({ integer, tableOptions }: Engine): string[] {
  return [
    `CREATE TABLE visit_removals (
      id ${integer} PRIMARY KEY CHECK (id = 1),
      day ${integer} NOT NULL
    ) ${tableOptions}`,
  ]
}
