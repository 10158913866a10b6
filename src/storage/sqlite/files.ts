/** Files of the embedded database: where they are, whether they exist, and whether they are in use. */
import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { codeOf } from '../../base/unknown.ts'
import { type DatabaseUnavailable, DatabaseUnusable, UrlInvalid } from '../database.ts'
import { isLocked, removed, replacedIndex, withoutIndex } from './errors.ts'

/** Companion files of a database: write-ahead log, its index, and the rollback journal. */
export const COMPANIONS = ['-wal', '-shm', '-journal']

/**
 * @param url `sqlite:PATH`
 * @throws UrlInvalid if it names no file
 */
export function fileOf(url: string): string {
  const path = url.slice('sqlite:'.length)
  if (path.startsWith('//')) {
    throw new UrlInvalid(
      `An embedded database is named by its path, as sqlite:PATH: did you mean sqlite:${path.slice(2)}?`,
    )
  }
  if (path === '' || path.startsWith(':')) {
    throw new UrlInvalid('The embedded database needs a file: sqlite:PATH.')
  }
  return resolve(path)
}

/** @throws DatabaseUnusable if the file is missing or empty: a database always has a header */
export function refuseMissing(file: string): void {
  const status = statSync(file, { throwIfNoEntry: false })
  if (!status || (status.isFile() && status.size === 0)) {
    throw new DatabaseUnusable(`There is no database at ${file}.`)
  }
}

/** 'affl', in the header of each database of this program, by which other programs and `file` recognise it. */
const APPLICATION_ID = 0x6166666c
/** Tables of versions that did not set this mark. */
const FIRST_TABLES = ['schema_version', 'affiliates', 'payouts', 'api_keys']

/**
 * Refuses the database of another program, so that it does not get tables of this one.
 * @param write whether to set the mark of a new database, or of one from before the mark
 * @throws DatabaseUnusable
 */
export function refuseForeign(database: DatabaseSync, file: string, { write }: { write: boolean }): void {
  const marked = database.prepare('PRAGMA application_id').get()!.application_id
  if (marked === APPLICATION_ID) return
  const names = new Set(
    database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(row => row.name),
  )
  const isOurs = marked === 0 && FIRST_TABLES.every(name => names.has(name))
  const isEmpty = marked === 0 && names.size === 0
  if (!isOurs && !(isEmpty && write)) {
    throw new DatabaseUnusable(
      `The file ${file} is no database of affiliated, but of another program: it was left as it is. Name another file.`,
    )
  }
  if (write) database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
}

/**
 * Creates a folder and its parents. Node's own recursive mkdir never returns below /proc, where folders are missing and cannot be
 * created.
 */
export function makeFolder(folder: string): void {
  if (isFolder(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    const code = codeOf(error)
    // Another process may have been faster.
    if (code === 'EEXIST' && isFolder(folder)) return
    throw new Error(`the folder ${folder} cannot be made (${code})`, { cause: error })
  }
}

/** Identifies a file, to detect its replacement; undefined if there is none. */
export function identityOf(path: string): string | undefined {
  try {
    const status = statSync(path, { throwIfNoEntry: false })
    return status && `${status.dev} ${status.ino}`
  } catch {
    return undefined
  }
}

/** The write-ahead log of an existing database. If the path is a link, SQLite puts the log beside the file that it leads to. */
export const logOf = (file: string): string => `${realpathSync(file)}-wal`

/** Returns an error if files of the database are missing or were replaced. */
export type Absence = () => DatabaseUnavailable | undefined

/** The shared memory by which processes find pages in the log, and lock each other out. */
const indexOf = (file: string): string => `${realpathSync(file)}-shm`

/**
 * Remembers which files were opened. A process can go on writing to files that were removed, and all of it would be lost. If the
 * index was removed, another process creates its own, and both would overwrite each other's changes.
 */
export function watchFiles(file: string): Absence {
  const paths = [file, logOf(file)]
  const opened = paths.map(identityOf)
  const index = indexOf(file)
  const openedIndex = identityOf(index)
  return () => {
    if (paths.some((path, place) => identityOf(path) !== opened[place])) return removed()
    const found = identityOf(index)
    if (found === openedIndex) return undefined
    return found === undefined ? withoutIndex() : replacedIndex()
  }
}

/**
 * Makes the process end without closing its connections. Closing would write to the files and remove the log, which may belong to
 * another database by then. Node closes open connections if it ends by itself, but not on process.exit.
 */
export function leaveOpen(): void {
  process.once('exit', () => process.exit())
}

/** Whether there is a folder. @throws Error if it is something else */
export function isFolder(path: string): boolean {
  if (!existsSync(path)) return false
  if (statSync(path).isDirectory()) return true
  throw new Error(`${path} is no folder`)
}

/**
 * Whether any process has the database open. Such a process holds a lock, and leaving WAL mode fails. If there is none, this empties
 * the log into the database.
 */
export function isInUse(file: string): boolean {
  if (!existsSync(file)) return false
  try {
    const database = new DatabaseSync(file, { timeout: 0 })
    try {
      database.exec('PRAGMA journal_mode = DELETE')
      return false
    } finally {
      database.close()
    }
  } catch (error) {
    if (isLocked(error)) return true
    throw error
  }
}

/** The error if another process has the database open. */
export function inUse(file: string): DatabaseUnusable {
  return new DatabaseUnusable(`The database ${file} is in use; stop the service first.`)
}

/**
 * For commands that write a file: the database would be lost if the file were one of its own, whatever path leads there.
 * @param url of any engine
 * @throws DatabaseUnusable if the path leads to the embedded database, a companion of it, or the secret key beside it
 */
export function refuseOwn(url: string, path: string): void {
  if (!url.startsWith('sqlite:')) return
  const file = fileOf(url)
  const statusOf = (path: string) => (existsSync(path) ? statSync(path) : undefined)
  const target = statusOf(path)
  for (const name of existsSync(file) ? [file, realpathSync(file)] : [file]) {
    for (const suffix of ['', ...COMPANIONS, '.key']) {
      const own = statusOf(name + suffix)
      const isSame = own !== undefined && own.ino === target?.ino && own.dev === target.dev
      if (isSame || resolve(path) === name + suffix) {
        throw new DatabaseUnusable(`${path} belongs to the database ${file}: name another file.`)
      }
    }
  }
}
