/** Payouts by the hundred thousand, made by one statement: as many take the service minutes. */
import { sql } from 'kysely'
import { whileUncounted } from '../src/events/counts.ts'
import type { Database, Tx } from '../src/storage/database.ts'

/** Of one affiliate, with methods `method0` to `method999`; they are in no ledger and in no log. */
export async function addPayouts(
  database: Database,
  { count, affiliateId, owner }: { count: number; affiliateId: number; owner: number },
): Promise<void> {
  const columns = sql.raw(
    'affiliate_id, referrals, amount, payout_method, payout_method_key, status, owner, created_at, updated_at',
  )
  const numbers =
    database.engine.name === 'SQLite'
      ? sql`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`
      : sql`WITH numbers AS (SELECT generate_series(1, ${count}::bigint) AS n)`
  const insertion =
    database.engine.name === 'SQLite'
      ? sql`INSERT INTO payouts (${columns}) ${numbers}`
      : sql`${numbers} INSERT INTO payouts (${columns})`
  const insert = async (tx: Tx) => {
    await sql`${insertion}
      SELECT ${sql.lit(affiliateId)}, '', n * 7919 % 1000003, 'method' || (n % 1000), 'method' || (n % 1000), 'paid',
        ${sql.lit(owner)}, 1700000000 + n, 1700000000 + n FROM numbers`.execute(tx)
    if (database.engine.name === 'PostgreSQL') await sql`ANALYZE payouts`.execute(tx)
  }
  await whileUncounted(database, () => database.transaction(insert))
}
