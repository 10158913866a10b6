import pg from 'pg'
import { codeOf, messageOf } from '../../base/unknown.ts'
import {
  BoundViolation,
  DatabaseUnavailable,
  DatabaseUnusable,
  LostRace,
  type Reason,
  ReferenceViolation,
  UniqueViolation,
} from '../database.ts'
import { isOfNames } from './session.ts'
import { NotRun } from './trip.ts'

// SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html)
const UNIQUE_VIOLATION = '23505'
const FOREIGN_KEY_VIOLATION = '23503'
const CHECK_VIOLATION = '23514'
/**
 * Classes: connection, resources, operator, system. Codes: read-only server, transaction ended for its time limit, cancelled statement,
 * lock not available.
 */
const UNAVAILABLE = /^(?:08|53|58|57P|25006|25P03|25P04|57014|55P03)/
const reasons: Readonly<Record<string, Reason>> = {
  '53100': 'full',
  '25006': 'read-only',
  '55P03': 'busy',
  '57014': 'too long',
}
/** What only the operator can change: privileges, and in a migration what is there already. */
const unusable: Readonly<Record<string, string>> = {
  '42501': 'The account by which the database is used lacks a privilege',
  '42P07': 'The database has something by a name that this program needs',
}
const TOO_MANY_CONNECTIONS = '53300'
/** The message of PgBouncer, which has no code for this. */
const POOLER_IS_FULL = 'no more connections allowed'
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'

/** Whether work failed only because of concurrent work, so that it may succeed if repeated. */
export function isLostRace(error: unknown): boolean {
  const code = codeOf(error)
  return (
    error instanceof LostRace ||
    code === SERIALIZATION_FAILURE ||
    code === DEADLOCK_DETECTED ||
    isOfNames(error)
  )
}

/** Whether work has waited too long for a lock that somebody else has. */
export function isForLock(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && error.reason === 'busy'
}

/** Whether the server, a pooler before it or the operating system grants no further connection. */
export function isForTooMany(error: unknown): boolean {
  const code = codeOf(error)
  return code === TOO_MANY_CONNECTIONS || code === 'EMFILE' || messageOf(error).startsWith(POOLER_IS_FULL)
}

/** Translates an error to one that the rest of the program knows; others stay as they are. */
export function translate(error: unknown): unknown {
  if (error instanceof NotRun) return new NotRun(translate(error.cause))
  // Errors that are not from the server concern the connection.
  if (!(error instanceof pg.DatabaseError)) {
    return new DatabaseUnavailable(`PostgreSQL: ${messageOf(error)}`, error)
  }
  const { code = '', constraint = '', table = '', detail = '' } = error
  if (code === UNIQUE_VIOLATION) {
    const column = /\(([^),]+)/.exec(detail)?.[1]
    return new UniqueViolation(constraint.includes('.') ? constraint : `${table}.${column}`, error)
  }
  if (code === CHECK_VIOLATION) return new BoundViolation(error)
  if (code === FOREIGN_KEY_VIOLATION) return new ReferenceViolation(error)
  if (UNAVAILABLE.test(code)) {
    return new DatabaseUnavailable(`PostgreSQL: ${error.message}`, error, reasons[code])
  }
  const obstacle = unusable[code]
  return obstacle === undefined ? error : new DatabaseUnusable(`${obstacle}: ${error.message}.`, error)
}
