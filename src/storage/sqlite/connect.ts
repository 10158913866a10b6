/** Opens the embedded engine's two connections to a file. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { messageOf } from '../../base/unknown.ts'
import { type DatabaseOptions, DatabaseUnusable } from '../database.ts'
import { isLocked, primaryCode, SQLITE_CANTOPEN, translate } from './errors.ts'
import { identityOf, inUse, isInUse, makeFolder, refuseForeign, refuseMissing } from './files.ts'

export const BUSY_TIMEOUT_MS = 5000
const WRITE_CACHE_KIB = 32_768
const READ_CACHE_KIB = 8192
/** When they are moved into the file, within a commit; see `checkpoints.ts`. */
export const PAGES_IN_LOG = 8000
/** How many there are: an older SQLite cannot be asked, and moves them by itself. */
export const CAN_BE_ASKED = process.versions.sqlite!.localeCompare('3.51', 'en', { numeric: true }) >= 0

export interface Connections {
  readonly read: DatabaseSync
  readonly write: DatabaseSync
}

/** @throws DatabaseUnusable if the file cannot be opened or is not a database */
export function connect(file: string, { existing, alone, readOnly }: DatabaseOptions): Connections {
  try {
    if (readOnly) return { read: openToRead(file), write: openToRead(file) }
    if (!existing) makeFolder(dirname(file))
    if (alone && isInUse(file)) throw inUse(file)
    for (;;) {
      if (existing) refuseMissing(file)
      const connections = attempt(file)
      if (connections) return connections
    }
  } catch (error) {
    if (error instanceof DatabaseUnusable) throw error
    if (isLocked(error)) {
      throw new DatabaseUnusable(
        `The database ${file} is locked by another command, such as restore; try again when it has ended.`,
        error,
      )
    }
    throw new DatabaseUnusable(
      `The database ${file} cannot be opened: ${messageOf(translate(error))}.`,
      error,
    )
  }
}

/** If nothing can be written beside the file, it is opened as immutable, which is then true. */
export function openToRead(file: string): DatabaseSync {
  refuseMissing(file)
  const immutable = pathToFileURL(file)
  immutable.searchParams.set('immutable', '1')
  for (const place of [file, immutable]) {
    const database = new DatabaseSync(place, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
    try {
      refuseForeign(database, file, { write: false })
      return database
    } catch (error) {
      database.close()
      const isLast = place === immutable || existsSync(`${file}-wal`)
      if (isLast || primaryCode(error) !== SQLITE_CANTOPEN) throw error
    }
  }
  throw new Error('not reached')
}

/** @returns undefined if `restore` has replaced the file meanwhile */
function attempt(file: string): Connections | undefined {
  const connections: DatabaseSync[] = []
  const open = () => {
    const connection = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
    connections.push(connection)
    return connection
  }
  const close = () => {
    for (const connection of connections) connection.close()
  }
  const before = identityOf(file)
  const wasReplaced = () => before !== undefined && identityOf(file) !== before
  try {
    const write = open()
    // Waits for `restore` to end. A file that it sets aside must not be written to, nor get a write-ahead log.
    refuseForeign(write, file, { write: true })
    if (wasReplaced()) return void close()
    // A commit is not flushed by SQLite, which would block the process, but by `Log`, before anybody hears of it.
    write.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON')
    // Overwrites erased data instead of only freeing its space.
    write.exec('PRAGMA secure_delete = ON')
    // A savepoint remembers each page its transaction touches: more than SQLite keeps in memory by default, and a third
    // of the time of a write was spent on temporary files.
    write.exec('PRAGMA temp_store = MEMORY')
    // A new record touches a page of each index: those pages are cached, and moved from the log into the file (every 32
    // MiB) after many records rather than few.
    const pagesInLog = CAN_BE_ASKED ? 0 : PAGES_IN_LOG
    write.exec(`PRAGMA cache_size = -${WRITE_CACHE_KIB}; PRAGMA wal_autocheckpoint = ${pagesInLog}`)
    // After a crash, the log may contain pages that never reached the disk. They are flushed before anyone reads them.
    write.exec('PRAGMA wal_checkpoint(PASSIVE)')
    if (wasReplaced()) return void close()
    const read = open()
    read.exec(`PRAGMA query_only = ON; PRAGMA cache_size = -${READ_CACHE_KIB}`)
    // From here on, a busy database is waited for without blocking the process.
    write.exec('PRAGMA busy_timeout = 0')
    return { read, write }
  } catch (error) {
    close()
    throw error
  }
}
