/**
 * Backup and restore of the embedded database. A backup is one file that any SQLite program reads. Every file is written
 * beside its place, checked, flushed to disk, and then moved into place in one step.
 * See docs/decisions/backup.md.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { flush, partialOf, placeNew, removedAfter } from '../../base/files.ts'
import { messageOf } from '../../base/unknown.ts'
import { DatabaseUnusable } from '../database.ts'
import { openDatabase } from '../open.ts'
import { obstacleTo, openToRead } from './connect.ts'
import { isLocked } from './errors.ts'
import {
  COMPANIONS,
  fileOf,
  inUse,
  isFolder,
  makeFolder,
  refuseForeign,
  refuseMissing,
  refuseOwn,
} from './files.ts'

/** All pages in one step: between several, a write would make the backup start again. */
const ALL_PAGES = 2 ** 31 - 1

/**
 * Copies the database as of one moment; it may be in use meanwhile.
 * @param force replaces an existing file
 * @param complete receives the URL of the copy before it is moved into place, to do what the service does in the background
 * @returns the size of the backup in bytes
 * @throws DatabaseUnusable
 */
export async function backupDatabase(
  url: string,
  target: string,
  { force, complete }: { force: boolean; complete: (copy: string) => Promise<void> },
): Promise<number> {
  const file = embedded(url)
  const destination = resolve(target)
  refuseMissing(file)
  refuseOwn(url, destination)
  const prepare = () => refuseTaken(destination, force)
  return writeBeside(destination, 'The backup was not made', prepare, async partial => {
    await copyPages(file, partial)
    naming(file, () => checkFile(partial, file))
    await complete(`sqlite:${partial}`)
    await flush(partial)
    if (force) renameSync(partial, destination)
    else place(partial, destination, overwrites)
    await flush(dirname(destination))
    return sizeOf(destination)
  })
}

/**
 * Replaces the database by a backup. Nobody may be using it.
 * @returns where the previous database is kept, if there was one
 * @throws DatabaseUnusable
 */
export async function restoreDatabase(url: string, source: string): Promise<string | undefined> {
  const named = embedded(url)
  // Follows a link, so that the data stays on the disk it was put on.
  const file = existsSync(named) ? realpathSync(named) : named
  const origin = resolve(source)
  if (!existsSync(origin)) throw new DatabaseUnusable(`There is no file ${origin}.`)
  if (statSync(origin).isDirectory()) throw new DatabaseUnusable(`${origin} is a folder, and no backup.`)
  if (origin === file) throw new DatabaseUnusable('This is the database itself, and no backup of it.')
  const prepare = () => makeFolder(dirname(file))
  return writeBeside(file, 'Nothing was restored', prepare, async partial => {
    // Held until the end, so that a service that starts meanwhile does not write to the file that is set aside.
    using lock = lockOut(file)
    // If there is a write-ahead log, it has the latest writes.
    if (existsSync(`${origin}-wal`)) await copyPages(origin, partial)
    else copyFileSync(origin, partial)
    // A copy has the mode of the original.
    chmodSync(partial, 0o600)
    naming(origin, () => checkFile(partial, origin))
    // Migrated before it is moved into place: a backup of a newer version is refused here.
    await (await openDatabase(`sqlite:${partial}`, [], { existing: true })).close()
    await flush(partial)
    leaveLog(lock, file)
    const aside = setAside(file)
    // A service that has started meanwhile may have created one by now.
    if (aside === undefined) place(partial, file, inUse)
    else renameSync(partial, file)
    await flush(dirname(file))
    return aside
  })
}

/**
 * @param failure beginning of the error message
 * @param prepare checks or creates the folder of the target
 * @param work receives the name of a partial file beside the target
 */
async function writeBeside<T>(
  target: string,
  failure: string,
  prepare: () => void,
  work: (partial: string) => Promise<T>,
): Promise<T> {
  try {
    prepare()
    const partial = partialOf(target)
    return await removedAfter(
      () => removeWithCompanions(partial),
      () => work(partial),
    )
  } catch (error) {
    if (error instanceof DatabaseUnusable) throw error
    throw new DatabaseUnusable(`${failure}: ${messageOf(error)}.${obstacleTo(target)}`, error)
  }
}

function embedded(url: string): string {
  if (url.startsWith('sqlite:')) return fileOf(url)
  throw new DatabaseUnusable(
    'This is for the embedded database. PostgreSQL has its own: pg_dump and pg_restore, see docs/operations.md.',
  )
}

/**
 * A missing folder is not created: it may be an unmounted disk. A device or a link is not replaced: it serves another
 * purpose.
 */
function refuseTaken(destination: string, force: boolean): void {
  const folder = dirname(destination)
  if (!isFolder(folder)) throw new Error(`there is no folder ${folder}`)
  const status = lstatSync(destination, { throwIfNoEntry: false })
  if (!status) return
  if (status.isDirectory()) throw new Error(`${destination} is a folder`)
  if (!status.isFile()) throw new Error(`${destination} is no regular file`)
  if (!force) throw overwrites(destination)
}

/** Copies all pages as of one moment, including those in the log. */
async function copyPages(file: string, target: string): Promise<void> {
  const source = naming(file, () => openToRead(file))
  try {
    await backup(source, target, { rate: ALL_PAGES })
  } catch (error) {
    throw new Error(`${file} could not be copied into ${target}: ${messageOf(error)}`, { cause: error })
  } finally {
    source.close()
  }
}

/** Names the file that work is about in its errors. */
function naming<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof DatabaseUnusable) throw error
    throw new Error(`${file}: ${messageOf(error)}`, { cause: error })
  }
}

/**
 * Makes the copy a single file, and checks that it is intact and belongs to this program.
 * @param copyOf the file to name in errors
 */
function checkFile(file: string, copyOf: string): void {
  const database = new DatabaseSync(file)
  try {
    database.exec('PRAGMA journal_mode = DELETE')
    const [first] = database.prepare('PRAGMA integrity_check').all()
    if (first?.integrity_check !== 'ok') throw new Error(`it is damaged: ${first?.integrity_check}`)
    if (database.prepare('PRAGMA foreign_key_check').all().length > 0) {
      throw new Error('it is damaged: rows refer to rows that are not there')
    }
    refuseForeign(database, copyOf, { write: false })
    if (database.prepare('SELECT * FROM schema_version').get()?.copying === 1) {
      throw new Error('it is a copy that is not complete')
    }
  } finally {
    database.close()
  }
}

/**
 * Keeps the old database under another name, in place until the new one replaces it.
 * @returns where it is kept, if there is one
 */
function setAside(file: string): string | undefined {
  const aside = `${file}.before-restore-${new Date().toISOString().replace(/\D/g, '').slice(0, 17)}`
  // The log of a damaged or missing database must not get into the new one.
  for (const suffix of COMPANIONS) {
    if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix)
  }
  if (!existsSync(file)) return undefined
  linkSync(file, aside)
  return aside
}

/**
 * Keeps everyone out of a database until it is disposed of: a process that opens it meanwhile waits, then checks whether
 * the file is still the same.
 * @throws DatabaseUnusable if another process has it open
 */
function lockOut(file: string): DatabaseSync | undefined {
  if (!existsSync(file)) return undefined
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    // In this mode the lock outlives the transaction, which changes nothing.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')
  } catch (error) {
    database.close()
    if (isLocked(error)) throw inUse(file)
    // A damaged file is what backups are for; nobody can open it either.
    return undefined
  }
  return database
}

/** Empties the write-ahead log into the database: later, closing this connection would remove the log of the new database. */
function leaveLog(lock: DatabaseSync | undefined, file: string): void {
  if (!lock) return
  try {
    lock.exec('PRAGMA journal_mode = DELETE')
    // While the lock is held, SQLite leaves a journal behind.
    rmSync(`${file}-journal`, { force: true })
  } catch {
    // For a damaged file, the log is set aside as well.
    lock.close()
  }
}

function removeWithCompanions(file: string): void {
  for (const suffix of ['', ...COMPANIONS]) {
    // Even with `force`, rmSync fails for a path below a file.
    if (existsSync(file + suffix)) rmSync(file + suffix, { force: true })
  }
}

/** Moves a file into place. @param errorOf the error to throw if there is another one by now */
function place(partial: string, destination: string, errorOf: (file: string) => Error): void {
  if (!placeNew(partial, destination)) throw errorOf(destination)
}

const overwrites = (file: string) =>
  new DatabaseUnusable(`There is a file ${file} already; --force replaces it.`)

async function sizeOf(path: string): Promise<number> {
  const handle = await open(path, 'r')
  try {
    return (await handle.stat()).size
  } finally {
    await handle.close()
  }
}
