/** The errors of SQLite, as the rest of the program knows them. */
import { DatabaseUnavailable, ReferenceViolation, UniqueViolation } from '../database.ts'

// Primary result codes of SQLite (https://sqlite.org/rescode.html); extended ones carry them in the low byte.
export const SQLITE_BUSY = 5
export const SQLITE_LOCKED = 6
const SQLITE_CONSTRAINT_UNIQUE = 2067
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555
const SQLITE_CONSTRAINT_FOREIGNKEY = 787
const UNAVAILABLE = new Set([SQLITE_BUSY, SQLITE_LOCKED, 8 /* READONLY */, 10 /* IOERR */, 13 /* FULL */, 14])

export function primaryCode(error: unknown): number {
  return ((error as { errcode?: number }).errcode ?? 0) & 0xff
}

/** Turns an error of SQLite into one of the three that the rest of the program knows; others stay as they are. */
export function translate(error: unknown): unknown {
  const { errcode, errstr, message, code } = error as {
    errcode?: number
    errstr?: string
    message?: string
    code?: string
  }
  if (errcode === SQLITE_CONSTRAINT_UNIQUE || errcode === SQLITE_CONSTRAINT_PRIMARYKEY) {
    const key = /constraint failed: (\S+)/.exec(message ?? '')?.[1]
    return new UniqueViolation(key?.replace(/,$/, '') ?? '', error)
  }
  if (errcode === SQLITE_CONSTRAINT_FOREIGNKEY) return new ReferenceViolation(error)
  const closed = code === 'ERR_INVALID_STATE'
  if (closed || (errcode !== undefined && UNAVAILABLE.has(errcode & 0xff))) {
    return new DatabaseUnavailable(`SQLite: ${errstr ?? message}`, error)
  }
  return error
}
