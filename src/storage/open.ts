/** Opens the database by its URL and brings it up to date. */
import { type Database, type DatabaseOptions, DatabaseUnusable, type Db } from './database.ts'
import { migrate } from './migrations.ts'

/**
 * Opens the database and migrates it. One that is embedded is made when it does not exist, unless that is refused.
 * @param url `sqlite:PATH` or `postgres://…`
 * @throws DatabaseUnusable
 */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const database = await connect(url, options)
  try {
    await migrate(database)
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

/** In the settings of a copy, from its beginning to its end. */
export const COPY_MARK = 'copy_under_way'

export async function isCopyUnderWay(db: Db): Promise<boolean> {
  const mark = await db.selectFrom('settings').select('name').where('name', '=', COPY_MARK).executeTakeFirst()
  return mark !== undefined
}

async function connect(url: string, options: DatabaseOptions): Promise<Database> {
  if (url.startsWith('sqlite:')) {
    if (options.readUrl !== undefined) throw new DatabaseUnusable('The embedded database has no replicas.')
    const { openSqlite } = await import('./sqlite/database.ts')
    return openSqlite(url, options)
  }
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    const { openPostgres } = await import('./postgres/database.ts')
    return openPostgres(url, options)
  }
  throw new DatabaseUnusable(
    `The database URL must begin with sqlite: or postgres:// (${url.split(':', 1)[0]}: is not known).`,
  )
}
