/** Queries that find inconsistencies in every table, by its declaration. */
import { sql } from 'kysely'
import { keysTable } from '../../accounts/keys/table.ts'
import { entriesTable } from '../../events/table.ts'
import type { Database, Db, Tx } from '../../storage/database.ts'
import { columnsOf, type Schema, type Table } from '../../storage/table.ts'

export async function damages({ engine, reader }: Database): Promise<string[]> {
  return engine.damages(reader)
}

/** For each column that refers to another table, the number of rows whose target does not exist. */
export async function orphans(db: Db, schema: Schema): Promise<{ column: string; count: number }[]> {
  const orphanCounts: { column: string; count: number }[] = []
  for (const table of schema) {
    for (const [name, { references }] of columnsOf(table)) {
      if (!references || references.outlives) continue
      const from = sql.ref(`${table.name}.${name}`)
      const to = sql.ref(`${references.table}.${references.column ?? 'id'}`)
      const { rows } = await sql<{ count: number }>`
        SELECT count(*) AS count FROM ${sql.table(table.name)} WHERE ${from} IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM ${sql.table(references.table)} WHERE ${to} = ${from})`.execute(db)
      if (rows[0]!.count > 0) orphanCounts.push({ column: `${table.name}.${name}`, count: rows[0]!.count })
    }
  }
  return orphanCounts
}

/** Whether the log is empty although there is data that only logged writes create. */
export async function isLogEmptied({ reader, engine }: Database): Promise<boolean> {
  const hasRows = async ({ name }: Table) =>
    (await sql`SELECT 1 FROM ${sql.table(name)} LIMIT 1`.execute(reader)).rows.length > 0
  if (await hasRows(entriesTable)) return false
  return (await engine.lastIdentity(reader, entriesTable.name)) > 0 || hasRows(keysTable)
}

/** Accounts that were erased according to the log, and still have data or permissions. */
export async function unerased(db: Db): Promise<number[]> {
  const rows = await db
    .selectFrom('users')
    .innerJoin('events', 'events.record_id', 'users.id')
    .select('users.id')
    .distinct()
    .where('events.record_kind', '=', 'user')
    .where('events.action', '=', 'user.erase')
    .where(({ or, eb }) =>
      or([
        eb('password_hash', '<>', ''),
        eb('role', '<>', ''),
        eb('first_name', '<>', ''),
        eb('last_name', '<>', ''),
      ]),
    )
    .orderBy('users.id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Replaces the search keys of a row. */
export async function writeKeys(
  tx: Tx,
  { name }: Table,
  id: number,
  keys: Record<string, string>,
): Promise<void> {
  const set = Object.entries(keys).map(([column, key]) => sql`${sql.ref(column)} = ${key}`)
  await sql`UPDATE ${sql.table(name)} SET ${sql.join(set)} WHERE id = ${id}`.execute(tx)
}

/** The next rows by identifier. */
export async function rowsAfter(
  db: Db,
  { name }: Table,
  after: number,
  limit: number,
): Promise<({ id: number } & Record<string, unknown>)[]> {
  const { rows } = await sql<{ id: number } & Record<string, unknown>>`
    SELECT * FROM ${sql.table(name)} WHERE id > ${after} ORDER BY id LIMIT ${limit}`.execute(db)
  return rows
}
