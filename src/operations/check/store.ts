/** Queries that look for what can't be, in every table by what is declared of it. */
import { sql } from 'kysely'
import type { Database, Db } from '../../storage/database.ts'
import { columnsOf, type Schema, type Table } from '../../storage/table.ts'

export async function damages({ engine, reader }: Database): Promise<string[]> {
  return engine.damages(reader)
}

/** Of each table that is only added to, what the database does not refuse. */
export async function missingRefusals({ engine, reader, schema }: Database): Promise<[string, string][]> {
  const { rows } = await sql<{ name: string }>`${sql.raw(engine.triggers)}`.execute(reader)
  const names = new Set(rows.map(({ name }) => name))
  return schema
    .filter(({ appendOnly }) => appendOnly)
    .flatMap(({ name }) => engine.refused.map((action): [string, string] => [name, action]))
    .filter(([table, action]) => !names.has(`${table}_${action}`))
}

/** Of each column that refers to rows of another table, how many refer to one that does not exist. */
export async function orphans(db: Db, schema: Schema): Promise<{ column: string; count: number }[]> {
  const found: { column: string; count: number }[] = []
  for (const table of schema) {
    for (const [name, { references }] of columnsOf(table)) {
      if (!references || references.outlives) continue
      const from = sql.ref(`${table.name}.${name}`)
      const to = sql.ref(`${references.table}.${references.column ?? 'id'}`)
      const { rows } = await sql<{ count: number }>`
        SELECT count(*) AS count FROM ${sql.table(table.name)} WHERE ${from} IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM ${sql.table(references.table)} WHERE ${to} = ${from})`.execute(db)
      if (rows[0]!.count > 0) found.push({ column: `${table.name}.${name}`, count: rows[0]!.count })
    }
  }
  return found
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
