/** Translation of SQLite's errors. */
import { codeOf, memberOf, messageOf } from '../../base/unknown.ts'
import {
  BoundViolation,
  DatabaseUnavailable,
  type Reason,
  ReferenceViolation,
  UniqueViolation,
} from '../database.ts'

// Primary result codes of SQLite (https://sqlite.org/rescode.html); extended ones carry them in the low byte.
export const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6
const SQLITE_CONSTRAINT_UNIQUE = 2067
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555
const SQLITE_CONSTRAINT_FOREIGNKEY = 787
const SQLITE_CONSTRAINT_CHECK = 275
export const SQLITE_READONLY = 8
const SQLITE_IOERR = 10
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
export const SQLITE_CANTOPEN = 14
const SQLITE_CONSTRAINT = 19
const SQLITE_NOTADB = 26
const SQLITE_IOERR_WRITE = 778
/** The file of shared memory (-shm) cannot grow. */
const SQLITE_IOERR_SHMSIZE = 4874
export const SQLITE_IOERR_FSYNC = 1034
/** By extended code, else by primary code. */
const reasons = new Map<number, Reason>([
  [SQLITE_BUSY, 'busy'],
  [SQLITE_LOCKED, 'busy'],
  [SQLITE_READONLY, 'read-only'],
  [SQLITE_IOERR, 'failing'],
  [SQLITE_FULL, 'full'],
  [SQLITE_IOERR_SHMSIZE, 'full'],
  [SQLITE_CANTOPEN, 'no answer'],
  [SQLITE_CORRUPT, 'damaged'],
  [SQLITE_NOTADB, 'damaged'],
])
const advices = new Map([
  [
    SQLITE_CORRUPT,
    '. The file of the database is damaged: stop the service, keep the file, and restore the last backup',
  ],
  [
    SQLITE_NOTADB,
    '. Either another file was meant; or the beginning of this one is damaged: stop the service, keep the file, and restore the last backup',
  ],
])
/** Codes of a failed COMMIT that were raised before the commit record was written to the log. */
const NOT_COMMITTED = new Set([SQLITE_BUSY, SQLITE_LOCKED, SQLITE_READONLY, SQLITE_FULL, SQLITE_CONSTRAINT])

/** Codes of Node: the database is closed; a thread cannot be started, for example for lack of file descriptors. */
const NO_ANSWER: ReadonlySet<unknown> = new Set(['ERR_INVALID_STATE', 'ERR_WORKER_INIT_FAILED'])

/** SQLite's extended error code. */
function codeOfSqlite(error: unknown): number | undefined {
  const code = memberOf(error, 'errcode')
  return typeof code === 'number' ? code : undefined
}

/** The primary result code of an error of SQLite; 0 for any other error. */
export function primaryCode(error: unknown): number {
  return (codeOfSqlite(error) ?? 0) & 0xff
}

/** Whether another connection holds the lock. */
export function isLocked(error: unknown): boolean {
  return [SQLITE_BUSY, SQLITE_LOCKED].includes(primaryCode(error))
}

/**
 * Whether a COMMIT that failed with this error may be committed after all at the next start: SQLite rolls it back in
 * memory, but if the flush fails, its pages and commit record are already in the write-ahead log.
 */
export function isInDoubt(error: unknown): boolean {
  const errcode = codeOfSqlite(error)
  if (errcode === undefined || errcode === SQLITE_IOERR_WRITE) return false
  return !NOT_COMMITTED.has(primaryCode(error))
}

/** SQLite calls a full disk an I/O error here, and operators would look for a broken one. */
const wordsOf = (error: unknown) =>
  codeOfSqlite(error) === SQLITE_IOERR_SHMSIZE
    ? 'database or disk is full'
    : (memberOf(error, 'errstr') ?? messageOf(error))

/** A flush failed, so it is not known whether the change is on the disk. */
export const inDoubt = (cause: unknown) =>
  new DatabaseUnavailable(
    `SQLite: ${wordsOf(cause)}, while a change was put on the disk: it may have been made or not. Look at the disk and its log, and whether the change is there, before it is made again.`,
    cause,
    'in doubt',
  )

/** The file of the database was removed or replaced while it was open. */
export const removed = () =>
  new DatabaseUnavailable(
    'SQLite: the file of the database, or its write-ahead log beside it (-wal), was removed or replaced: put it back, or stop the service, restore a backup, and start it again.',
    undefined,
    'removed',
  )

export const withoutIndex = () =>
  new DatabaseUnavailable(
    'SQLite: the index of the write-ahead log, beside the file of the database (-shm), was removed: put it back, or stop the service and start it again. What was answered is in the log (-wal).',
    undefined,
    'removed',
  )

export const replacedIndex = () =>
  new DatabaseUnavailable(
    'SQLite: the index of the write-ahead log, beside the file of the database (-shm), was removed, and another process has made another: stop the service and start it again. What was answered is in the log (-wal).',
    undefined,
    'replaced',
  )

/** For a commit after which the files were missing: it may be in them when they are put back. */
export const doubted = (refusal: DatabaseUnavailable) =>
  new DatabaseUnavailable(refusal.message, refusal, 'in doubt')

/** Translates an error to one that the rest of the program knows; others stay as they are. */
export function translate(error: unknown): unknown {
  const errcode = codeOfSqlite(error)
  if (errcode === SQLITE_CONSTRAINT_UNIQUE || errcode === SQLITE_CONSTRAINT_PRIMARYKEY) {
    const key = /constraint failed: (\S+)/.exec(messageOf(error))?.[1]
    return new UniqueViolation(key?.replace(/,$/, '') ?? '', error)
  }
  if (errcode === SQLITE_CONSTRAINT_CHECK) return new BoundViolation(error)
  if (errcode === SQLITE_CONSTRAINT_FOREIGNKEY) return new ReferenceViolation(error)
  const known = reasons.get(errcode ?? 0) ?? reasons.get(primaryCode(error))
  const reason = NO_ANSWER.has(codeOf(error)) ? 'no answer' : known
  if (reason === undefined) return error
  const advice = advices.get(primaryCode(error)) ?? ''
  return new DatabaseUnavailable(`SQLite: ${wordsOf(error)}${advice}`, error, reason)
}
