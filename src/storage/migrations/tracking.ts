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

/** Each affiliate has a link to the programme page, whose code is the identifier. */
export function links({ identity, integer, text, tableOptions }: Engine): string[] {
  return [
    `CREATE TABLE links (
      id ${identity},
      affiliate_id ${integer} NOT NULL,
      code ${text} NOT NULL,
      code_key ${text} NOT NULL,
      destination ${text} NOT NULL,
      campaign ${text} NOT NULL,
      visits ${integer} NOT NULL,
      created_at ${integer} NOT NULL,
      owner ${integer} NOT NULL REFERENCES users (id),
      updated_at ${integer} NOT NULL
    ) ${tableOptions}`,
    'CREATE UNIQUE INDEX "links.code_key" ON links (code_key)',
    'CREATE INDEX links_affiliate_id ON links (affiliate_id, id)',
    `INSERT INTO links (affiliate_id, code, code_key, destination, campaign, visits, created_at, owner, updated_at)
      SELECT id, '' || id, '' || id, '', '', 0, registered_at, user_id, registered_at
      FROM affiliates ORDER BY id`,
    `ALTER TABLE visits ADD COLUMN link_id ${integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE visits ADD COLUMN nonce ${text} NOT NULL DEFAULT ''`,
    `ALTER TABLE visits ADD COLUMN repeated ${integer} NOT NULL DEFAULT 0`,
    `CREATE INDEX visits_nonce ON visits (nonce) WHERE nonce <> ''`,
    `CREATE TABLE visitor_salt (
      id ${integer} PRIMARY KEY,
      day ${integer} NOT NULL,
      salt ${text} NOT NULL
    ) ${tableOptions}`,
    `INSERT INTO visitor_salt (id, day, salt) VALUES (1, 0, '')`,
    `CREATE TABLE visitors (
      hash ${text} PRIMARY KEY,
      day ${integer} NOT NULL
    ) ${tableOptions}`,
    'CREATE INDEX visitors_day ON visitors (day)',
  ]
}

export function scriptPages({ integer, text, tableOptions }: Engine): string[] {
  return [
    `CREATE TABLE script_pages (
      place ${text} PRIMARY KEY,
      url ${text} NOT NULL,
      outcome ${text} NOT NULL,
      affiliate_id ${integer} NOT NULL,
      seen_at ${integer} NOT NULL,
      loaded_at ${integer} NOT NULL
    ) ${tableOptions}`,
  ]
}

/** When a report of the script was last counted. The last report may not have been counted. */
export function lastCounted({ integer }: Engine): string[] {
  return [
    `ALTER TABLE script_pages ADD COLUMN counted_at ${integer} NOT NULL DEFAULT 0`,
    "UPDATE script_pages SET counted_at = seen_at WHERE outcome = 'counted'",
  ]
}
