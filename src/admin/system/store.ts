import { sql } from 'kysely'
import type { Database } from '../../storage/database.ts'

/** Number of records of each logged kind, by the kind's plural. */
export async function countRows({ reader, schema }: Database): Promise<Record<string, number>> {
  const countedTables = schema.filter(({ key, logged }) => logged !== undefined && key[0] === 'id')
  const counts = await Promise.all(
    countedTables.map(async ({ name }) => {
      const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM ${sql.table(name)}`.execute(
        reader,
      )
      return [name.replace(/^api_/, ''), rows[0]!.count] as const
    }),
  )
  return Object.fromEntries(counts)
}

export async function databaseSize({ engine, reader }: Database): Promise<number> {
  const { rows } = await sql.raw<{ bytes: number }>(engine.databaseSize).execute(reader)
  return rows[0]!.bytes
}
