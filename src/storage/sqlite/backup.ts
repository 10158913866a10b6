/**
 * Backup and restoration of the embedded database. A backup is one file that any program for SQLite reads. Whatever
 * is written here is written beside its place, checked, flushed to the disk, and only then put there in one step.
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
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { flush, placeNew } from '../../base/files.ts'
import { messageOf } from '../../base/unknown.ts'
import { DatabaseUnusable } from '../database.ts'
import { openDatabase } from '../open.ts'
import { isLocked } from './errors.ts'
import { fileOf, inUse, isFolder, makeFolder, refuseForeign, refuseMissing } from './files.ts'

/** All pages in one step: a backup in several would begin again whenever somebody writes in between. */
const ALL_PAGES = 2 ** 31 - 1
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** What SQLite keeps beside a database: its write-ahead log and the index of that, or its journal. */
const COMPANIONS = ['-wal', '-shm', '-journal']

/**
 * Copies the database as it is at one moment; it may be in use meanwhile.
 * @param force replaces a file that is there
 * @param complete gets the URL of the copy before it takes its place, to do what only the service would have done
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
  if (destination === file) throw new DatabaseUnusable('A backup needs a file of its own.')
  const partial = `${destination}.${process.pid}.partial`
  return writeBeside(partial, 'The backup was not made', async () => {
    refuseTaken(destination, force)
    await copyPages(file, partial)
    checkFile(partial, file)
    await complete(`sqlite:${partial}`)
    await flush(partial)
    if (force) renameSync(partial, destination)
    else place(partial, destination, overwrites)
    await flush(dirname(destination))
    return sizeOf(destination)
  })
}

/**
 * Puts a backup into the place of the database, which nobody may be using.
 * @returns where the database is kept that was there, when there was one
 * @throws DatabaseUnusable
 */
export async function restoreDatabase(url: string, source: string): Promise<string | undefined> {
  const named = embedded(url)
  // Where a link leads to, so that the data stays on the disk that it was put on.
  const file = existsSync(named) ? realpathSync(named) : named
  const origin = resolve(source)
  if (!existsSync(origin)) throw new DatabaseUnusable(`There is no file ${origin}.`)
  if (origin === file) throw new DatabaseUnusable('This is the database itself, and no backup of it.')
  const partial = `${file}.${process.pid}.partial`
  return writeBeside(partial, 'Nothing was restored', async () => {
    makeFolder(dirname(file))
    // From here to the end: a service that starts meanwhile would write to what is set aside.
    using lock = lockOut(file)
    // What was written last is in the log, when there is one.
    if (existsSync(`${origin}-wal`)) await copyPages(origin, partial)
    else copyFileSync(origin, partial)
    // A copy has the mode of the file that it was made of.
    chmodSync(partial, 0o600)
    checkFile(partial, origin)
    // Brought up to date before it takes the place: of a version that is newer than this program, it never does.
    await (await openDatabase(`sqlite:${partial}`, [], { existing: true })).close()
    await flush(partial)
    leaveLog(lock)
    const aside = setAside(file)
    // A service that has started meanwhile may have made one by now.
    if (aside === undefined) place(partial, file, inUse)
    else renameSync(partial, file)
    await flush(dirname(file))
    return aside
  })
}

/**
 * Leaves nothing of the file that is written, also when a signal ends the process.
 * @param failure what to say when the work failed, before the reason
 */
async function writeBeside<T>(partial: string, failure: string, work: () => Promise<T>): Promise<T> {
  const leave = () => {
    removeWithCompanions(partial)
    process.exit(1)
  }
  for (const signal of ENDING_SIGNALS) process.on(signal, leave)
  try {
    return await work()
  } catch (error) {
    if (error instanceof DatabaseUnusable) throw error
    throw new DatabaseUnusable(`${failure}: ${messageOf(error)}.`, error)
  } finally {
    for (const signal of ENDING_SIGNALS) process.off(signal, leave)
    removeWithCompanions(partial)
  }
}

function embedded(url: string): string {
  if (url.startsWith('sqlite:')) return fileOf(url)
  throw new DatabaseUnusable(
    'This is for the embedded database. PostgreSQL has its own: pg_dump and pg_restore, see docs/operations.md.',
  )
}

/**
 * A missing folder is not made: it may be a disk that is not mounted. A device or a link is not replaced: it is there for
 * something else.
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

/** As they are at one moment, with what is in the log. */
async function copyPages(file: string, target: string): Promise<void> {
  const source = new DatabaseSync(file, { readOnly: true, timeout: 5000 })
  try {
    await backup(source, target, { rate: ALL_PAGES })
  } finally {
    source.close()
  }
}

/**
 * Makes it a single file, and looks whether it is whole and one of ours.
 * @param copyOf what to name when it is not
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
 * The database stays where it is until the other takes its place.
 * @returns where it is kept, when there is one
 */
function setAside(file: string): string | undefined {
  const aside = `${file}.before-restore-${new Date().toISOString().replace(/\D/g, '').slice(0, 17)}`
  // Of one that is damaged or gone, what its log holds must not get into the other.
  for (const suffix of COMPANIONS) {
    if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix)
  }
  if (!existsSync(file)) return undefined
  linkSync(file, aside)
  return aside
}

/**
 * Keeps everybody out of a database until it is disposed of: who opens it meanwhile waits, and then looks whether the file is
 * still the one that it opened.
 * @throws DatabaseUnusable when somebody has it open
 */
function lockOut(file: string): DatabaseSync | undefined {
  if (!existsSync(file)) return undefined
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    // The lock of a transaction is kept after its end in this mode, and changes nothing.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')
  } catch (error) {
    database.close()
    if (isLocked(error)) throw inUse(file)
    // One that is damaged is what a backup is for; nobody can open it either.
    return undefined
  }
  return database
}

/** Empties the write-ahead log into the database. Its lock would remove the log of the other one at its end. */
function leaveLog(lock: DatabaseSync | undefined): void {
  try {
    lock?.exec('PRAGMA journal_mode = DELETE')
  } catch {
    // Of one that is damaged, the log is set aside as well.
    lock?.close()
  }
}

function removeWithCompanions(file: string): void {
  for (const suffix of ['', ...COMPANIONS]) {
    // Of what is below a file, `force` would not take that it is not there.
    if (existsSync(file + suffix)) rmSync(file + suffix, { force: true })
  }
}

/** @param errorOf what to throw when there is a file by now */
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
