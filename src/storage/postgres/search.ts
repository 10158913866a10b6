/**
 * Searches for parts of names, by an index of their trigrams (GIN, of the extension pg_trgm), which the planner uses by itself. If the
 * server does not have or permit the extension, searches look at every row.
 * See docs/decisions/search.md.
 */
import { sql } from 'kysely'
import { messageOf } from '../../base/unknown.ts'
import { asOneText, containing } from '../containing.ts'
import { DatabaseUnavailable, type Indexed, type SearchIndex } from '../database.ts'

export const postgresSearch: SearchIndex = {
  indexed: () => [],

  async prepare(database, all) {
    const missing: Indexed[] = []
    for (const indexed of all) {
      const { rows } = await sql<{ index: string | null }>`
        SELECT to_regclass(${indexOf(indexed)})::text AS index`.execute(database.reader)
      if (rows[0]!.index === null) missing.push(indexed)
    }
    if (missing.length === 0) return undefined
    try {
      await database.transaction(async tx => {
        // Several nodes may start at once.
        for (const statement of database.engine.lockSchema) await sql.raw(statement).execute(tx)
        await sql`CREATE EXTENSION IF NOT EXISTS pg_trgm`.execute(tx)
        for (const indexed of missing) {
          // All columns as one text, because login and address often have the same trigrams.
          const table = sql.table(indexed.table)
          await sql`CREATE INDEX IF NOT EXISTS ${sql.ref(indexOf(indexed))} ON ${table}
            USING gin ((${asOneText(indexed.columns)}) gin_trgm_ops)`.execute(tx)
          // Without statistics, the planner assumes that every word is rare. With those of an empty table, it would keep plans that
          // read all rows, for each row once more where a query has the table twice, until the table is analyzed again.
          const { rows } = await sql`SELECT 1 FROM ${table} LIMIT 1`.execute(tx)
          if (rows.length > 0) await sql`ANALYZE ${table}`.execute(tx)
        }
      })
      return undefined
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error
      return `Searches look at every account and customer, because the extension pg_trgm cannot be had: ${messageOf(error)}. Have it created in this database (CREATE EXTENSION pg_trgm), and start the service again.`
    }
  },

  // Not prepared: the best plan depends on the words, so the planner should see them.
  async candidates(db, indexed, search, limit) {
    const matches = containing([asOneText(indexed.columns)], search, sql.ref('id'))
    const { rows } = await sql<{ id: number }>`
      SELECT id FROM ${sql.table(indexed.table)} WHERE ${matches} LIMIT ${limit + 1}`.execute(db)
    return rows.map(({ id }) => id)
  },
}

const indexOf = ({ table }: Indexed) => `search_${table}`
