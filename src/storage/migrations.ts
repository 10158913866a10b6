/**
 * The schema, as steps that each run once and are never edited after a release. Plain SQL that both engines accept; the
 * parts that differ come from `Engine`. Unique indexes are named 'table.column', by which engines report a violation.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { messageOf } from '../base/unknown.ts'
import {
  type Database,
  DatabaseUnavailable,
  DatabaseUnusable,
  type Db,
  type Engine,
  type Tx,
} from './database.ts'
import { emailChanges, moreRoles, secondFactors } from './migrations/accounts.ts'
import { commission } from './migrations/commission.ts'
import {
  assumedCurrencies,
  claimsAfterTokens,
  conversions,
  laterCandidates,
} from './migrations/conversions.ts'
import { recordCounts } from './migrations/counts.ts'
import { creatives } from './migrations/creatives.ts'
import { customers } from './migrations/customers.ts'
import { details } from './migrations/details.ts'
import { earning, type Step } from './migrations/earning.ts'
import { events, refuseUnplacedSeals } from './migrations/events.ts'
import { auditLog, idempotency, initial, keyNames, knownDevices } from './migrations/first-release.ts'
import { followingSales } from './migrations/following-sales.ts'
import { draftsOfAffiliates, fewerIndexes } from './migrations/indexes.ts'
import { campaignsOfReferrals, namesWithoutAccents } from './migrations/names.ts'
import { payoutNotes } from './migrations/payout-notes.ts'
import { rejectionReasons } from './migrations/rejections.ts'
import { reports } from './migrations/reports.ts'
import { executionDates, refusedRuns, runReferences, runs, runsOfGroups } from './migrations/runs.ts'
import { salesMonths } from './migrations/sales-months.ts'
import { search } from './migrations/search.ts'
import { sourceModes, sources } from './migrations/sources.ts'
import { clickKeys, lastCounted, links, scriptPages } from './migrations/tracking.ts'
import { visitDays, visitDaysOfAll, visitsByDay, visitTotals } from './migrations/visit-days.ts'
import { visitRemovals, visits } from './migrations/visits.ts'

/** How often to look whether another node has migrated the database. */
const VERSION_EVERY_MS = 500

/** How long to wait for another process that migrates the database. */
const MIGRATION_MS = 30 * 60_000

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
  campaignsOfReferrals,
  laterCandidates,
  assumedCurrencies,
  claimsAfterTokens,
  refuseUnplacedSeals,
  executionDates,
]

/** How a referral's amount was calculated is only stored in `calculation`. */
function oneCalculation(): string[] {
  return ['ALTER TABLE referrals DROP COLUMN judgement']
}

function longAnswers(): string[] {
  return [
    'CREATE INDEX idempotency_keys_long ON idempotency_keys (owner, length(body)) WHERE length(body) > 4096',
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

/** Triggers of `Engine.appendOnly`. */
export function refusals(table: string, columns: readonly string[], refusal: string): string[] {
  return [
    `CREATE TRIGGER ${table}_delete BEFORE DELETE ON ${table} FOR EACH ROW ${refusal}`,
    `CREATE TRIGGER ${table}_update BEFORE UPDATE OF ${columns.join(', ')} ON ${table} FOR EACH ROW ${refusal}`,
  ]
}

async function versionOf(db: Db): Promise<number> {
  const { rows } = await sql<{ version: number }>`SELECT version FROM schema_version`.execute(db)
  return rows[0]?.version ?? 0
}

/**
 * Waits until a newer program has migrated the database: this one would not maintain its additional columns and totals.
 * @returns the error to end with; undefined if `signal` is aborted
 */
export async function untilOutdated(
  { reader }: Database,
  signal: AbortSignal,
): Promise<DatabaseUnusable | undefined> {
  try {
    for (;;) {
      await delay(VERSION_EVERY_MS, undefined, { signal })
      // While the database is unavailable, its version is not known.
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

const older = (version: number) =>
  new DatabaseUnusable(
    `The database has schema ${version}, and this program knows ${migrations.length}: stop the service that uses it, and run \`affiliated migrate\` or start this version, which brings it up to date.`,
  )

const reasonOf = (error: unknown) => (error instanceof DatabaseUnavailable ? error.reason : undefined)

const takesNoWrites = (error: unknown) =>
  new DatabaseUnusable(
    `The database takes no writes, as a standby does, or one that is set to be read only (${messageOf(error)}).`,
    error,
  )

/** @throws DatabaseUnusable if the tables are not those of this program */
export async function refuseOtherVersion(db: Db): Promise<void> {
  const version = await versionOf(db)
  if (version > migrations.length) throw newer(version)
  if (version < migrations.length) throw older(version)
}

/**
 * Migrates the schema. The first process does it; others wait for its transaction.
 * @param last the version to stop at
 * @param onlyNew whether to create the tables of a new database, and to refuse one of an older version
 * @returns the number of steps
 * @throws DatabaseUnusable if a newer program created the database
 */
export async function migrate(
  database: Database,
  { last = migrations.length, onlyNew = false }: { last?: number; onlyNew?: boolean } = {},
): Promise<number> {
  return onceMigrated(database, async tx => {
    for (const statement of database.engine.lockSchema) await run(tx, statement)
    await run(tx, `CREATE TABLE IF NOT EXISTS schema_version (version ${database.engine.integer} NOT NULL)`)
    const version = await versionOf(tx)
    if (version > migrations.length) throw newer(version)
    if (onlyNew && version > 0 && version < last) throw older(version)
    const steps = migrations.slice(version, last)
    for (const migration of steps) await take(tx, migration(database.engine))
    if (version === 0) await run(tx, `INSERT INTO schema_version (version) VALUES (${steps.length})`)
    else if (steps.length > 0) await run(tx, `UPDATE schema_version SET version = ${version + steps.length}`)
    return steps.length
  })
}

/** Runs a transaction; waits while another process migrates the database, which may take long. */
async function onceMigrated<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + MIGRATION_MS
  for (;;) {
    try {
      return await database.transaction(work)
    } catch (error) {
      const reason = reasonOf(error)
      if (reason === 'read-only') throw takesNoWrites(error)
      if (reason !== 'busy' || performance.now() > giveUpAt) throw error
      const version = await versionOf(database.reader).catch(() => 0)
      if (version === 0 || version >= migrations.length) throw error
    }
  }
}

async function take(tx: Tx, steps: readonly Step[]): Promise<void> {
  for (const step of steps) await (typeof step === 'string' ? run(tx, step) : step(tx))
}

async function run(tx: Tx, statement: string): Promise<void> {
  await sql.raw(statement).execute(tx)
}
