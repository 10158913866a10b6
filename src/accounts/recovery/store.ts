/** Queries on password reset links. */
import type { Insertable } from 'kysely'
import type { Db, Tx } from '../../storage/database.ts'
import type { RecoveriesTable } from './table.ts'

/** Replaces an earlier link. */
export async function putRecovery(tx: Tx, recovery: Insertable<RecoveriesTable>): Promise<void> {
  await removeRecoveriesOf(tx, recovery.user_id)
  await tx.insertInto('recoveries').values(recovery).execute()
}

export async function removeRecoveriesOf(tx: Tx, userId: number): Promise<void> {
  await tx.deleteFrom('recoveries').where('user_id', '=', userId).execute()
}

/**
 * @param time links that expired before it are ignored
 * @param madeBefore links that were made later are ignored
 */
export async function findRecovery(
  db: Db,
  tokenHash: string,
  { time, madeBefore }: { time: number; madeBefore: number },
): Promise<{ user_id: number } | undefined> {
  return db
    .selectFrom('recoveries')
    .select('user_id')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>=', time)
    .where('created_at', '<=', madeBefore)
    .executeTakeFirst()
}

/** @returns whether it existed */
export async function takeRecovery(tx: Tx, tokenHash: string): Promise<boolean> {
  const deleted = await tx
    .deleteFrom('recoveries')
    .where('token_hash', '=', tokenHash)
    .returning('token_hash')
    .execute()
  return deleted.length > 0
}

export async function removeRecoveriesBefore(tx: Tx, time: number): Promise<void> {
  await tx.deleteFrom('recoveries').where('expires_at', '<', time).execute()
}
