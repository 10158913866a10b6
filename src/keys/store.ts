import type { Insertable, Selectable } from 'kysely'
import type { Db, Tx } from '../storage/database.ts'
import type { ApiKeysTable } from '../storage/tables.ts'

export type ApiKey = Selectable<ApiKeysTable>

export async function insertKey(tx: Tx, key: Insertable<ApiKeysTable>): Promise<number> {
  const { id } = await tx.insertInto('api_keys').values(key).returning('id').executeTakeFirstOrThrow()
  return id
}

export async function findKeyByTokenHash(db: Db, tokenHash: string): Promise<ApiKey | undefined> {
  return db.selectFrom('api_keys').selectAll().where('token_hash', '=', tokenHash).executeTakeFirst()
}

export async function findKey(db: Db, publicKey: string): Promise<ApiKey | undefined> {
  return db.selectFrom('api_keys').selectAll().where('public_key', '=', publicKey).executeTakeFirst()
}

export async function listKeys(db: Db): Promise<(ApiKey & { owner: string })[]> {
  return db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .selectAll('api_keys')
    .select('users.login as owner')
    .orderBy('api_keys.id')
    .execute()
}

export async function setRevoked(tx: Tx, id: number, revokedAt: number): Promise<void> {
  await tx.updateTable('api_keys').set({ revoked_at: revokedAt }).where('id', '=', id).execute()
}

/** Only moves forward, so that processes that report late change nothing. */
export async function setLastUsed(tx: Tx, id: number, lastUsedAt: number): Promise<void> {
  await tx
    .updateTable('api_keys')
    .set({ last_used_at: lastUsedAt })
    .where('id', '=', id)
    .where(expression =>
      expression.or([expression('last_used_at', 'is', null), expression('last_used_at', '<', lastUsedAt)]),
    )
    .execute()
}
