/** The embedded engine's side of `Engine`. */
import { sql } from 'kysely'
import type { Db, Engine, SchemaObject } from '../database.ts'
import { refusals } from '../migrations.ts'
import { prepared } from '../prepared.ts'
import { damages } from './damages.ts'
import { sqliteSearch } from './search.ts'

const furtherInSequence = prepared((tx: Db, { table, count }: { table: string; count: number }) =>
  tx
    .$extendTables<{ sqlite_sequence: { name: string; seq: number } }>()
    .updateTable('sqlite_sequence')
    .set({ seq: sql<number>`seq + ${count}` })
    .where('name', '=', table)
    .returning('seq'),
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
    const [row] = await furtherInSequence(tx, { table, count })
    if (!row) await sqlite.continueIdentity(tx, table, count)
    const last = row?.seq ?? count
    return Array.from({ length: count }, (_, index) => last - count + 1 + index)
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
