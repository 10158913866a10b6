/**
 * The audit log becomes the log of events, and each event gets a position: its place in the order of the seals. Sealed
 * events and the seals' hashes stay unchanged.
 */
import { sql } from 'kysely'
import type { Engine, Tx } from '../database.ts'
import type { Step } from './earning.ts'

const COLUMNS = [
  ...['id', 'at', 'actor_kind', 'actor_name', 'actor_id', 'address', 'action', 'record_kind', 'record_id'],
  ...['before_values', 'after_values', 'person_id', 'personal_hash'],
]
const SEAL_COLUMNS = [
  'number',
  'sealed_at',
  'entries',
  'entry_count',
  'previous_hash',
  'hash',
  'first_position',
]

export function events(engine: Engine): Step[] {
  const { integer, appendOnly, allowChanges, dropTrigger, refusal } = engine
  return [
    ...allowChanges('audit_entries'),
    dropTrigger('audit_entries', 'erase'),
    'ALTER TABLE audit_entries RENAME TO events',
    ...index('at', 'at, id'),
    ...index('actor', 'actor_id, id'),
    ...index('record', 'record_kind, record_id, id'),
    ...index('person', 'person_id, id'),
    ...appendOnly('events', COLUMNS),
    `CREATE TRIGGER events_erase BEFORE UPDATE OF personal ON events FOR EACH ROW WHEN (NEW.personal <> '') ${refusal}`,
    ...engine.numbersFirst('events'),
    ...allowChanges('audit_seals'),
    `ALTER TABLE audit_seals ADD COLUMN first_position ${integer} NOT NULL DEFAULT 0`,
    `UPDATE audit_seals SET first_position = counted.first FROM (
      SELECT number, 1 + sum(entry_count) OVER (ORDER BY number) - entry_count AS first FROM audit_seals
    ) AS counted WHERE counted.number = audit_seals.number`,
    'CREATE UNIQUE INDEX "audit_seals.first_position" ON audit_seals (first_position)',
    ...appendOnly('audit_seals', SEAL_COLUMNS),
    giveUpAtNextLook,
  ]
}

function index(name: string, columns: string): string[] {
  return [`DROP INDEX audit_entries_${name}`, `CREATE INDEX events_${name} ON events (${columns})`]
}

/**
 * Skipped identifiers are stored with the time at which they were noticed, and given up some time later. Every transaction that
 * could still commit one has ended, because the table was renamed: without that time, they are given up after one more check.
 */
async function giveUpAtNextLook(tx: Tx): Promise<void> {
  const { rows } = await sql<{ missing: string }>`SELECT missing FROM audit_chain`.execute(tx)
  const missing: [first: number, last: number, since: number][] = JSON.parse(rows[0]?.missing ?? '[]')
  const text = JSON.stringify(missing.map(([first, last]) => [first, last, 0]))
  await sql`UPDATE audit_chain SET missing = ${text}`.execute(tx)
}

/**
 * Refuses the seal of a service of 0.1 that still runs: it read the events before they were migrated, waited, and would now
 * write a seal without its position, by which the positions of all later events would be wrong.
 */
export function refuseUnplacedSeals({ refusal }: Engine): Step[] {
  return [
    `CREATE TRIGGER audit_seals_insert BEFORE INSERT ON audit_seals FOR EACH ROW WHEN (NEW.first_position = 0) ${refusal}`,
  ]
}
