/** Every query on sessions and on the tries to log in. */
import type { Insertable } from 'kysely'
import type { Db, Tx } from '../../storage/database.ts'
import { countOf } from '../../storage/page.ts'
import type { LoginAttemptsTable, SessionsTable } from '../../storage/tables.ts'
import type { User } from '../../users/store.ts'

export async function insertSession(tx: Tx, session: Insertable<SessionsTable>): Promise<void> {
  await tx.insertInto('sessions').values(session).execute()
}

/** The session's account, and when the session expires. */
export async function findSession(
  db: Db,
  tokenHash: string,
): Promise<{ user: User; expiresAt: number } | undefined> {
  const row = await db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .selectAll('users')
    .select('sessions.expires_at')
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
  if (!row) return undefined
  const { expires_at, ...user } = row
  return { user, expiresAt: expires_at }
}

/** Only moves forward, so that requests that come together change it once. */
export async function extendSession(tx: Tx, tokenHash: string, expiresAt: number): Promise<void> {
  await tx
    .updateTable('sessions')
    .set({ expires_at: expiresAt })
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '<', expiresAt)
    .execute()
}

export async function endSession(tx: Tx, tokenHash: string): Promise<void> {
  await tx.deleteFrom('sessions').where('token_hash', '=', tokenHash).execute()
}

/** Ends every session of the account, but for the one that is kept. */
export async function endSessions(tx: Tx, userId: number, kept = ''): Promise<void> {
  await tx.deleteFrom('sessions').where('user_id', '=', userId).where('token_hash', '!=', kept).execute()
}

export async function removeExpiredSessions(tx: Tx, before: number): Promise<void> {
  await tx.deleteFrom('sessions').where('expires_at', '<', before).execute()
}

export async function countSessions(db: Db, time: number): Promise<number> {
  return countOf(db.selectFrom('sessions').where('expires_at', '>=', time))
}

/** Lets those who try to log in do so one after the other, until the transaction ends: together they are to be few. */
export async function waitForTurn(tx: Tx): Promise<void> {
  await tx.selectFrom('settings').select('value').where('name', '=', 'first_login_at').forUpdate().execute()
}

export async function insertAttempt(tx: Tx, attempt: Insertable<LoginAttemptsTable>): Promise<number> {
  const { id } = await tx
    .insertInto('login_attempts')
    .values(attempt)
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** When the newest tries were made, the newest first. */
export async function latestAttempts(
  tx: Tx,
  by: 'login_key' | 'address',
  value: string,
  limit: number,
): Promise<number[]> {
  const rows = await tx
    .selectFrom('login_attempts')
    .select('tried_at')
    .where(by, '=', value)
    .orderBy('tried_at', 'desc')
    .limit(limit)
    .execute()
  return rows.map(row => row.tried_at)
}

export async function removeAttempt(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('login_attempts').where('id', '=', id).execute()
}

export async function removeAttemptsOn(tx: Tx, loginKey: string): Promise<void> {
  await tx.deleteFrom('login_attempts').where('login_key', '=', loginKey).execute()
}

export async function removeAttemptsBefore(tx: Tx, time: number): Promise<void> {
  await tx.deleteFrom('login_attempts').where('tried_at', '<=', time).execute()
}

export async function everLoggedIn(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', 'first_login_at')
    .executeTakeFirstOrThrow()
  return row.value !== ''
}

export async function noteFirstLogin(tx: Tx, time: number): Promise<void> {
  await tx
    .updateTable('settings')
    .set({ value: String(time) })
    .where('name', '=', 'first_login_at')
    .where('value', '=', '')
    .execute()
}
