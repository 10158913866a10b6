/** Every query on the keys of click tokens. */
import type { Selectable } from 'kysely'
import type { Db, Tx } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import type { Tables } from '../../storage/tables.ts'

export type KeyRow = Selectable<Tables['click_keys']>

const allKeys = prepared((db: Db) =>
  db.selectFrom('click_keys').selectAll().orderBy('created_at', 'desc').orderBy('id'),
)

/** The newest first. */
export const keys = (db: Db): Promise<KeyRow[]> => allKeys(db, {})

export async function insertKey(tx: Tx, key: KeyRow): Promise<void> {
  await tx.insertInto('click_keys').values(key).execute()
}

export async function removeKeys(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx.deleteFrom('click_keys').where('id', 'in', ids).execute()
}
