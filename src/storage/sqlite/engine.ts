/** The embedded engine's side of `Engine`. */
import { sql } from 'kysely'
import type { Engine, SchemaObject } from '../database.ts'
import { refusals } from '../migrations.ts'
import { directRun } from '../prepared.ts'
import { damages } from './damages.ts'
import { sqliteSearch } from './search.ts'

interface Sequence {
  rowid: number
  seq: number
}
const SEQUENCE = 'SELECT rowid, seq FROM sqlite_sequence WHERE name = ?'
/** By `rowid`, and without RETURNING: a WHERE by name or a RETURNING would make SQLite build a temporary table. */
const SET_SEQUENCE = 'UPDATE sqlite_sequence SET seq = ? WHERE rowid = ?'
const ADD_SEQUENCE = 'INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)'

export const sqlite: Engine = {
  name: 'SQLite',
  mostInProgress: Number.POSITIVE_INFINITY,
  lockSchema: [],
  isLostRace: () => false,
  async objects(db) {
    const { rows } = await sql<SchemaObject>`
      SELECT CASE type WHEN 'table' THEN '' ELSE type || ' ' END || name AS name, sql AS definition
      FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`.execute(db)
    return rows
  },
  additions: `SELECT tbl_name AS "table", sql AS made, 'DROP INDEX ' || name AS removed
    FROM sqlite_schema WHERE type = 'index' AND sql LIKE 'CREATE INDEX %'`,
  identity: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  integer: 'integer',
  text: 'TEXT',
  withoutLimits: [],
  tableOptions: 'STRICT',
  clusteredTableOptions: 'STRICT, WITHOUT ROWID',
  async lastIdentity(db, table) {
    const { rows } = await sql<{
      seq: number
    }>`SELECT seq FROM sqlite_sequence WHERE name = ${table}`.execute(db)
    return rows[0]?.seq ?? 0
  },
  async reserveIdentity(tx, table) {
    const [id] = await sqlite.reserveIdentities(tx, table, 1)
    return id!
  },
  reserveAhead: async () => undefined,
  async reserveIdentities(tx, table, count) {
    // Nothing is awaited between reading and writing: a transaction may reserve several at the same time.
    const run = directRun(tx)!
    const [sequence] = run<Sequence>(SEQUENCE, [table])
    const before = sequence?.seq ?? 0
    if (sequence) run(SET_SEQUENCE, [before + count, sequence.rowid])
    else run(ADD_SEQUENCE, [table, count])
    return Array.from({ length: count }, (_, index) => before + 1 + index)
  },
  // One transaction writes at a time.
  lock: async () => {},
  async continueIdentity(tx, table, last) {
    await sql`DELETE FROM sqlite_sequence WHERE name = ${table}`.execute(tx)
    await sql`INSERT INTO sqlite_sequence (name, seq) VALUES (${table}, ${last})`.execute(tx)
  },
  refusal: "BEGIN SELECT RAISE(ABORT, 'The audit log is only added to.'); END",
  appendOnly: (table, columns) => refusals(table, columns, sqlite.refusal),
  refused: ['delete', 'update'],
  allowChanges: table => sqlite.refused.map(name => sqlite.dropTrigger(table, name)),
  dropTrigger: (table, name) => `DROP TRIGGER ${table}_${name}`,
  lockTables: () => [],
  numbersFirst: () => [],
  damages,
  search: sqliteSearch,
  databaseSize: 'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
}
