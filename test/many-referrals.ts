/** Payees by the hundred thousand, made by a few statements: as many take the service an hour. */
import { sql } from 'kysely'
import { features } from '../src/app.ts'
import { monthFrom } from '../src/base/time.ts'
import { whileUncounted } from '../src/events/counts.ts'
import { fillWithDemo } from '../src/operations/demo/demo.ts'
import type { Database } from '../src/storage/database.ts'

/** Fills an empty database with affiliates who have as many unpaid referrals each; they are in the ledger, and in no log. */
export async function addPayees(
  database: Database,
  { payees, each }: { payees: number; each: number },
): Promise<void> {
  await fillWithDemo(database, features, { affiliates: payees, payouts: 0 })
  const numbers =
    database.engine.name === 'SQLite'
      ? sql`(WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${sql.lit(each)}) SELECT n FROM numbers)`
      : sql`(SELECT generate_series(1, ${sql.lit(each)}) AS n)`
  const statements = [
    sql`INSERT INTO referrals (affiliate_id, visit_id, rest_id, customer_id, parent_id, description, description_key, status,
        amount, currency, custom, context, campaign, reference, reference_key, products, created_at, type, payout_id,
        run_item_id, reason, unique_reference, request_hash, updated_at)
      SELECT id, 0, '', 0, 0, 'Order', 'order', 'unpaid', 100 + (id * 7919 + n) % 20000, 'USD', '', 'shop', '',
        'o' || id || '-' || n, 'o' || id || '-' || n, '', 1700000000 + n, 'sale', 0, 0, '', 1, '', 1700000000 + n
      FROM affiliates CROSS JOIN ${numbers} AS numbers ORDER BY n, id`,
    sql`INSERT INTO ledger_transfers (affiliate_id, amount, debit, credit, reason, referral_id, at)
      SELECT affiliate_id, amount, 'commission', 'unpaid', 'referral.create', id, created_at FROM referrals
      WHERE context = 'shop' ORDER BY id`,
    sql`INSERT INTO balances (affiliate_id, account, amount)
      SELECT affiliate_id, 'unpaid', sum(amount) FROM referrals WHERE context = 'shop' GROUP BY affiliate_id
      UNION ALL SELECT affiliate_id, 'commission', -sum(amount) FROM referrals WHERE context = 'shop' GROUP BY affiliate_id
      ON CONFLICT (affiliate_id, account) DO UPDATE SET amount = balances.amount + excluded.amount`,
    sql`INSERT INTO sales_months (affiliate_id, month, sales, volume_parts, volume_rest)
      SELECT affiliate_id, ${sql.lit(monthFrom(1_700_000_000))}, count(*), 0, 0 FROM referrals WHERE context = 'shop'
      GROUP BY affiliate_id`,
    sql`UPDATE affiliates SET status = 'active', referrals = referrals + ${sql.lit(each)}, unpaid_earnings = (
      SELECT sum(amount) FROM balances WHERE affiliate_id = affiliates.id AND account = 'unpaid')`,
  ]
  await whileUncounted(database, async () => {
    for (const statement of statements) await database.transaction(tx => statement.execute(tx))
  })
  if (database.engine.name === 'PostgreSQL') await sql`VACUUM ANALYZE`.execute(database.reader)
}
