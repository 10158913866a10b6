/**
 * The schema, as steps that each run once and are never edited after a release. Plain SQL that both engines accept; the
 * parts that differ come from `Engine`. Unique indexes are named 'table.column', by which engines report a violation.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Database, DatabaseUnusable, type Db, type Engine, type Tx } from './database.ts'
import { emailChanges, moreRoles, secondFactors } from './migrations/accounts.ts'
import { commission } from './migrations/commission.ts'
import { conversions } from './migrations/conversions.ts'
import { recordCounts } from './migrations/counts.ts'
import { creatives } from './migrations/creatives.ts'
import { customers } from './migrations/customers.ts'
import { details } from './migrations/details.ts'
import { earning, type Step } from './migrations/earning.ts'
import { events } from './migrations/events.ts'
import { followingSales } from './migrations/following-sales.ts'
import { draftsOfAffiliates, fewerIndexes } from './migrations/indexes.ts'
import { namesWithoutAccents } from './migrations/names.ts'
import { payoutNotes } from './migrations/payout-notes.ts'
import { rejectionReasons } from './migrations/rejections.ts'
import { reports } from './migrations/reports.ts'
import { refusedRuns, runReferences, runs, runsOfGroups } from './migrations/runs.ts'
import { salesMonths } from './migrations/sales-months.ts'
import { search } from './migrations/search.ts'
import { sourceModes, sources } from './migrations/sources.ts'
import { clickKeys, lastCounted, links, scriptPages } from './migrations/tracking.ts'
import { visitDays, visitDaysOfAll, visitsByDay, visitTotals } from './migrations/visit-days.ts'
import { visitRemovals, visits } from './migrations/visits.ts'

/** Another node may have migrated the database meanwhile. */
const VERSION_EVERY_MS = 500

type Migration = (engine: Engine) => Step[]

export const migrations: readonly Migration[] = [
  initial,
  auditLog,
  idempotency,
  knownDevices,
  keyNames,
  earning,
  copyMark,
  events,
  visits,
  creatives,
  customers,
  clickKeys,
  reports,
  conversions,
  runs,
  longAnswers,
  commission,
  links,
  payoutNotes,
  oneCalculation,
  details,
  sources,
  scriptPages,
  visitDays,
  runsOfGroups,
  namesWithoutAccents,
  sourceModes,
  moreRoles,
  secondFactors,
  refusedRuns,
  visitDaysOfAll,
  salesMonths,
  emailChanges,
  search,
  runReferences,
  fewerIndexes,
  rejectionReasons,
  lastCounted,
  visitTotals,
  visitsByDay,
  recordCounts,
  followingSales,
  draftsOfAffiliates,
  visitRemovals,
]

/** The calculation of a referral's amount is in `calculation` alone. */
function oneCalculation(): string[] {
  return ['ALTER TABLE referrals DROP COLUMN judgement']
}

function longAnswers(): string[] {
  return [
    'CREATE INDEX idempotency_keys_long ON idempotency_keys (owner, length(body)) WHERE length(body) > 4096',
  ]
}

function idempotency({ integer, text, tableOptions }: Engine): string[] {
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
function knownDevices({ integer, text, tableOptions }: Engine): string[] {
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
function keyNames({ text }: Engine): string[] {
  return [
    `ALTER TABLE api_keys ADD COLUMN name_key ${text} NOT NULL DEFAULT ''`,
    'UPDATE api_keys SET name_key = lower(name)',
  ]
}

/** Marks a database as an incomplete copy. */
function copyMark({ integer }: Engine): string[] {
  return [
    `ALTER TABLE schema_version ADD COLUMN copying ${integer} NOT NULL DEFAULT 0`,
    "UPDATE schema_version SET copying = (SELECT count(*) FROM settings WHERE name = 'copy_under_way')",
    "DELETE FROM settings WHERE name = 'copy_under_way'",
  ]
}

function initial({ identity, integer, text, tableOptions }: Engine): string[] {
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

/** Triggers of `Engine.appendOnly`. */
export function refusals(table: string, columns: readonly string[], refusal: string): string[] {
  return [
    `CREATE TRIGGER ${table}_delete BEFORE DELETE ON ${table} FOR EACH ROW ${refusal}`,
    `CREATE TRIGGER ${table}_update BEFORE UPDATE OF ${columns.join(', ')} ON ${table} FOR EACH ROW ${refusal}`,
  ]
}

/** The database itself refuses changes and deletions of entries and seals; see `events/seal.ts`. */
function auditLog(engine: Engine): string[] {
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

async function versionOf(db: Db): Promise<number> {
  const { rows } = await sql<{ version: number }>`SELECT version FROM schema_version`.execute(db)
  return rows[0]?.version ?? 0
}

/** Looks again and again. @returns once a newer program has migrated the database: this one does not keep what that one reads */
export async function untilOutdated(
  { reader }: Database,
  signal: AbortSignal,
): Promise<DatabaseUnusable | undefined> {
  try {
    for (;;) {
      await delay(VERSION_EVERY_MS, undefined, { signal })
      // Away for a while, it says nothing of its version.
      const version = await versionOf(reader).catch(() => 0)
      if (version > migrations.length) return newer(version)
    }
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

const newer = (version: number) =>
  new DatabaseUnusable(
    `The database was made by a newer version of affiliated (schema ${version}, this program knows ${migrations.length}). Upgrade the program.`,
  )

/** @throws DatabaseUnusable if the tables are not those of this program */
export async function refuseOtherVersion(db: Db): Promise<void> {
  const version = await versionOf(db)
  if (version === migrations.length) return
  throw new DatabaseUnusable(
    `The database has schema ${version}, and this program knows ${migrations.length}: ${version < migrations.length ? 'start the service once, which brings it up to date' : 'upgrade the program'}.`,
  )
}

/**
 * Migrates the schema. The first process does it; others wait for its transaction.
 * @param last the version to stop at
 * @returns the number of steps
 * @throws DatabaseUnusable if a newer program created the database
 */
export async function migrate(database: Database, last = migrations.length): Promise<number> {
  return database.transaction(async tx => {
    for (const statement of database.engine.lockSchema) await run(tx, statement)
    await run(tx, `CREATE TABLE IF NOT EXISTS schema_version (version ${database.engine.integer} NOT NULL)`)
    const version = await versionOf(tx)
    if (version > migrations.length) throw newer(version)
    const steps = migrations.slice(version, last)
    for (const migration of steps) await take(tx, migration(database.engine))
    if (version === 0) await run(tx, `INSERT INTO schema_version (version) VALUES (${steps.length})`)
    else if (steps.length > 0) await run(tx, `UPDATE schema_version SET version = ${version + steps.length}`)
    return steps.length
  })
}

async function take(tx: Tx, steps: readonly Step[]): Promise<void> {
  for (const step of steps) await (typeof step === 'string' ? run(tx, step) : step(tx))
}

async function run(tx: Tx, statement: string): Promise<void> {
  await sql.raw(statement).execute(tx)
}
