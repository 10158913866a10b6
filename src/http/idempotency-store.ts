/** Queries on stored answers to requests with an Idempotency-Key. */
import { type Insertable, type Selectable, sql } from 'kysely'
import type { Tx } from '../storage/database.ts'
import type { IdempotencyKeysTable } from './idempotency-table.ts'

/** Length, in characters, from which an answer counts as long; long ones have an index. */
export const LONG_ANSWER = 4096

export type StoredAnswer = Selectable<IdempotencyKeysTable>

/**
 * Claims the key for this transaction. A concurrent transaction with the same key waits until this one ends.
 * @returns whether the key was free; otherwise its row is locked
 */
export async function claim(tx: Tx, row: Insertable<IdempotencyKeysTable>): Promise<boolean> {
  const inserted = await tx
    .insertInto('idempotency_keys')
    .values(row)
    // Unlike `doNothing`, this locks the row.
    .onConflict(conflict =>
      conflict.columns(['owner', 'key']).doUpdateSet({ owner: row.owner }).where(sql<boolean>`false`),
    )
    .returning('key')
    .executeTakeFirst()
  return inserted !== undefined
}

/** The stored answer of a key that is not free. @throws Error if there is none */
export async function findAnswer(tx: Tx, owner: string, key: string): Promise<StoredAnswer> {
  return tx
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('owner', '=', owner)
    .where('key', '=', key)
    .executeTakeFirstOrThrow()
}

/** Total length, in characters, of an owner's long answers. */
export async function longStored(tx: Tx, owner: string): Promise<number> {
  const length = sql<number>`length(body)`
  const { characters } = await tx
    .selectFrom('idempotency_keys')
    .select(sql<number>`coalesce(sum(${length}), 0)`.as('characters'))
    .where('owner', '=', owner)
    .where(sql<boolean>`${length} > ${sql.lit(LONG_ANSWER)}`)
    .executeTakeFirstOrThrow()
  return characters
}

/** Stores the answer of a key that the owner has claimed, or claims one that is locked anew. */
export async function storeAnswer(
  tx: Tx,
  owner: string,
  key: string,
  answer: Partial<StoredAnswer>,
): Promise<void> {
  await tx
    .updateTable('idempotency_keys')
    .set(answer)
    .where('owner', '=', owner)
    .where('key', '=', key)
    .execute()
}

/**
 * Sets the answers whose body contains one of these texts.
 * @param texts patterns of LIKE
 */
export async function replaceContaining(
  tx: Tx,
  texts: readonly string[],
  answer: Pick<StoredAnswer, 'status' | 'location' | 'body'>,
): Promise<void> {
  await tx
    .updateTable('idempotency_keys')
    .set(answer)
    .where(({ eb, or }) => or(texts.map(text => eb('body', 'like', `%${text}%`))))
    .execute()
}

/** Answers whose body does not begin like JSON, in order of owner and key. */
export async function packedAfter(
  tx: Tx,
  last: Pick<StoredAnswer, 'owner' | 'key'>,
  limit: number,
): Promise<StoredAnswer[]> {
  return tx
    .selectFrom('idempotency_keys')
    .selectAll()
    .where(sql<boolean>`(owner, key) > (${last.owner}, ${last.key})`)
    .where('body', '!=', '')
    .where('body', 'not like', '{%')
    .where('body', 'not like', '[%')
    .orderBy('owner')
    .orderBy('key')
    .limit(limit)
    .execute()
}

/** @returns the number of rows deleted, at most `limit` */
export async function removeExpired(tx: Tx, expiredBefore: number, limit: number): Promise<number> {
  const expired = tx
    .selectFrom('idempotency_keys')
    .select(['owner', 'key'])
    .where('created_at', '<', expiredBefore)
    .orderBy('created_at')
    .limit(limit)
    .forUpdate()
  const removed = await tx
    .with('expired', () => expired)
    .deleteFrom('idempotency_keys')
    .where(sql<boolean>`(owner, key) IN (SELECT owner, key FROM expired)`)
    .returning('key')
    .execute()
  return removed.length
}
