import type { Engine } from '../database.ts'
import { oneOf } from './one-of.ts'

/** Commission: groups, rules, coupons and exchange rates. */
export function commission({ identity, integer, text, tableOptions }: Engine): string[] {
  return [
    `CREATE TABLE groups (
      id ${identity},
      name ${text} NOT NULL,
      name_key ${text} NOT NULL,
      description ${text} NOT NULL,
      created_at ${integer} NOT NULL,
      updated_at ${integer} NOT NULL
    ) ${tableOptions}`,
    'CREATE UNIQUE INDEX "groups.name_key" ON groups (name_key)',
    `ALTER TABLE affiliates ADD COLUMN group_id ${integer} REFERENCES groups (id)`,
    'CREATE INDEX affiliates_group_id ON affiliates (group_id, id) WHERE group_id IS NOT NULL',

    `CREATE TABLE coupons (
      id ${identity},
      code ${text} NOT NULL,
      code_key ${text} NOT NULL,
      affiliate_id ${integer} NOT NULL,
      campaign ${text} NOT NULL,
      campaign_key ${text} NOT NULL,
      status ${text} NOT NULL ${oneOf('status', 'active', 'inactive')},
      created_at ${integer} NOT NULL,
      updated_at ${integer} NOT NULL
    ) ${tableOptions}`,
    'CREATE UNIQUE INDEX "coupons.code_key" ON coupons (code_key)',
    'CREATE INDEX coupons_affiliate_id ON coupons (affiliate_id, id)',
    'CREATE INDEX coupons_created_at ON coupons (created_at, id)',

    `CREATE TABLE exchange_rates (
      id ${identity},
      from_currency ${text} NOT NULL,
      to_currency ${text} NOT NULL,
      rate ${text} NOT NULL,
      valid_from ${integer} NOT NULL,
      updated_at ${integer} NOT NULL
    ) ${tableOptions}`,
    'CREATE UNIQUE INDEX "exchange_rates.valid_from" ON exchange_rates (from_currency, to_currency, valid_from)',
    'CREATE INDEX exchange_rates_valid_from ON exchange_rates (valid_from, id)',

    `CREATE TABLE rules (
      id ${identity},
      name ${text} NOT NULL,
      name_key ${text} NOT NULL,
      series ${integer} NOT NULL,
      version ${integer} NOT NULL CHECK (version > 0),
      status ${text} NOT NULL ${oneOf('status', 'current', 'replaced', 'ended')},
      affiliate_id ${integer},
      group_id ${integer},
      priority ${integer} NOT NULL,
      kinds ${text} NOT NULL,
      conditions ${text} NOT NULL,
      rate_type ${text} NOT NULL ${oneOf('rate_type', 'percentage', 'flat', 'per_item')},
      rate ${integer} NOT NULL,
      base ${text} NOT NULL ${oneOf('base', 'net', 'gross')},
      max_months ${integer},
      max_payments ${integer},
      hold_days ${integer},
      valid_from ${integer},
      valid_until ${integer},
      created_at ${integer} NOT NULL,
      updated_at ${integer} NOT NULL,
      CHECK (affiliate_id IS NULL OR group_id IS NULL)
    ) ${tableOptions}`,
    'CREATE UNIQUE INDEX "rules.version" ON rules (series, version)',
    `CREATE UNIQUE INDEX "rules.status" ON rules (series) WHERE status = 'current'`,
    'CREATE INDEX rules_affiliate_id ON rules (affiliate_id, id) WHERE affiliate_id IS NOT NULL',
    `INSERT INTO settings (name, value) VALUES ('rules_version', '')`,

    `ALTER TABLE referrals ADD COLUMN rule_id ${integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE referrals ADD COLUMN original_amount ${integer}`,
    `ALTER TABLE referrals ADD COLUMN original_currency ${text} NOT NULL DEFAULT ''`,
    `ALTER TABLE referrals ADD COLUMN exchange_rate ${text} NOT NULL DEFAULT ''`,
    `ALTER TABLE referrals ADD COLUMN calculation ${text} NOT NULL DEFAULT ''`,
    'CREATE INDEX referrals_rule_id ON referrals (rule_id, id) WHERE rule_id <> 0',
    "CREATE INDEX referrals_draft ON referrals (id, reason, created_at) WHERE status = 'draft'",
    // An affiliate's sales in a month, and ever, are read from this index alone.
    'CREATE INDEX referrals_sales ON referrals (affiliate_id, created_at, status, type, order_total)',
  ]
}
