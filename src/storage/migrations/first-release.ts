/** The tables of 0.1. */
import type { Engine } from '../database.ts'

export function initial({ identity, integer, text, tableOptions }: Engine): string[] {
  const table = (name: string, ...columns: string[]) =>
    `CREATE TABLE ${name} (${columns.join(', ')}) ${tableOptions}`
  const index = (name: string, columns: string) => `CREATE INDEX ${name} ON ${columns}`
  const unique = (name: string, columns: string) => `CREATE UNIQUE INDEX "${name}" ON ${columns}`

  return [
    table(
      'users',
      `id ${identity}`,
      `login ${text} NOT NULL`,
      `login_key ${text} NOT NULL`,
      `email ${text} NOT NULL`,
      `email_key ${text} NOT NULL`,
      `first_name ${text} NOT NULL`,
      `last_name ${text} NOT NULL`,
      `display_name ${text} NOT NULL`,
      `display_name_key ${text} NOT NULL`,
      `role ${text} NOT NULL CHECK (role IN ('administrator', ''))`,
      `password_hash ${text} NOT NULL`,
      `registered_at ${integer} NOT NULL`,
      `updated_at ${integer} NOT NULL`,
    ),
    unique('users.login_key', 'users (login_key)'),
    unique('users.email_key', 'users (email_key)'),
    index('users_role', 'users (role, id)'),
    index('users_registered_at', 'users (registered_at, id)'),

    table('rate_types', `name ${text} PRIMARY KEY`, `position ${integer} NOT NULL`),
    table('settings', `name ${text} PRIMARY KEY`, `value ${text} NOT NULL`),

    table(
      'affiliates',
      `id ${identity}`,
      `user_id ${integer} NOT NULL REFERENCES users (id)`,
      `rate ${integer} CHECK (rate >= 0)`,
      `rate_type ${text} REFERENCES rate_types (name)`,
      `payment_email ${text} NOT NULL`,
      `payment_email_key ${text} NOT NULL`,
      `status ${text} NOT NULL CHECK (status IN ('active', 'inactive', 'pending', 'rejected'))`,
      `earnings ${integer} NOT NULL`,
      `unpaid_earnings ${integer} NOT NULL`,
      `referrals ${integer} NOT NULL`,
      `visits ${integer} NOT NULL`,
      `notes ${text} NOT NULL`,
      `registered_at ${integer} NOT NULL`,
      `updated_at ${integer} NOT NULL`,
    ),
    unique('affiliates.user_id', 'affiliates (user_id)'),
    index('affiliates_rate', 'affiliates (coalesce(rate, -1), id)'),
    index('affiliates_rate_type', "affiliates (coalesce(rate_type, ''), id)"),
    index('affiliates_rate_type_in_use', 'affiliates (rate_type)'),
    index('affiliates_payment_email', 'affiliates (payment_email, id)'),
    index('affiliates_payment_email_key', 'affiliates (payment_email_key, id)'),
    index('affiliates_status', 'affiliates (status, id)'),
    index('affiliates_status_registered_at', 'affiliates (status, registered_at, id)'),
    index('affiliates_earnings', 'affiliates (earnings, id)'),
    index('affiliates_unpaid_earnings', 'affiliates (unpaid_earnings, id)'),
    index('affiliates_referrals', 'affiliates (referrals, id)'),
    index('affiliates_visits', 'affiliates (visits, id)'),
    index('affiliates_registered_at', 'affiliates (registered_at, id, status)'),
    index('affiliates_updated_at', 'affiliates (updated_at, id)'),

    table(
      'payouts',
      `id ${identity}`,
      `affiliate_id ${integer} NOT NULL`,
      `referrals ${text} NOT NULL`,
      `amount ${integer} NOT NULL CHECK (amount >= 0)`,
      `payout_method ${text} NOT NULL`,
      `payout_method_key ${text} NOT NULL`,
      `status ${text} NOT NULL CHECK (status IN ('paid', 'failed'))`,
      `owner ${integer} NOT NULL REFERENCES users (id)`,
      `created_at ${integer} NOT NULL`,
      `updated_at ${integer} NOT NULL`,
    ),
    // The columns after the identifier let sums and reports read the index alone.
    index('payouts_affiliate_id', 'payouts (affiliate_id, id, status, amount, created_at)'),
    index('payouts_amount', 'payouts (amount, id, status)'),
    index('payouts_payout_method', 'payouts (payout_method, id, status, amount)'),
    index('payouts_status', 'payouts (status, id, amount)'),
    index('payouts_status_created_at', 'payouts (status, created_at, id)'),
    index('payouts_owner', 'payouts (owner, id)'),
    index('payouts_created_at', 'payouts (created_at, id, status, amount, payout_method, affiliate_id)'),
    index('payouts_updated_at', 'payouts (updated_at, id)'),

    table(
      'payout_referrals',
      `referral_id ${integer} NOT NULL`,
      `payout_id ${integer} NOT NULL REFERENCES payouts (id)`,
      'PRIMARY KEY (referral_id, payout_id)',
    ),
    index('payout_referrals_payout_id', 'payout_referrals (payout_id)'),

    table(
      'api_keys',
      `id ${identity}`,
      `public_key ${text} NOT NULL`,
      `token_hash ${text} NOT NULL`,
      `user_id ${integer} NOT NULL REFERENCES users (id)`,
      `name ${text} NOT NULL`,
      `permissions ${text} NOT NULL`,
      `created_at ${integer} NOT NULL`,
      `last_used_at ${integer}`,
      `expires_at ${integer}`,
      `revoked_at ${integer}`,
    ),
    unique('api_keys.public_key', 'api_keys (public_key)'),
    unique('api_keys.token_hash', 'api_keys (token_hash)'),
    index('api_keys_user_id', 'api_keys (user_id)'),

    table(
      'sessions',
      `token_hash ${text} PRIMARY KEY`,
      `user_id ${integer} NOT NULL REFERENCES users (id)`,
      `created_at ${integer} NOT NULL`,
      `expires_at ${integer} NOT NULL`,
    ),
    index('sessions_user_id', 'sessions (user_id)'),
    index('sessions_expires_at', 'sessions (expires_at)'),

    table(
      'login_attempts',
      `id ${identity}`,
      `login_key ${text} NOT NULL`,
      `address ${text} NOT NULL`,
      `tried_at ${integer} NOT NULL`,
    ),
    index('login_attempts_login_key', 'login_attempts (login_key, tried_at)'),
    index('login_attempts_address', 'login_attempts (address, tried_at)'),
    index('login_attempts_tried_at', 'login_attempts (tried_at)'),

    "INSERT INTO rate_types (name, position) VALUES ('percentage', 1), ('flat', 2)",
    `INSERT INTO settings (name, value) VALUES
      ('default_rate', '20'), ('default_rate_type', 'percentage'), ('currency', 'USD'), ('first_login_at', '')`,
  ]
}

/** The database itself refuses changes and deletions of entries and seals; see `events/seal.ts`. */
export function auditLog(engine: Engine): string[] {
  const { identity, integer, text, tableOptions, appendOnly } = engine
  const columns = {
    at: `${integer} NOT NULL`,
    actor_kind: `${text} NOT NULL`,
    actor_name: `${text} NOT NULL`,
    actor_id: integer,
    address: `${text} NOT NULL`,
    action: `${text} NOT NULL`,
    record_kind: `${text} NOT NULL`,
    record_id: integer,
    before_values: `${text} NOT NULL`,
    after_values: `${text} NOT NULL`,
    person_id: integer,
    personal_hash: `${text} NOT NULL`,
  }
  const seal = {
    sealed_at: `${integer} NOT NULL`,
    entries: `${text} NOT NULL`,
    entry_count: `${integer} NOT NULL`,
    previous_hash: `${text} NOT NULL`,
    hash: `${text} NOT NULL`,
  }
  const declared = (of: Record<string, string>) => Object.entries(of).map(([name, type]) => `${name} ${type}`)
  return [
    `CREATE TABLE audit_entries (id ${identity}, ${declared(columns).join(', ')}, personal ${text} NOT NULL) ${tableOptions}`,
    'CREATE INDEX audit_entries_at ON audit_entries (at, id)',
    'CREATE INDEX audit_entries_actor ON audit_entries (actor_id, id)',
    'CREATE INDEX audit_entries_record ON audit_entries (record_kind, record_id, id)',
    'CREATE INDEX audit_entries_person ON audit_entries (person_id, id)',
    ...appendOnly('audit_entries', ['id', ...Object.keys(columns)]),
    `CREATE TRIGGER audit_entries_erase BEFORE UPDATE OF personal ON audit_entries FOR EACH ROW WHEN (NEW.personal <> '') ${engine.refusal}`,
    `CREATE TABLE audit_seals (number ${integer} PRIMARY KEY, ${declared(seal).join(', ')}) ${tableOptions}`,
    ...appendOnly('audit_seals', ['number', ...Object.keys(seal)]),
    `CREATE TABLE audit_chain (id ${integer} PRIMARY KEY, number ${integer} NOT NULL, hash ${text} NOT NULL, last_entry ${integer} NOT NULL, missing ${text} NOT NULL) ${tableOptions}`,
    "INSERT INTO audit_chain (id, number, hash, last_entry, missing) VALUES (1, 0, '', 0, '[]')",
  ]
}

export function idempotency({ integer, text, tableOptions }: Engine): string[] {
  return [
    `CREATE TABLE idempotency_keys (
      owner ${text} NOT NULL,
      key ${text} NOT NULL,
      fingerprint ${text} NOT NULL,
      status ${integer} NOT NULL,
      location ${text} NOT NULL,
      body ${text} NOT NULL,
      created_at ${integer} NOT NULL,
      PRIMARY KEY (owner, key)
    ) ${tableOptions}`,
    'CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at)',
  ]
}

/** A log-in attempt now counts for several counters. Recent attempts are forgotten. */
export function knownDevices({ integer, text, tableOptions }: Engine): string[] {
  return [
    `CREATE TABLE devices (
      token_hash ${text} PRIMARY KEY,
      user_id ${integer} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      created_at ${integer} NOT NULL,
      expires_at ${integer} NOT NULL
    ) ${tableOptions}`,
    'CREATE INDEX devices_user_id ON devices (user_id, expires_at)',
    'CREATE INDEX devices_expires_at ON devices (expires_at)',
    'DROP TABLE login_attempts',
    `CREATE TABLE login_attempts (
      attempt ${text} NOT NULL,
      counter ${text} NOT NULL,
      tried_at ${integer} NOT NULL,
      PRIMARY KEY (attempt, counter)
    ) ${tableOptions}`,
    'CREATE INDEX login_attempts_counter ON login_attempts (counter, tried_at)',
    'CREATE INDEX login_attempts_tried_at ON login_attempts (tried_at)',
  ]
}

/** Search key of an API key's name. SQLite folds ASCII only; names of new keys are folded completely. */
export function keyNames({ text }: Engine): string[] {
  return [
    `ALTER TABLE api_keys ADD COLUMN name_key ${text} NOT NULL DEFAULT ''`,
    'UPDATE api_keys SET name_key = lower(name)',
  ]
}
