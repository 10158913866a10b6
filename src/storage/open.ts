/** Opens a database by its URL and migrates it. */
import { sql } from 'kysely'
import {
  type Database,
  type DatabaseOptions,
  DatabaseUnusable,
  type Db,
  type Tx,
  UrlInvalid,
} from './database.ts'
import { migrate, refuseOtherVersion } from './migrations.ts'
import { prepareSearch } from './search-index.ts'
import { keepSecretKeyIn } from './secret-keys.ts'
import type { Schema } from './table.ts'

/**
 * Opens and migrates a database. An embedded one is created if missing, unless `existing` is set.
 * @param url `sqlite:PATH` or `postgres://…`
 * @param schema its tables, for code that works on all of them
 * @throws DatabaseUnusable
 */
export async function openDatabase(
  url: string,
  schema: Schema,
  options: DatabaseOptions = {},
): Promise<Database> {
  keepSecretKeyIn(options.secretKeyFile ?? keyBeside(url))
  return openWithoutKey(url, schema, options)
}

/** The same for a second database: the secret key of the first stays in use. */
export async function openWithoutKey(
  url: string,
  schema: Schema,
  options: DatabaseOptions = {},
): Promise<Database> {
  const database = await connect(url, schema, options)
  try {
    if (options.readOnly) await refuseOtherVersion(database.reader)
    else if ((await migrate(database, options)) > 0) await prepareSearch(database)
    if (!options.incomplete && (await isCopyUnderWay(database.reader))) {
      throw new DatabaseUnusable(
        'This database is a copy that is not complete: run `affiliated copy` to its end, or begin again with a new one.',
      )
    }
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The default key file: beside an embedded database. */
function keyBeside(url: string): string | undefined {
  return url.startsWith('sqlite:') ? `${url.slice('sqlite:'.length)}.key` : undefined
}

/** Whether the database is an incomplete copy. */
export async function isCopyUnderWay(db: Db): Promise<boolean> {
  const { rows } = await sql<{ copying: number }>`SELECT copying FROM schema_version`.execute(db)
  return rows[0]?.copying === 1
}

/** Marks the database as an incomplete copy, or removes the mark. */
export async function markCopy(tx: Tx, underWay: boolean): Promise<void> {
  await sql`UPDATE schema_version SET copying = ${underWay ? 1 : 0}`.execute(tx)
}

async function connect(url: string, schema: Schema, options: DatabaseOptions): Promise<Database> {
  if (url.startsWith('sqlite:')) {
    if (options.readUrl !== undefined) throw new UrlInvalid('The embedded database has no replicas.')
    const { openSqlite } = await import('./sqlite/database.ts')
    return openSqlite(url, schema, options)
  }
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    const { openPostgres } = await import('./postgres/database.ts')
    return openPostgres(url, schema, options)
  }
  throw new UrlInvalid(
    `The database URL must begin with sqlite: or postgres:// (${url.split(':', 1)[0]}: is not known).`,
  )
}
