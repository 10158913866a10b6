/** The embedded engine's side of `Engine`. */
import { sql } from 'kysely'
import type { Db, Engine, SchemaObject } from '../database.ts'
import { refusals } from '../migrations.ts'
import { prepared } from '../prepared.ts'
import { damages } from './damages.ts'
import { sqliteSearch } from './search.ts'

interface Sequence {
  rowid: number
  name: string
  seq: number
}
const sequences = (db: Db) => db.$extendTables<{ sqlite_sequence: Sequence }>()
const sequenceOf = prepared((db: Db, { table }: { table: string }) =>
  sequences(db).selectFrom('sqlite_sequence').select(['rowid', 'seq']).where('name', '=', table),
)
/** By row, and without RETURNING: for either, SQLite makes a table of its own. */
const setSequence = prepared((tx: Db, { rowid, seq }: { rowid: number; seq: number }) =>
  sequences(tx).updateTable('sqlite_sequence').set({ seq }).where('rowid', '=', rowid),
)

export const sqlite: Engine = {
  name: 'SQLite',
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
    const [sequence] = await sequenceOf(db, { table })
    return sequence?.seq ?? 0
  },
  async reserveIdentity(tx, table) {
    const [id] = await sqlite.reserveIdentities(tx, table, 1)
    return id!
  },
  reserveAhead: async () => undefined,
  async reserveIdentities(tx, table, count) {
    const [sequence] = await sequenceOf(tx, { table })
    const before = sequence?.seq ?? 0
    if (sequence) await setSequence(tx, { rowid: sequence.rowid, seq: before + count })
    else await sqlite.continueIdentity(tx, table, count)
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
  holdingAll: () => [],
  numbersFirst: () => [],
  damages,
  search: sqliteSearch,
  databaseSize: 'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
}
