/** Queries for everything about one person, across the tables. */
import type { Selectable } from 'kysely'
import { sql } from 'kysely'
import type { Db, Tx } from '../../storage/database.ts'
import type { AffiliatesTable, PayoutsTable } from '../../storage/tables.ts'

export async function affiliateOf(db: Db, userId: number): Promise<Selectable<AffiliatesTable> | undefined> {
  return db.selectFrom('affiliates').selectAll().where('user_id', '=', userId).executeTakeFirst()
}

/** Every affiliate that the account has been, also those that are deleted. */
export async function affiliateIdsOf(db: Db, userId: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    SELECT id FROM affiliates WHERE user_id = ${userId}
    UNION SELECT record_id FROM audit_entries WHERE record_kind = 'affiliate' AND person_id = ${userId}
    ORDER BY 1`.execute(db)
  return rows.map(row => row.id)
}

/** The payouts made to these affiliates. */
export async function payoutsTo(
  db: Db,
  affiliateIds: readonly number[],
): Promise<Selectable<PayoutsTable>[]> {
  if (affiliateIds.length === 0) return []
  return db
    .selectFrom('payouts')
    .selectAll()
    .where('affiliate_id', 'in', affiliateIds)
    .orderBy('id')
    .execute()
}

export async function sessionsOf(
  db: Db,
  userId: number,
): Promise<{ created_at: number; expires_at: number }[]> {
  return db
    .selectFrom('sessions')
    .select(['created_at', 'expires_at'])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .execute()
}

/** Answers that are kept to be replayed and show a record of the account: its affiliate, as it was. */
export async function removeKeptAnswers(tx: Tx, userId: number): Promise<void> {
  await tx.deleteFrom('idempotency_keys').where('body', 'like', `%"user_id":${userId},%`).execute()
}
