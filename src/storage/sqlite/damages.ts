/**
 * Looks for damage of the file, on a connection of its own: one that has searched before remembers the structure of the search index,
 * and would report as damage what others have written to it since.
 */
import { sql } from 'kysely'
import type { Db } from '../database.ts'
import { openToRead } from './connect.ts'
import { kyselyOn, SqliteConnection } from './dialect.ts'
import { translate } from './errors.ts'
import { Statements } from './statements.ts'

export async function damages(db: Db): Promise<string[]> {
  const { rows } = await sql<{ file: string }>`
    SELECT file FROM pragma_database_list WHERE name = 'main'`.execute(db)
  const connection = opened(rows[0]!.file)
  try {
    const statements = new Statements(connection)
    return await damagesSeenBy(kyselyOn(new SqliteConnection((...query) => statements.all(...query))))
  } finally {
    connection.close()
  }
}

function opened(file: string) {
  try {
    return openToRead(file)
  } catch (error) {
    throw translate(error)
  }
}

async function damagesSeenBy(db: Db): Promise<string[]> {
  // All checks see the state of the first read, since others may write meanwhile.
  await sql`BEGIN`.execute(db)
  await sql`SELECT 1 FROM schema_version`.execute(db)
  const { rows } = await sql<{ integrity_check: string }>`PRAGMA integrity_check`.execute(db)
  const damages = rows.map(row => row.integrity_check).filter(text => text !== 'ok')
  // What is read from a damaged file means nothing.
  if (damages.length > 0) return damages
  const { rows: orphans } = await sql<{ table: string; rowid: number; parent: string }>`
    PRAGMA foreign_key_check`.execute(db)
  return orphans.map(({ table, rowid, parent }) => `${table}: row ${rowid} refers to no row of ${parent}`)
}
