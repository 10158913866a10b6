/** Opens the embedded engine's two connections to a file. */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { codeOf, messageOf } from '../../base/unknown.ts'
import { type DatabaseOptions, DatabaseUnusable } from '../database.ts'
import { isLocked, primaryCode, SQLITE_CANTOPEN, SQLITE_READONLY, translate } from './errors.ts'
import { COMPANIONS, identityOf, inUse, isInUse, makeFolder, refuseForeign, refuseMissing } from './files.ts'

export const BUSY_TIMEOUT_MS = 5000
const WRITE_CACHE_KIB = 32_768
const READ_CACHE_KIB = 8192
/** When the write-ahead log has this many pages, it is emptied into the file; see `checkpoints.ts`. */
export const PAGES_IN_LOG = 8000
/** Whether SQLite says how many pages the log has. An older version does not, and empties it by itself. */
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
      `The database ${file} cannot be opened: ${messageOf(translate(error))}.${obstacleTo(file)}`,
      error,
    )
  }
}

/** What is not writable, and why: SQLite only says that it cannot open or write. The log is put beside the file. */
export function obstacleTo(file: string): string {
  const companions = COMPANIONS.map(suffix => file + suffix)
  for (const path of [file, dirname(file), ...companions]) {
    try {
      accessSync(path, constants.W_OK)
    } catch (error) {
      const code = codeOf(error) ?? ''
      // What is not there was said already.
      if (!['ENOENT', 'ENOTDIR'].includes(code)) return ` ${path} cannot be written to (${code}).`
    }
  }
  return ''
}

/**
 * Opens a database to read it; as immutable if there is no log and this process cannot create one: then nobody has it open to write.
 */
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
      if (isLast || ![SQLITE_CANTOPEN, SQLITE_READONLY].includes(primaryCode(error))) throw error
    }
  }
  throw new Error('not reached')
}

/** Opens the two connections. @returns undefined if `restore` has replaced the file meanwhile */
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
    // SQLite does not flush a commit, which would block the process: `Log` does, before it is answered.
    write.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON')
    // Overwrites erased data instead of only freeing its space.
    write.exec('PRAGMA secure_delete = ON')
    // A savepoint remembers each page its transaction touches: more than SQLite keeps in memory by default, and a third
    // of the time of a write was spent on temporary files.
    write.exec('PRAGMA temp_store = MEMORY')
    // A new record changes a page of each index. These pages are cached, and moved from the log into the file after many records
    // (every 32 MiB) rather than a few.
    const pagesInLog = CAN_BE_ASKED ? 0 : PAGES_IN_LOG
    write.exec(`PRAGMA cache_size = -${WRITE_CACHE_KIB}; PRAGMA wal_autocheckpoint = ${pagesInLog}`)
    // After a crash, the log may contain pages that are not on the disk. This flushes them before anyone reads them.
    write.exec('PRAGMA wal_checkpoint(PASSIVE)')
    if (wasReplaced()) return void close()
    const read = open()
    read.exec(`PRAGMA query_only = ON; PRAGMA cache_size = -${READ_CACHE_KIB}`)
    // From here on, waiting for a busy database does not block the process (`whenFree`).
    write.exec('PRAGMA busy_timeout = 0')
    return { read, write }
  } catch (error) {
    close()
    throw error
  }
}
