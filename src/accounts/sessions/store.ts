/** Queries on sessions, known browsers, and log-in attempts. */
import type { Insertable, Selectable } from 'kysely'
import type { Db, Tx } from '../../storage/database.ts'
import { countOf } from '../../storage/page.ts'
import type { User } from '../users/store.ts'
import type { DevicesTable, LoginAttemptsTable, SessionsTable } from './table.ts'

export async function insertSession(tx: Tx, session: Insertable<SessionsTable>): Promise<void> {
  await tx.insertInto('sessions').values(session).execute()
}

/** A session with its account. */
export interface Session {
  readonly user: User
  readonly createdAt: number
  readonly expiresAt: number
}

export async function findSession(db: Db, tokenHash: string): Promise<Session | undefined> {
  const row = await db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .selectAll('users')
    .select(['sessions.created_at', 'sessions.expires_at'])
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
  if (!row) return undefined
  const { created_at, expires_at, ...user } = row
  return { user, createdAt: created_at, expiresAt: expires_at }
}

/** Only moves forward, so that concurrent requests change it once. */
export async function extendSession(tx: Tx, tokenHash: string, expiresAt: number): Promise<void> {
  await tx
    .updateTable('sessions')
    .set({ expires_at: expiresAt })
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '<', expiresAt)
    .execute()
}

/** Sessions that have not expired, the most recently used first. */
export async function sessionsOf(db: Db, userId: number, time: number): Promise<Selectable<SessionsTable>[]> {
  return db
    .selectFrom('sessions')
    .selectAll()
    .where('user_id', '=', userId)
    .where('expires_at', '>=', time)
    .orderBy('expires_at', 'desc')
    .orderBy('token_hash')
    .execute()
}

export async function endSession(tx: Tx, tokenHash: string): Promise<void> {
  await tx.deleteFrom('sessions').where('token_hash', '=', tokenHash).execute()
}

/** Ends all sessions of the account except `keptToken`. */
export async function endSessions(tx: Tx, userId: number, keptToken = ''): Promise<void> {
  await tx.deleteFrom('sessions').where('user_id', '=', userId).where('token_hash', '!=', keptToken).execute()
}

export async function removeExpiredSessions(tx: Tx, before: number): Promise<void> {
  await tx.deleteFrom('sessions').where('expires_at', '<', before).execute()
}

export async function countSessions(db: Db, time: number): Promise<number> {
  return countOf(db.selectFrom('sessions').where('expires_at', '>=', time))
}

export async function insertAttempts(tx: Tx, attempts: Insertable<LoginAttemptsTable>[]): Promise<void> {
  await tx.insertInto('login_attempts').values(attempts).execute()
}

/** Time of the nth attempt, counted from the newest. */
export async function nthLatestAttempt(tx: Tx, counter: string, n: number): Promise<number | undefined> {
  const row = await tx
    .selectFrom('login_attempts')
    .select('tried_at')
    .where('counter', '=', counter)
    .orderBy('tried_at', 'desc')
    .offset(n - 1)
    .limit(1)
    .executeTakeFirst()
  return row?.tried_at
}

export async function removeAttempt(tx: Tx, attempt: string): Promise<void> {
  await tx.deleteFrom('login_attempts').where('attempt', '=', attempt).execute()
}

/** Removes the attempts of these counters, from every counter. */
export async function removeAttemptsIn(tx: Tx, counters: readonly string[]): Promise<void> {
  await tx
    .deleteFrom('login_attempts')
    .where('attempt', 'in', query =>
      query.selectFrom('login_attempts').select('attempt').where('counter', 'in', counters),
    )
    .execute()
}

export async function removeAttemptsBefore(tx: Tx, time: number): Promise<void> {
  await tx.deleteFrom('login_attempts').where('tried_at', '<=', time).execute()
}

export async function bringAttemptsBack(tx: Tx, time: number): Promise<void> {
  await tx.updateTable('login_attempts').set({ tried_at: time }).where('tried_at', '>', time).execute()
}

/** When the browser is forgotten, if it is known for the account. */
export async function findDevice(db: Db, tokenHash: string, userId: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('devices')
    .select('expires_at')
    .where('token_hash', '=', tokenHash)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row?.expires_at
}

/** Known browsers of an account, the most recently used first. */
export async function devicesOf(db: Db, userId: number): Promise<Selectable<DevicesTable>[]> {
  return db
    .selectFrom('devices')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('expires_at', 'desc')
    .execute()
}

/** @param limit number of the account's most recently used devices to keep */
export async function rememberDevice(tx: Tx, device: Insertable<DevicesTable>, limit: number): Promise<void> {
  const devices = await devicesOf(tx, device.user_id)
  const others = devices.filter(({ token_hash }) => token_hash !== device.token_hash)
  for (const { token_hash } of others.slice(limit - 1)) {
    await tx.deleteFrom('devices').where('token_hash', '=', token_hash).execute()
  }
  await tx
    .insertInto('devices')
    .values(device)
    .onConflict(conflict => conflict.column('token_hash').doUpdateSet({ expires_at: device.expires_at }))
    .execute()
}

export async function removeDevices(tx: Tx, userId: number): Promise<void> {
  await tx.deleteFrom('devices').where('user_id', '=', userId).execute()
}

export async function removeExpiredDevices(tx: Tx, before: number): Promise<void> {
  await tx.deleteFrom('devices').where('expires_at', '<', before).execute()
}
