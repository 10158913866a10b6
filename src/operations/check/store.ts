/** Queries that look for what can't be, table by table. */
import { sql } from 'kysely'
import type { Database, Db } from '../../storage/database.ts'
import type { Tables } from '../../storage/tables.ts'

export async function damages({ engine, reader }: Database): Promise<string[]> {
  return engine.damages(reader)
}

/** Columns that refer to a row of another table. */
const references = [
  ['affiliates', 'user_id', 'users'],
  ['api_keys', 'user_id', 'users'],
  ['sessions', 'user_id', 'users'],
  ['devices', 'user_id', 'users'],
  ['payouts', 'owner', 'users'],
  ['payout_referrals', 'payout_id', 'payouts'],
] as const

/** Of each reference, how many rows refer to one that is not there. */
export async function orphans(db: Db): Promise<{ column: string; count: number }[]> {
  const found: { column: string; count: number }[] = []
  for (const [table, column, parent] of references) {
    const { rows } = await sql<{ count: number }>`
      SELECT count(*) AS count FROM ${sql.table(table)} WHERE NOT EXISTS
        (SELECT 1 FROM ${sql.table(parent)} WHERE ${sql.ref(`${parent}.id`)} = ${sql.ref(`${table}.${column}`)})`.execute(
      db,
    )
    if (rows[0]!.count > 0) found.push({ column: `${table}.${column}`, count: rows[0]!.count })
  }
  return found
}

/** The next rows by identifier. */
export async function rowsAfter<T extends 'users' | 'affiliates' | 'payouts'>(
  db: Db,
  table: T,
  after: number,
  limit: number,
): Promise<({ id: number } & Pick<Tables[T], Exclude<keyof Tables[T], 'id'>>)[]> {
  const { rows } = await sql`
    SELECT * FROM ${sql.table(table)} WHERE id > ${after} ORDER BY id LIMIT ${limit}`.execute(db)
  return rows as never
}

/** The referrals of the payouts from one identifier to another, in order. */
export async function referralsOf(
  db: Db,
  first: number,
  last: number,
): Promise<{ payout_id: number; referral_id: number }[]> {
  return db
    .selectFrom('payout_referrals')
    .selectAll()
    .where('payout_id', '>=', first)
    .where('payout_id', '<=', last)
    .orderBy('payout_id')
    .orderBy('referral_id')
    .execute()
}
