import type { Insertable, Selectable } from 'kysely'
import type { Db, Tx } from '../storage/database.ts'
import { idsInOrder } from '../storage/page.ts'
import type { UsersTable } from '../storage/tables.ts'

export type User = Selectable<UsersTable>
export type NewUser = Insertable<UsersTable>

export async function insertUser(tx: Tx, user: NewUser): Promise<number> {
  const { id } = await tx.insertInto('users').values(user).returning('id').executeTakeFirstOrThrow()
  return id
}

/** @returns their identifiers, in the same order */
export async function insertUsers(tx: Tx, users: NewUser[]): Promise<number[]> {
  return idsInOrder(await tx.insertInto('users').values(users).returning('id').execute())
}

/** @returns undefined when another account has the login */
export async function insertUserUnlessTaken(tx: Tx, user: NewUser): Promise<number | undefined> {
  const row = await tx
    .insertInto('users')
    .values(user)
    .onConflict(conflict => conflict.column('login_key').doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

export async function updateEmail(
  tx: Tx,
  id: number,
  email: Pick<UsersTable, 'email' | 'email_key' | 'updated_at'>,
): Promise<void> {
  await tx.updateTable('users').set(email).where('id', '=', id).execute()
}

export async function findUser(db: Db, id: number): Promise<User | undefined> {
  return db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function findUserByLoginKey(db: Db, loginKey: string): Promise<User | undefined> {
  return db.selectFrom('users').selectAll().where('login_key', '=', loginKey).executeTakeFirst()
}

export async function userExists(db: Db, id: number): Promise<boolean> {
  return (await db.selectFrom('users').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
}

export const loginExists = (db: Db, loginKey: string) => exists(db, 'login_key', loginKey)
export const emailExists = (db: Db, emailKey: string) => exists(db, 'email_key', emailKey)

async function exists(db: Db, column: 'login_key' | 'email_key', key: string): Promise<boolean> {
  return (await db.selectFrom('users').select('id').where(column, '=', key).executeTakeFirst()) !== undefined
}

export async function anyUser(db: Db): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** The next accounts by identifier, at most `limit`. */
export async function usersAfter(db: Db, id: number, limit: number): Promise<User[]> {
  return db.selectFrom('users').selectAll().where('id', '>', id).orderBy('id').limit(limit).execute()
}
